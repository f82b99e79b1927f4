import { FACES, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { listenTo, openChannel, say, subscribe, valueOf } from '../../test/chat-world.js';
import { upload } from '../../test/uploads.js';
import type { ListedChannel } from './channel-list.js';
import type { Channel } from './channels.schemas.js';
import type { Message } from './messages.schemas.js';
import type { Subscription } from './subscriptions.schemas.js';

const TYPE = 'image/png';
const NOT_FOUND = { ok: false, status: 404, message: 'Channel not found' };

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

const uploadIcon = (person: Person, channelId: string) =>
  upload(person, `/channels/${channelId}/icon-upload-url`, TYPE, 'picture');

describe.each(FACES)('a channel over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);

  it('is created closed and without an icon by default, with its owner as first member', async () => {
    const made = valueOf(await call(ann, 'createChannel', { name: ' Tea ', ownerId: ann.id })) as Channel;
    expect(made).toMatchObject({ name: 'Tea', ownerId: ann.id, open: false, icon: null });
    expect(await call(ann, 'getChannel', { channelId: made.id })).toMatchObject({ ok: true, value: made });
    const { data } = valueOf(await call(ann, 'listSubscriptions', { channelId: made.id })) as { data: Subscription[] };
    expect(data).toMatchObject([{ channelId: made.id, subscribedId: ann.id, readSeq: 0 }]);
  });

  it('can be created by an admin for another existing identity', async () => {
    const made = valueOf(await call(admin, 'createChannel', { name: 'Tea', ownerId: bob.id, open: true })) as Channel;
    expect(made).toMatchObject({ ownerId: bob.id, open: true });
    expect(await call(bob, 'listMessagesOfChannel', { channelId: made.id })).toMatchObject({ ok: true });
    expect(await call(admin, 'listMessagesOfChannel', { channelId: made.id })).toMatchObject({ status: 403 });
    const missing = await call(admin, 'createChannel', { name: 'Tea', ownerId: NO_ID });
    expect(missing).toEqual({ ok: false, status: 404, message: 'Identity not found' });
    expect((valueOf(await call(admin, 'listChannels', { ownerId: NO_ID })) as { data: object[] }).data).toEqual([]);
  });

  it('is changed in the given fields only, and its readers are told', async () => {
    const { id: channelId } = await openChannel(ann);
    const events = listenTo(app, channelId);
    const outcome = await call(ann, 'patchChannel', { channelId, open: true });
    const channel = valueOf(outcome) as Channel;
    expect(channel).toMatchObject({ name: 'Tea', open: true });
    expect(events).toEqual([{ type: 'channel.updated', channelId, channel }]);
    const nothing = { ok: false, status: 400, message: 'Failed to update channel' };
    expect(await call(ann, 'patchChannel', { channelId })).toEqual(nothing);
    expect(await call(ann, 'patchChannel', { channelId, ownerId: bob.id })).toMatchObject({ status: 400 });
    expect(await call(admin, 'patchChannel', { channelId: NO_ID, name: 'x' })).toEqual(NOT_FOUND);
    expect(await call(ann, 'getChannel', { channelId })).toMatchObject(outcome);
  });

  it('has an icon, given with it or later, shown wherever it is, replaced and cleared', async () => {
    const { id: first } = await openChannel(ann);
    const made = await openChannel(ann, [], { icon: await uploadIcon(ann, first) });
    expect(made.icon).toMatchObject({ type: TYPE });
    expect(await (await fetch(made.icon?.url ?? '')).text()).toBe('picture');
    const channelId = made.id;
    expect(await call(ann, 'listChannels', { memberId: ann.id, limit: 1 })).toMatchObject({
      value: { data: [{ icon: made.icon }] },
    });
    expect(await call(ann, 'listChannels', { ownerId: ann.id, limit: 1 })).toMatchObject({ value: { data: [made] } });
    const changed = valueOf(await call(ann, 'patchChannel', { channelId, icon: await uploadIcon(ann, channelId) })) as Channel;
    expect(changed.icon?.id).not.toBe(made.icon?.id);
    expect(await call(ann, 'patchChannel', { channelId, icon: null })).toMatchObject({ value: { icon: null } });
    const foreign = { channelId, icon: await uploadIcon(ann, channelId) };
    expect(await call(admin, 'patchChannel', foreign)).toEqual({ ok: false, status: 404, message: 'File not found' });
    const ofNone = { channelId: NO_ID, contentType: TYPE, contentLength: 1 };
    expect(await call(admin, 'channelIconUploadUrl', ofNone)).toEqual(NOT_FOUND);
  });

  it('is deleted and restored with its members and messages; members who left stay away', async () => {
    const cid = await app.signUp();
    const { id: channelId } = await openChannel(ann, [bob]);
    const left = await subscribe(ann, channelId, cid.id);
    const message = await say(bob, channelId);
    expect(await call(cid, 'deleteSubscription', { subscriptionId: left.id })).toEqual({ ok: true });
    const events = listenTo(app, channelId);
    expect(await call(ann, 'deleteChannel', { channelId })).toEqual({ ok: true });
    expect(events).toEqual([{ type: 'channel.deleted', channelId }]);

    const post = () => call(bob, 'createMessage', { channelId, senderId: bob.id, content: 'Anybody?' });
    const notSubscribed = { ok: false, status: 403, message: 'Identity is not subscribed to the channel' };
    expect(await post()).toEqual(notSubscribed);
    expect(await call(bob, 'listMessages', { channelId })).toEqual(notSubscribed);
    expect(await call(bob, 'listMessagesOfChannel', { channelId })).toEqual({ ok: false, status: 404, message: 'Channel does not exist' }); // prettier-ignore
    expect(await call(bob, 'getMessage', { messageId: message.id })).toMatchObject({ status: 403 });
    expect(await call(admin, 'getMessage', { messageId: message.id })).toEqual({ ok: false, status: 404, message: 'Chat message not found.' }); // prettier-ignore
    expect(await call(bob, 'patchMessage', { messageId: message.id, content: 'x' })).toMatchObject({ status: 403 });
    expect(await call(admin, 'getChannel', { channelId })).toEqual(NOT_FOUND);
    expect(await call(admin, 'deleteChannel', { channelId })).toEqual(NOT_FOUND);
    expect(await call(admin, 'listSubscriptions', { channelId })).toMatchObject({ value: { data: [] } });
    const join = { channelId, subscribedId: cid.id };
    expect(await call(admin, 'createSubscription', join)).toEqual(NOT_FOUND);

    expect(await call(admin, 'restoreChannel', { channelId })).toMatchObject({ value: { id: channelId, name: 'Tea' } });
    expect(await call(admin, 'restoreChannel', { channelId })).toEqual(NOT_FOUND);
    const { data } = valueOf(await call(ann, 'listSubscriptions', { channelId })) as { data: Subscription[] };
    expect(data.map(({ subscribedId }) => subscribedId)).toEqual([bob.id, ann.id]);
    expect(await call(bob, 'getMessage', { messageId: message.id })).toEqual({ ok: true, value: message });
    expect(await post()).toMatchObject({ value: { seq: 2 } });
  });

  it('keeps its messages as they are while it is deleted: admins and senders do not find them', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: messageId } = await say(bob, channelId);
    const file = await upload(bob, `/messages/${messageId}/attachment-upload-url`, TYPE, 'picture');
    const { id: attachmentId } = await bob.rest('POST', `/messages/${messageId}/attachments`, file).expect<{ id: string }>(201);
    const message = await call(bob, 'getMessage', { messageId });
    expect(await call(ann, 'deleteChannel', { channelId })).toEqual({ ok: true });
    const notFound = { ok: false, status: 404, message: 'Chat message not found' };
    for (const procedure of ['deleteMessage', 'pinMessage', 'unpinMessage'])
      expect(await call(admin, procedure, { messageId }), procedure).toEqual(notFound);
    expect(await call(bob, 'deleteMessage', { messageId })).toEqual(notFound);
    for (const who of [admin, bob]) {
      const removed = await call(who, 'removeAttachment', { messageId, attachmentId });
      expect(removed).toEqual({ ...notFound, message: 'Chat message not found.' });
    }
    expect(await call(admin, 'restoreChannel', { channelId })).toMatchObject({ ok: true });
    expect(await call(bob, 'getMessage', { messageId })).toEqual(message);
    expect(await call(bob, 'listPins', { channelId })).toMatchObject({ value: { data: [] } });
  });

  it('is listed for a member with its read position and the last live message', async () => {
    const cid = await app.signUp();
    const quiet = await openChannel(ann, [cid]);
    const busy = await openChannel(ann, [cid], { name: 'Busy' });
    await openChannel(ann, [bob]);
    for (const content of ['one', 'two', 'three']) await say(ann, busy.id, content);
    const four = await say(cid, busy.id, 'four');
    const five = await say(ann, busy.id, 'five');
    const twos = valueOf(await call(ann, 'listMessages', { channelId: busy.id, content: 'two' })) as { data: Message[] };
    const [two] = twos.data;
    expect(await call(cid, 'markRead', { channelId: busy.id, identityId: cid.id, lastReadMessageId: two?.id })).toEqual({
      ok: true,
    });
    expect(await call(ann, 'deleteMessage', { messageId: five.id })).toEqual({ ok: true });

    const listed = await call(cid, 'listChannels', { memberId: cid.id });
    const expected: Partial<ListedChannel>[] = [
      { ...busy, lastSeq: 5, readSeq: 2, unread: 3, lastMessage: four },
      { ...quiet, lastSeq: 0, readSeq: 0, unread: 0, lastMessage: null },
    ];
    expect(listed).toMatchObject({ value: { data: expected, metadata: { pagination: { total: 2 } } } });
    expect(await call(cid, 'listChannels', { memberId: cid.id, name: 'Busy' })).toMatchObject({ value: { data: [expected[0]] } });
    const byFilter = { memberId: cid.id, $filter: "name eq 'Tea'", $top: 5 };
    expect(await call(cid, 'listChannels', byFilter)).toMatchObject({ value: { total: 1, value: [expected[1]] } });
    const owned = await call(cid, 'listChannels', { ownerId: cid.id });
    expect(owned).toMatchObject({ value: { data: [] } });
    expect(await call(ann, 'listChannels', { ownerId: ann.id, name: 'Busy', limit: 1 })).toMatchObject({
      value: { data: [busy] },
    });
  });
});
