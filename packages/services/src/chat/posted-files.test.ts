import { FACES, fixture, isCommand, makeFolder, openStream, startStoreProxy, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel, say, valueOf } from '../../test/chat-world.js';
import { upload } from '../../test/uploads.js';
import { fileModel } from '../files/file.model.js';
import type { Message } from './messages.schemas.js';

const DAY_MS = 24 * 60 * 60_000;
const folder = fixture(makeFolder);
const lifetimes = { accessTokenExpireTime: '9d' } as const;
const app = fixture(() => startTestServer({ dataDir: folder.path, lifetimes }));
const other = fixture(() => startTestServer({ mongodbUri: app.mongodbUri, dataDir: folder.path, clock: app.clock, lifetimes }));
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
const slow = fixture(() => startTestServer({ mongodbUri: proxy.uri, dataDir: folder.path, clock: app.clock, lifetimes }));
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

let clientIds = 0;
/** A channel, and a message of Ann's for it with files of these texts. */
async function messageWith(...texts: string[]) {
  const { id: channelId } = await openChannel(ann, [bob]);
  const attachments = [];
  for (const text of texts)
    attachments.push(await upload(ann, `/channels/${channelId}/attachment-upload-url`, 'text/plain', text));
  clientIds += 1;
  return { channelId, senderId: ann.id, content: 'Look', clientId: String(clientIds), attachments };
}
const textsOf = ({ attachments }: Message) => Promise.all(attachments.map(async ({ url }) => (await fetch(url)).text()));
const messagesOf = async (channelId: string) =>
  (await ann.rest('GET', `/messages?channelId=${channelId}`).expect<{ data: Message[] }>(200)).data;
const stored = (objectIds: readonly string[]) => app.storage.model(fileModel).countDocuments({ objectId: { $in: objectIds } });

describe.each(FACES)('over %s, a message with files', (face) => {
  const post = (message: object) => ann.call(face, 'chat.createMessage', message as Record<string, unknown>);

  it('arrives whole', async () => {
    const message = await messageWith('one', 'two');
    await using stream = await openStream(app.url, '/messages/listen', bob.credentials);
    stream.send({ type: 'subscribe', channelId: message.channelId });
    await stream.next('subscribed');
    const posted = valueOf(await post(message)) as Message;
    expect(await textsOf(posted)).toEqual(['one', 'two']);
    const told = (await stream.next('message.created')) as unknown as { message: Message };
    expect(await textsOf(told.message)).toEqual(['one', 'two']);
    expect(await messagesOf(message.channelId)).toMatchObject([{ id: posted.id, attachments: [{}, {}] }]);
  });

  it('is stored once, with its files, when it is sent again', async () => {
    const message = await messageWith('one');
    const first = valueOf(await post(message)) as Message;
    expect(valueOf(await post(message))).toMatchObject({ id: first.id, attachments: [{ id: first.attachments[0]?.id }] });
    expect(await messagesOf(message.channelId)).toHaveLength(1);
  });

  it('is not stored while one of them is missing, and can be sent again with all or with others', async () => {
    const message = await messageWith('one', 'two');
    const path = `/channels/${message.channelId}/attachment-upload-url?contentType=text/plain&contentLength=5`;
    const { objectId, url } = await ann.rest('GET', path).expect<{ objectId: string; url: string }>(200);
    const [one, two] = message.attachments;
    const three = { objectId, type: 'text/plain' };
    expect(await post({ ...message, attachments: [one, two, three] })).toMatchObject({
      ok: false,
      status: 400,
      message: 'File has not been uploaded',
    });
    expect(await messagesOf(message.channelId)).toEqual([]);
    await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'three' });
    const posted = valueOf(await post({ ...message, attachments: [two, three] })) as Message;
    expect(await textsOf(posted)).toEqual(['two', 'three']);
  });

  it('needs a clientId', async () => {
    const { clientId: _, ...message } = await messageWith('one');
    expect(await post(message)).toMatchObject({ ok: false, status: 400 });
    expect(await messagesOf(message.channelId)).toEqual([]);
  });

  it('takes only files of its sender, once, and ten at most', async () => {
    const message = await messageWith('one');
    const { channelId } = message;
    const others = await upload(bob, `/channels/${channelId}/attachment-upload-url`, 'text/plain', 'of Bob');
    expect(await post({ ...message, attachments: [others] })).toMatchObject({ status: 404, message: 'File not found' });
    expect(await post({ ...message, attachments: Array(11).fill(message.attachments[0]) })).toMatchObject({ status: 400 });
    valueOf(await post(message));
    const again = { ...message, clientId: `${message.clientId} again` };
    expect(await post(again)).toMatchObject({ status: 409, message: 'File is already attached' });
  });
});

