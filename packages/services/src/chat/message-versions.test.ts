import { FACES, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { listenTo, openChannel, say, valueOf } from '../../test/chat-world.js';
import { messageModel } from './message.model.js';

interface Version {
  content: string;
  title: string | null;
  at: string;
}

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ mongodbUri: app.mongodbUri, clock: app.clock }));
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());
const admin = fixture(() => app.signUpAdmin());

describe.each(FACES)('over %s, the versions of a message', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);
  const versionsOf = async (messageId: string, query: object = {}) =>
    (valueOf(await call(bob, 'listMessageVersions', { messageId, limit: 50, ...query })) as { data: Version[] }).data;

  it('are the texts before the present one, oldest first, each with the time since which it stood', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const first = await say(ann, channelId, 'one', { title: 'One' });
    const { id: messageId } = first;
    expect(await versionsOf(messageId)).toEqual([]);
    const edit = async (fields: object) => {
      app.clock.advance(1000);
      return valueOf(await call(ann, 'patchMessage', { messageId, ...fields })) as { updatedAt: string };
    };
    const events = listenTo(app, channelId);
    const second = await edit({ content: 'two' });
    const third = await edit({ title: null });
    await edit({ content: 'two', title: null });
    await edit({ metadata: { seen: true } });
    const before = [
      { content: 'one', title: 'One', at: first.createdAt },
      { content: 'two', title: 'One', at: second.updatedAt },
    ];
    expect(await versionsOf(messageId)).toEqual(before);
    await edit({ content: 'three' });
    const all = [...before, { content: 'two', title: null, at: third.updatedAt }];
    expect(await versionsOf(messageId)).toEqual(all);
    expect(await versionsOf(messageId, { $filter: `at gt ${first.createdAt}`, $orderby: 'at desc' })).toEqual([all[2], all[1]]);
    const shown = await call(ann, 'getMessage', { messageId });
    expect(JSON.stringify([shown, await call(ann, 'listMessages', { channelId }), events])).not.toMatch(/versions|textAt|"one"/);
  });

  it('are read by members alone, and not found with a deleted message, until it is restored', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: messageId } = await say(ann, channelId, 'one');
    valueOf(await call(ann, 'patchMessage', { messageId, content: 'two' }));
    for (const id of [messageId, NO_ID]) expect(await call(admin, 'listMessageVersions', { messageId: id })).toEqual({ ok: false, status: 403, message: 'Identity is not subscribed to the channel' }); // prettier-ignore
    valueOf(await call(ann, 'deleteMessage', { messageId }));
    const missing = { ok: false, status: 404, message: 'Chat message not found' };
    expect(await call(bob, 'listMessageVersions', { messageId })).toEqual(missing);
    valueOf(await call(admin, 'restoreMessage', { messageId }));
    expect(await versionsOf(messageId)).toMatchObject([{ content: 'one' }]);
  });
});

it('edits at once on two instances lose no text, and no more than the last 50 are kept, each with a time of its own', async () => {
  const { id: channelId } = await openChannel(ann);
  const { id: messageId } = await say(ann, channelId, '0');
  const edit = async (n: number) =>
    valueOf(await (n % 2 ? app : other).call('rest', 'chat.patchMessage', { messageId, content: `${n}` }, ann.credentials));
  const list = async () =>
    (await ann.rest('GET', `/messages/${messageId}/versions?limit=50`).expect<{ data: Version[] }>(200)).data;
  for (const batch of [0, 1]) await Promise.all(Array.from({ length: 20 }, (_, n) => edit(batch * 20 + n + 1)));
  const versions = await list();
  const { content } = await ann.rest('GET', `/messages/${messageId}`).expect<{ content: string }>(200);
  expect(new Set([...versions.map((one) => one.content), content]).size).toBe(41);
  expect(versions[0]?.content).toBe('0');
  for (let n = 41; n <= 55; n++) await edit(n);
  const kept = await list();
  expect(kept).toHaveLength(50);
  expect(kept.slice(-14).map((one) => one.content)).toEqual(Array.from({ length: 14 }, (_, n) => `${n + 41}`));
  const times = kept.map(({ at }) => at);
  expect(times).toEqual([...new Set(times)].toSorted());
});

it('the versions are read with no message that is not asked for its own', async () => {
  const { id: channelId } = await openChannel(ann);
  const { id: _id } = await say(ann, channelId, 'one');
  await ann.rest('PATCH', `/messages/${_id}`, { content: 'two' }).expect(200);
  const Messages = app.storage.model(messageModel);
  const read = await Messages.findById(_id).lean();
  const changed = await Messages.findByIdAndUpdate(_id, { $set: { title: 'T' } }, { returnDocument: 'after' }).lean();
  for (const record of [read, changed]) expect(record).not.toHaveProperty('versions');
});
