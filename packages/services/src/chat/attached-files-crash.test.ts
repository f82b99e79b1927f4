import { fixture, makeFolder, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel, say } from '../../test/chat-world.js';
import { openCrashFixture } from '../../test/crash-fixture.js';
import { openLaterInstance } from '../../test/later-instance.js';
import { upload } from '../../test/uploads.js';
import type { GivenFile, ShownFile } from '../files/files.schemas.js';
import type { Message } from './messages.schemas.js';

const folder = fixture(makeFolder);
const system = fixture(() => openCrashFixture('attached_files', { DATA_DIR: folder.path }));
const later = fixture(() => openLaterInstance(system.home.mongodbUri));

interface Somebody {
  ann: Person;
  messageId: string;
  file: GivenFile;
  kept: ShownFile;
  lastChange: number;
}
const lastChangeOf = async ({ ann, channelId }: { ann: Person; channelId: string }) =>
  (await ann.rest('GET', `/channels/${channelId}`).expect<{ lastChange: number }>(200)).lastChange;

it('no file of a message comes or goes without a change of its channel, whenever a process dies', async () => {
  async function prepare(): Promise<Somebody> {
    const ann = await system.home.signUp();
    const { id: channelId } = await openChannel(ann);
    const { id: messageId } = await say(ann, channelId);
    const route = `/messages/${messageId}/attachment-upload-url`;
    const [file, other] = [await upload(ann, route, 'text/plain', 'one'), await upload(ann, route, 'text/plain', 'two')];
    const kept = await ann.rest('POST', `/messages/${messageId}/attachments`, other).expect<ShownFile>(201);
    return { ann, messageId, file, kept, lastChange: await lastChangeOf({ ann, channelId }) };
  }
  const left = await system.leaveAfterEachWrite<Somebody>(
    [
      {
        prepare,
        request: (server, { ann, messageId, file }) =>
          server.rest('POST', `/messages/${messageId}/attachments`, file, ann.credentials),
      },
      {
        prepare,
        request: (server, { ann, messageId, kept }) =>
          server.rest('DELETE', `/messages/${messageId}/attachments/${kept.id}`, undefined, ann.credentials),
      },
    ],
    1,
  );
  await later.sweep();
  for (const [at, cuts] of left.entries()) {
    const changed = [];
    for (const { somebody, passed } of cuts) {
      const { ann, messageId, kept, lastChange } = somebody;
      const { attachments, channelId } = await ann.rest('GET', `/messages/${messageId}`).expect<Message>(200);
      const isChanged = attachments.length !== 1 || attachments[0]?.id !== kept.id;
      const expected = lastChange + (isChanged ? 1 : 0);
      await expect.poll(() => lastChangeOf({ ann, channelId }), { message: passed.join() }).toBeGreaterThanOrEqual(expected);
      changed.push(isChanged);
    }
    // some were cut before the file, some after it
    expect([at, new Set(changed).size]).toEqual([at, 2]);
  }
}, 240_000);