it.each(FACES)('over %s, a message that is deleted while a file is added to it gets none', async (face) => {
  const { id: channelId } = await openChannel(ann);
  const { id: messageId } = await say(ann, channelId);
  const file = await upload(ann, `/messages/${messageId}/attachment-upload-url`, 'text/plain', 'late');
  const taking = proxy.hold(isCommand('files.findAndModify'));
  const adding = slow.call(face, 'chat.addAttachment', { messageId, ...file }, ann.credentials);
  await taking.reached;
  await ann.rest('DELETE', `/messages/${messageId}`).expect(204);
  taking.release();
  expect(await adding).toEqual({ ok: false, status: 404, message: 'Chat message not found' });
  const { attachments } = await admin.rest('POST', `/messages/${messageId}/restore`).expect<Message>(200);
  expect(attachments).toEqual([]);
});

it('a frame posts files too', async () => {
  const { senderId: _, ...message } = await messageWith('one');
  await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
  stream.send({ type: 'message.create', ...message });
  const { message: stored } = (await stream.next('ack')) as unknown as { message: Message };
  expect(await textsOf(stored)).toEqual(['one']);
});

it('a message with files that is sent ten times at once, to two instances, is stored once with all of them', async () => {
  const message = await messageWith('one', 'two', 'three');
  const sending = Array.from({ length: 10 }, (_, at) =>
    (at % 2 === 0 ? app : other).rest('POST', '/messages', message, ann.credentials),
  );
  for (const { status } of await Promise.all(sending)) expect([201, 409]).toContain(status);
  const posted = await ann.rest('POST', '/messages', message).expect<Message>(201);
  expect(await textsOf(posted)).toEqual(['one', 'two', 'three']);
  expect(await messagesOf(message.channelId)).toHaveLength(1);
});

it('one that is sent at once with different files is stored with all files of one of them', async () => {
  for (let time = 0; time < 10; time++) {
    const message = await messageWith('one', 'two', 'three', 'four');
    const [one, two, three, four] = message.attachments;
    const lists = [[one, two], [three, four], [three]]; // prettier-ignore
    const sending = lists.map((attachments, at) =>
      (at % 2 === 0 ? app : other).rest('POST', '/messages', { ...message, attachments }, ann.credentials),
    );
    for (const { status } of await Promise.all(sending)) expect([201, 409]).toContain(status);
    const [posted, ...others] = await messagesOf(message.channelId);
    expect(others).toEqual([]);
    expect(['one two', 'three four', 'three']).toContain((await textsOf(posted as Message)).join(' '));
  }
});

it('a list of which one file finds no room is attached in no part, and the others can be sent', async () => {
  await using small = await startTestServer({ dataDir: folder.path, files: { url: 'disk:', quota: '5b' } });
  const dan = await small.signUp();
  const { id: channelId } = await openChannel(dan);
  const file = (text: string) => upload(dan, `/channels/${channelId}/attachment-upload-url`, 'text/plain', text);
  const [fits, big] = [await file('one'), await file('two')];
  const post = (attachments: object[]) =>
    dan.rest('POST', '/messages', { channelId, senderId: dan.id, content: 'Look', clientId: 'mine', attachments });
  expect(await post([fits, big])).toMatchObject({ status: 409, body: { error: { message: 'File quota is exceeded' } } });
  await post([fits]).expect(201);
});

it('files whose message never comes are removed after a day; those of a stored one stay, also of a deleted one', async () => {
  const [kept, gone, lost] = [await messageWith('kept'), await messageWith('gone'), await messageWith('lost')];
  await ann.rest('POST', '/messages', kept).expect(201);
  const { id } = await ann.rest('POST', '/messages', gone).expect<Message>(201);
  await ann.rest('DELETE', `/messages/${id}`).expect(204);
  await app.tandem.services.chat.messageFiles.attachAhead(lost, lost.attachments);
  const of = (message: { attachments: { objectId: string }[] }) => stored(message.attachments.map(({ objectId }) => objectId));
  app.clock.advance(DAY_MS / 2);
  await app.tandem.services.files.work();
  expect([await of(kept), await of(gone), await of(lost)]).toEqual([1, 1, 1]);
  app.clock.advance(2 * DAY_MS);
  await app.tandem.services.files.work();
  expect([await of(kept), await of(gone), await of(lost)]).toEqual([1, 1, 0]);
});
