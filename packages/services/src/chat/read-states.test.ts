import { FACES, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { listenTo, openChannel, say } from '../../test/chat-world.js';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

describe.each(FACES)('a read state over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);

  it('moves forward over one’s own and others’ messages, never back, and readers are told', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const messages = [await say(ann, channelId), await say(bob, channelId), await say(ann, channelId)];
    const events = listenTo(app, channelId);
    const mark = (n: number) => call(bob, 'markRead', { channelId, identityId: bob.id, lastReadMessageId: messages[n]?.id });
    const state = (fields: object) => ({ ok: true, value: { channelId, identityId: bob.id, lastSeq: 3, ...fields } });
    const unread = { readSeq: 0, unread: 3, lastReadMessageId: null, readAt: null };
    expect(await call(bob, 'readState', { channelId })).toEqual(state(unread));
    expect(await mark(1)).toEqual({ ok: true });
    const read = await call(bob, 'readState', { channelId });
    const readAt = expect.any(String) as string;
    expect(read).toEqual(state({ readSeq: 2, unread: 1, lastReadMessageId: messages[1]?.id, readAt }));
    for (const n of [0, 1]) {
      expect(await mark(n)).toEqual({ ok: true });
      expect(await call(bob, 'readState', { channelId })).toEqual(read);
    }
    expect(await mark(2)).toEqual({ ok: true });
    expect(await call(bob, 'readState', { channelId })).toMatchObject(state({ readSeq: 3, unread: 0 }));
    expect(events).toEqual(
      [1, 2].map((n) => ({ type: 'read', channelId, identityId: bob.id, messageId: messages[n]?.id, seq: n + 1 })),
    );
    expect(await app.tandem.services.chat.membershipOf(ann.id, channelId)).toMatchObject({ lastSeq: 3, readSeq: 0, unread: 3 });
  });

  it('reaches the end of a channel whose last messages are deleted', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const [first, second, third] = [await say(ann, channelId), await say(ann, channelId), await say(ann, channelId)];
    const mark = ({ id }: { id: string }) => call(bob, 'markRead', { channelId, identityId: bob.id, lastReadMessageId: id });
    const unread = async () => ((await call(bob, 'readState', { channelId })) as { value: { unread: number } }).value.unread;
    for (const { id } of [second, third]) await ann.rest('DELETE', `/messages/${id}`).expect(204);
    expect(await mark(third)).toMatchObject({ ok: false, status: 404 });
    expect(await unread()).toBe(3);
    expect(await mark(first)).toEqual({ ok: true });
    expect(await unread()).toBe(0);
    await say(ann, channelId);
    expect(await unread()).toBe(1);
  });

  it('shows its reader on request, and the selected fields alone', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: profileId } = await bob
      .rest('POST', '/profiles', { identityId: bob.id, name: 'Bob' })
      .expect<{ id: string }>(201);
    const ask = async (query: object) => (await call(bob, 'readState', { channelId, ...query })) as { value: object };
    const reader = { id: bob.id, name: 'Bob', avatarUrl: null, profileId };
    expect(await ask({ $expand: 'reader' })).toEqual({ ok: true, value: { ...(await ask({})).value, reader } });
    expect(await ask({ $expand: 'reader', $select: 'unread' })).toEqual({ ok: true, value: { unread: 0, reader } });
    await bob.rest('DELETE', `/profiles/${profileId}`).expect(204);
  });

  it('is set by a message of its channel only', async () => {
    const [here, there] = [await openChannel(ann), await openChannel(ann)];
    const elsewhere = await say(ann, there.id);
    for (const lastReadMessageId of [elsewhere.id, NO_ID]) {
      const input = { channelId: here.id, identityId: ann.id, lastReadMessageId };
      const missing = { ok: false, status: 404, message: 'The last read message not found' };
      expect(await call(ann, 'markRead', input)).toEqual(missing);
    }
  });

  it('is visible to its owner only, not to strangers, and not for a missing channel', async () => {
    const { id: channelId } = await openChannel(ann);
    const { id: lastReadMessageId } = await say(ann, channelId);
    const mark = (person: Person, input: object) =>
      call(person, 'markRead', { channelId, identityId: person.id, lastReadMessageId, ...input });
    const refused = (message: string, status = 403) => ({ ok: false, status, message });
    expect(await mark(ann, { identityId: bob.id })).toEqual(refused('Identity ID does not match'));
    expect(await mark(bob, {})).toEqual(refused('Identity is not subscribed to the channel'));
    expect(await call(bob, 'readState', { channelId })).toEqual(refused('Identity is not subscribed to the channel'));
    expect(await mark(bob, { channelId: NO_ID })).toEqual(refused('Channel does not exist', 404));
    expect(await call(ann, 'readState', { channelId: NO_ID })).toEqual(refused('Channel does not exist', 404));
  });
});
