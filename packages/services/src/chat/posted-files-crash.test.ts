import { fixture, makeFolder, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { openCrashFixture } from '../../test/crash-fixture.js';
import { upload } from '../../test/uploads.js';
import type { GivenFile } from '../files/files.schemas.js';
import type { Message } from './messages.schemas.js';

const folder = fixture(makeFolder);
const system = fixture(() => openCrashFixture('posted_files', { DATA_DIR: folder.path }));

interface Sender {
  ann: Person;
  channelId: string;
  files: GivenFile[];
}

it('a message with files whose process dies is stored with all of them, once, when it is sent again', async () => {
  const bodyOf = ({ ann, channelId, files }: Sender) => ({
    channelId,
    senderId: ann.id,
    content: 'Hello',
    clientId: 'mine',
    attachments: files,
  });
  const writes = await system.dieAfterEachWrite<Sender>({
    async prepare() {
      const ann = await system.home.signUp();
      const { id: channelId } = await openChannel(ann);
      const file = (body: string) => upload(ann, `/channels/${channelId}/attachment-upload-url`, 'text/plain', body);
      return { ann, channelId, files: [await file('one'), await file('two')] };
    },
    request: (server, sender) => server.rest('POST', '/messages', bodyOf(sender), sender.ann.credentials),
    async check(server, sender) {
      const { credentials } = sender.ann;
      const again = await server.rest('POST', '/messages', bodyOf(sender), credentials).expect<Message>(201);
      expect(again).toMatchObject({ seq: 1, attachments: [{ type: 'text/plain' }, { type: 'text/plain' }] });
      const path = `/messages?channelId=${sender.channelId}`;
      const { data } = await server.rest('GET', path, undefined, credentials).expect<{ data: Message[] }>(200);
      expect(data.map(({ id, attachments }) => [id, attachments.length])).toEqual([[again.id, 2]]);
    },
  });
  expect(writes.at(-1)).toBe('messages.insert');
}, 120_000);
