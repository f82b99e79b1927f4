import { FACES, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { listenTo, openChannel, say, valueOf } from '../../test/chat-world.js';
import { upload } from '../../test/uploads.js';
import type { ShownFile } from '../files/files.schemas.js';
import type { Message } from './messages.schemas.js';

const TYPE = 'text/plain';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

const uploadAttachment = (person: Person, messageId: string) =>
  upload(person, `/messages/${messageId}/attachment-upload-url`, TYPE, 'text');

describe.each(FACES)('a message over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);
  const missing = (message: string) => ({ ok: false, status: 404, message });

  it('is stored under the next number of its channel, and told to its readers', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const events = listenTo(app, channelId);
    const post = (content: string, more: object = {}) =>
      call(bob, 'createMessage', { channelId, senderId: bob.id, content, ...more });
    const one = valueOf(await post('one')) as Message;
    expect(one).toMatchObject({
      channelId,
      seq: 1,
      senderId: bob.id,
      content: 'one',
      title: null,
      clientId: null,
      attachments: [],
    });
    const two = valueOf(await post('two', { title: 'Two', clientId: 'x' })) as Message;
    expect(two).toMatchObject({ seq: 2, title: 'Two', clientId: 'x' });
    expect(events).toEqual([one, two].map((message) => ({ type: 'message.created', channelId, message })));
    for (const procedure of ['listMessages', 'listMessagesOfChannel'])
      expect(await call(ann, procedure, { channelId })).toMatchObject({ value: { data: [two, one] } });
    expect(await call(ann, 'listMessages', { channelId, title: 'Two' })).toMatchObject({ value: { data: [two] } });
    expect(await call(ann, 'listMessages', { channelId, senderId: ann.id })).toMatchObject({ value: { data: [] } });
    const above = { channelId, $filter: 'seq gt 1', $orderby: 'seq', $top: 5 };
    expect(await call(ann, 'listMessagesOfChannel', above)).toMatchObject({ value: { total: 1, value: [two] } });
    expect(await call(ann, 'getMessage', { messageId: one.id })).toEqual({ ok: true, value: one });
  });

  it('with a stored `clientId` of the same sender and channel returns the stored message', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const post = (person: Person, content: string, to = channelId) =>
      call(person, 'createMessage', { channelId: to, senderId: person.id, content, clientId: 'mine' });
    const first = await post(ann, 'one');
    expect(await post(ann, 'again')).toEqual(first);
    expect(await post(bob, 'two')).toMatchObject({ value: { seq: 2, content: 'two' } });
    expect(await post(ann, 'three', (await openChannel(ann)).id)).toMatchObject({ value: { seq: 1, content: 'three' } });
    expect(await post(ann, 'once more')).toEqual(first);
    expect(await say(ann, channelId, 'next')).toMatchObject({ seq: 3 });
  });

  it('has a content of 1 to 10,000 characters, a title of 200 at most, and nothing else', async () => {
    const { id: channelId } = await openChannel(ann);
    const bad = { channelId, senderId: ann.id, content: '', title: 'x'.repeat(201), clientId: '', seq: 1 };
    expect(await call(ann, 'createMessage', bad)).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: [
        'request body/content must NOT have fewer than 1 characters',
        'request body/title must NOT have more than 200 characters',
        'request body/clientId must NOT have fewer than 1 characters',
        "request body must NOT have additional properties: 'seq'",
      ],
    });
    const long = { channelId, senderId: ann.id, content: 'x'.repeat(10_000), title: null };
    expect(await call(ann, 'createMessage', long)).toMatchObject({ ok: true });
    expect(await call(ann, 'createMessage', { ...long, content: 'x'.repeat(10_001) })).toMatchObject({ status: 400 });
  });

  it('is changed by its sender only, in the given fields, and never changes its sender', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: messageId } = await say(bob, channelId, 'one', { title: 'One' });
    const events = listenTo(app, channelId);
    app.clock.advance(1000);
    const message = valueOf(await call(bob, 'patchMessage', { messageId, content: 'uno' })) as Message;
    expect(message).toMatchObject({ content: 'uno', title: 'One', seq: 1 });
    expect(message.updatedAt > message.createdAt).toBe(true);
    expect(events).toEqual([{ type: 'message.updated', channelId, message }]);
    expect(await call(bob, 'patchMessage', { messageId, title: null })).toMatchObject({ value: { title: null } });
    const nothing = { ok: false, status: 400, message: 'Failed to update chat message' };
    expect(await call(bob, 'patchMessage', { messageId })).toEqual(nothing);
    expect(await call(bob, 'patchMessage', { messageId, senderId: ann.id })).toMatchObject({ status: 400 });
  });

  it('is deleted without reusing its number, and restored', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const message = await say(bob, channelId, 'one');
    const messageId = message.id;
    const events = listenTo(app, channelId);
    expect(await call(bob, 'deleteMessage', { messageId })).toEqual({ ok: true });
    expect(await call(admin, 'deleteMessage', { messageId })).toEqual(missing('Chat message not found'));
    expect(await call(admin, 'getMessage', { messageId })).toEqual(missing('Chat message not found.'));
    expect(await call(ann, 'listMessages', { channelId })).toMatchObject({ value: { data: [] } });
    const two = await say(bob, channelId, 'two');
    expect(two.seq).toBe(2);
    const restored = await call(admin, 'restoreMessage', { messageId });
    expect(restored).toMatchObject({ value: { id: messageId, seq: 1 } });
    expect(await call(admin, 'restoreMessage', { messageId })).toEqual(missing('Chat message not found'));
    expect(events).toEqual([
      { type: 'message.deleted', channelId, messageId, seq: 1 },
      { type: 'message.created', channelId, message: two },
      { type: 'message.updated', channelId, message: valueOf(restored) },
    ]);
    expect(await call(bob, 'deleteMessage', { messageId })).toEqual({ ok: true });
    await ann.rest('DELETE', `/channels/${channelId}`).expect(204);
    expect(await call(admin, 'restoreMessage', { messageId })).toEqual(missing('Channel not found'));
  });

  it('has attachments: uploaded, added one by one, shown wherever it is, and removed', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: messageId } = await say(bob, channelId);
    const events = listenTo(app, channelId);
    const file = await uploadAttachment(bob, messageId);
    const attachment = valueOf(await call(bob, 'addAttachment', { messageId, ...file })) as ShownFile;
    expect(attachment).toMatchObject({ type: TYPE });
    expect(await (await fetch(attachment.url)).text()).toBe('text');
    expect(await call(bob, 'addAttachment', { messageId, ...file })).toMatchObject({ status: 409 });
    const shown = await call(ann, 'getMessage', { messageId });
    expect(shown).toMatchObject({ value: { attachments: [attachment] } });
    const message = valueOf(shown) as Message;
    for (const procedure of ['listMessages', 'listMessagesOfChannel'])
      expect(await call(ann, procedure, { channelId })).toMatchObject({ value: { data: [message] } });
    expect(await app.tandem.services.chat.messagesSince(channelId, 0, 10)).toMatchObject({ posts: [{ message }] });
    expect(await call(ann, 'listChannels', { memberId: ann.id, limit: 1 })).toMatchObject({
      value: { data: [{ lastMessage: message }] },
    });
    const attachmentId = attachment.id;
    expect(await call(bob, 'removeAttachment', { messageId, attachmentId })).toEqual({ ok: true });
    expect(await call(bob, 'removeAttachment', { messageId, attachmentId })).toEqual(
      missing('Chat message attachment not found.'),
    );
    expect(await call(admin, 'removeAttachment', { messageId: NO_ID, attachmentId })).toEqual(missing('Chat message not found.'));
    expect(await call(ann, 'getMessage', { messageId })).toMatchObject({ value: { attachments: [] } });
    expect(events).toEqual([
      { type: 'attachment.created', channelId, messageId, attachment },
      { type: 'attachment.deleted', channelId, messageId, attachmentId },
    ]);
    const archive = { messageId, contentType: 'application/zip', contentLength: 4 };
    expect(await call(bob, 'attachmentUploadUrl', archive)).toMatchObject({ status: 400 });
  });
});
