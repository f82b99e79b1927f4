import { fixture, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { openCrashFixture } from '../../test/crash-fixture.js';
import type { Message } from './messages.schemas.js';

const system = fixture(() => openCrashFixture('posting'));

interface Sender {
  ann: Person;
  channelId: string;
}

it('a message whose process dies is stored or not, leaves no gap, and is stored once when sent again', async () => {
  const bodyOf = ({ ann, channelId }: Sender) => ({ channelId, senderId: ann.id, content: 'Hello', clientId: 'mine' });
  const writes = await system.dieAfterEachWrite<Sender>({
    async prepare() {
      const ann = await system.home.signUp();
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
