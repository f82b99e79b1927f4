import type { Person } from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { openCrashFixture, type CrashFixture } from '../../test/crash-fixture.js';
import type { Message } from './messages.schemas.js';

let fixture: CrashFixture;
beforeAll(async () => {
  fixture = await openCrashFixture('posting');
}, 60_000);
afterAll(() => fixture.close());

interface Sender {
  ann: Person;
  channelId: string;
}

it('a message whose process dies is stored or not, leaves no gap, and is stored once when sent again', async () => {
  const bodyOf = ({ ann, channelId }: Sender) => ({ channelId, senderId: ann.id, content: 'Hello', clientId: 'mine' });
  const writes = await fixture.dieAfterEachWrite<Sender>({
    async prepare() {
      const ann = await fixture.home.signUp();
      return { ann, channelId: (await openChannel(ann)).id };
    },
    request: (server, sender) => server.rest('POST', '/messages', bodyOf(sender), sender.ann.credentials),
    async check(server, sender, answer) {
      const { credentials } = sender.ann;
      const again = await server.rest('POST', '/messages', bodyOf(sender), credentials).expect<Message>(201);
      if (answer) expect(again).toEqual(answer.body);
      const next = { ...bodyOf(sender), clientId: 'next' };
      await server.rest('POST', '/messages', next, credentials).expect(201);
      const path = `/messages?channelId=${sender.channelId}`;
      const { data } = await server.rest('GET', path, undefined, credentials).expect<{ data: Message[] }>(200);
      expect(data.map(({ seq, clientId }) => [seq, clientId])).toEqual([
        [2, 'next'],
        [1, 'mine'],
      ]);
    },
  });
  expect(writes).toEqual(['messages.insert']);
}, 60_000);
