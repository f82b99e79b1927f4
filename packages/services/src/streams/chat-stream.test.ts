import {
  NO_ID,
  PATIENCE,
  fixture,
  openStream,
  refusalOf,
  startTestServer,
  type Frame,
  type Person,
  type TestStream,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel, say, subscribe as join } from '../../test/chat-world.js';
import type { Message } from '../chat/messages.schemas.js';
import { ChatServerFrame } from './chat-frames.js';

const PATH = '/messages/listen';
type Created = Frame & { message: Message };
interface Told {
  subject: { id: string };
  actor: object;
}

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

const listen = (person: Person, query = '', server = app) => openStream(server.url, PATH + query, person.credentials);

/** The numbers of the messages that a stream was told of. */
function seqsOf({ frames }: TestStream): number[] {
  return frames.flatMap((frame) => (frame.type === 'message.created' ? [(frame as Created).message.seq] : []));
}
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

async function subscribe(stream: TestStream, channelId: string, sinceSeq?: number): Promise<Frame> {
  stream.send({ type: 'subscribe', channelId, ...(sinceSeq !== undefined && { sinceSeq }) });
  return stream.next('subscribed', (frame: Frame) => frame.channelId === channelId);
}

/** Posts by the stream, and waits for each to be acknowledged. */
async function post(stream: TestStream, channelId: string, content: string): Promise<Message> {
  const clientId = crypto.randomUUID();
  stream.send({ type: 'message.create', channelId, content, clientId });
  const ack = await stream.next<Frame & { message: Message }>('ack', (frame) => frame.clientId === clientId);
  return ack.message;
}

describe('the stream of messages', () => {
  it('sends its members what is posted in a channel, by the stream and by a request', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    await using stream = await listen(ann, `?channelId=${channelId}`);
    expect(await stream.next('ready')).toEqual({ type: 'ready' });
    expect(await stream.next('subscribed')).toMatchObject({ type: 'subscribed', channelId, lastSeq: 0, unread: 0 });
    await using sender = await listen(bob);
    const message = await post(sender, channelId, 'Grüße');
    expect(message).toMatchObject({ channelId, senderId: bob.id, content: 'Grüße', seq: 1 });
    expect(await stream.next('message.created')).toMatchObject({ type: 'message.created', channelId, message });
    const second = await say(bob, channelId, 'by a request');
    expect(await stream.next<Created>('message.created')).toMatchObject({ message: { id: second.id, seq: 2 } });
    for (const frame of stream.frames) expect(ChatServerFrame.safeParse(frame).error).toBeUndefined();
  });

  it('shows the senders of messages to readers that ask for them, while they are members', async () => {
    const { id: channelId } = await openChannel(ann);
    const { id: subscriptionId } = await join(ann, channelId, bob.id);
    const { id: profileId } = await bob
      .rest('POST', '/profiles', { identityId: bob.id, name: 'Bob' })
      .expect<{ id: string }>(201);
    const sender = { id: bob.id, name: 'Bob', avatarUrl: null, profileId };
    const message = await say(bob, channelId);
    await using stream = await listen(ann);
    await using other = await listen(ann, `?channelId=${channelId}`);
    await other.next('subscribed');
    stream.send({ type: 'subscribe', channelId, sinceSeq: 0, expand: ['sender'] });
    expect(await stream.next('message.created')).toMatchObject({
      type: 'message.created',
      channelId,
      message: { ...message, sender },
    });
    const changed = await bob.rest('PATCH', `/messages/${message.id}`, { content: 'B' }).expect<Message>(200);
    expect(await stream.next('message.updated')).toMatchObject({
      type: 'message.updated',
      channelId,
      message: { ...changed, sender },
    });
    expect(await other.next('message.updated')).toMatchObject({ type: 'message.updated', channelId, message: changed });
    await ann.rest('DELETE', `/subscriptions/${subscriptionId}`).expect(204);
    stream.send({ type: 'subscribe', channelId, sinceSeq: 0, expand: ['sender'] });
    const replayed = await stream.next<Created>('message.created');
    expect(replayed.message).toEqual({ ...changed, sender: null });
    for (const frame of stream.frames) expect(ChatServerFrame.safeParse(frame).error).toBeUndefined();
    stream.send({ type: 'subscribe', channelId, expand: ['owner'] });
    expect(await stream.next('error')).toMatchObject({ message: 'Validation Error', channelId });
  });

  it('tells of changes, deletions and restores of messages and of the channel', async () => {
    const admin = await app.signUpAdmin();
    const { id: channelId } = await openChannel(ann, [bob]);
    await using stream = await listen(bob, `?channelId=${channelId}`);
    await stream.next('subscribed');
    const { id } = await say(ann, channelId, 'one');
    await ann.rest('PATCH', `/messages/${id}`, { content: 'two' }).expect(200);
    expect(await stream.next<Created>('message.updated')).toMatchObject({ message: { id, content: 'two' } });
    await ann.rest('DELETE', `/messages/${id}`).expect(204);
    expect(await stream.next('message.deleted')).toMatchObject({ type: 'message.deleted', channelId, messageId: id, seq: 1 });
    await admin.rest('POST', `/messages/${id}/restore`).expect(200);
    await stream.next('message.updated');
    await ann.rest('PATCH', `/channels/${channelId}`, { name: 'another name' }).expect(200);
    expect(await stream.next('channel.updated')).toMatchObject({ channel: { id: channelId, name: 'another name' } });
    await ann.rest('DELETE', `/channels/${channelId}`).expect(204);
    expect(await stream.next('channel.deleted')).toMatchObject({ type: 'channel.deleted', channelId });
    expect(await stream.next('unsubscribed')).toEqual({ type: 'unsubscribed', channelId });
  });

  it('stores once what a client sends twice', async () => {
    const { id: channelId } = await openChannel(ann);
    await using stream = await listen(ann, `?channelId=${channelId}`);
    const frame = { type: 'message.create', channelId, content: 'once', clientId: 'the same' };
    stream.send(frame);
    stream.send(frame);
    const [first, second] = [await stream.next('ack'), await stream.next('ack')];
    expect(second).toEqual(first);
    await post(stream, channelId, 'last');
    expect(seqsOf(stream)).toEqual([1, 2]);
  });

  it('has the sender as actor of what it writes, or the sender’s key', async () => {
    const { id: channelId } = await openChannel(ann);
    const admin = await app.signUpAdmin();
    const key = { name: 'k', scopes: ['*'] };
    const made = await ann.rest('POST', `/auth/${ann.id}/keys`, key).expect<{ id: string; key: string }>(201);
    for (const [credentials, actor] of [
      [ann.credentials, { type: 'identity', id: ann.id }],
      [{ accessToken: made.key }, { type: 'key', id: made.id }],
    ] as const) {
      await using stream = await openStream(app.url, PATH, credentials);
      const { id } = await post(stream, channelId, 'x');
      const told = () => admin.rest('GET', '/events?limit=200&types=message.created').expect<{ data: Told[] }>(200);
      await expect.poll(async () => (await told()).data.find(({ subject }) => subject.id === id)?.actor, PATIENCE).toEqual(actor);
    }
  });

  it('tells one’s own channels to keys alone that may read them', async () => {
    const keyFor = (scopes: string[]) =>
      ann.rest('POST', `/auth/${ann.id}/keys`, { name: 'k', scopes }).expect<{ key: string }>(201);
    const [narrow, wide] = [await keyFor(['chat.channelEvents']), await keyFor(['chat.*:read'])];
    for (const [{ key }, answer] of [
      [narrow, 'error'],
      [wide, 'subscribed'],
    ] as const) {
      await using stream = await openStream(app.url, PATH, { accessToken: key });
      stream.send({ type: 'subscribe', self: true });
      expect(await stream.next(answer)).toMatchObject({ type: answer });
    }
  });

  it('announces typing and presence to the others', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    await using stream = await listen(ann, `?channelId=${channelId}`);
    await stream.next('subscribed');
    const other = await listen(bob, `?channelId=${channelId}`);
    expect(await stream.next('presence')).toEqual({ type: 'presence', channelId, identityId: bob.id, status: 'online' });
    for (let n = 0; n < 5; n++) other.send({ type: 'typing', channelId });
    expect(await stream.next('typing')).toEqual({ type: 'typing', channelId, identityId: bob.id });
    other.send({ type: 'unsubscribe', channelId });
    await other.next('unsubscribed');
    expect(await stream.next('presence')).toMatchObject({ identityId: bob.id, status: 'offline' });
    await other.close();
    expect(stream.frames.filter(({ type }) => type === 'typing')).toHaveLength(1);
    expect(other.frames.filter(({ type }) => type === 'typing' || type === 'presence')).toEqual([]);
  });

  it('marks messages read, and counts those that are not', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const [one] = [await say(ann, channelId, 'one'), await say(ann, channelId, 'two')];
    await using stream = await listen(bob, `?channelId=${channelId}`);
    expect(await stream.next('subscribed')).toMatchObject({ lastSeq: 2, unread: 2 });
    stream.send({ type: 'read', channelId, messageId: one?.id });
    expect(await stream.next('read')).toEqual({ type: 'read', channelId, identityId: bob.id, messageId: one?.id, seq: 1 });
    await using later = await listen(bob, `?channelId=${channelId}`);
    expect(await later.next('subscribed')).toMatchObject({ lastSeq: 2, unread: 1 });
  });

  it('answers a failed frame with an error that names the frame', async () => {
    const { id: channelId } = await openChannel(ann);
    await using stream = await listen(bob);
    const frames = [
      { type: 'subscribe', channelId },
      { type: 'subscribe', channelId: NO_ID },
      { type: 'typing', channelId },
      { type: 'read', channelId, messageId: NO_ID },
      { type: 'message.create', channelId, content: 'x', clientId: 'mine' },
    ];
    for (const frame of frames) {
      stream.send(frame);
      const about = { channelId: frame.channelId, ...('clientId' in frame && { clientId: frame.clientId }) };
      expect(await stream.next('error')).toEqual({
        type: 'error',
        message: 'Identity is not subscribed to the channel',
        errorCode: 'chat.notSubscribed',
        ...about,
      });
    }
    stream.send({ type: 'message.create', channelId, content: '', clientId: 5, foo: 1 });
    expect(await stream.next('error')).toEqual({
      type: 'error',
      message: 'Validation Error',
      errorCode: 'request.invalid',
      data: [
        'frame/content must NOT have fewer than 1 characters',
        'frame/clientId must be string',
        "frame must NOT have additional properties: 'foo'",
      ],
      channelId,
    });
    stream.send({ type: 'nothing' });
    const known = 'subscribe, unsubscribe, message.create, typing, read, ping';
    expect(await stream.next('error')).toMatchObject({
      data: [`frame/type must be equal to one of the allowed values: ${known}`],
    });
  });

  it('is refused to a caller that is no member of a channel it names', async () => {
    const { id: channelId } = await openChannel(ann);
    const refusal = async (query: string) => {
      const { status, body } = await refusalOf(app.url, PATH + query, bob.credentials);
      return [status, (body as { error: { message: string } }).error.message];
    };
    const notSubscribed = [403, 'Identity is not subscribed to the channel'];
    for (const query of [
      `?channelId=${channelId}`,
      `?channelId=${NO_ID}`,
      '?channelId=x',
      '?channelId=',
      `?channelId=${NO_ID}&foo=1`,
    ])
      expect(await refusal(query)).toEqual(notSubscribed);
    expect(await refusal('?foo=1')).toEqual([400, 'Validation Error']);
    const many = Array.from({ length: 101 }, () => `channelId=${crypto.randomUUID()}`).join('&');
    expect(await refusal(`?${many}`)).toEqual([400, 'Validation Error']);
    await using admin = await listen(await app.signUpAdmin());
    admin.send({ type: 'subscribe', channelId });
    expect(await admin.next('error')).toMatchObject({ message: 'Identity is not subscribed to the channel' });
  });
});

describe('replay', () => {
  it('sends what was missed, in order and once, and continues without a gap', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    await using sender = await listen(ann);
    for (let n = 0; n < 230; n++) await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: String(n) });
    await using stream = await listen(bob);
    const goOn = (async () => {
      for (let n = 230; n < 400; n++) await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: String(n) });
    })();
    await subscribe(stream, channelId, 20);
    await goOn;
    const last = 400;
    await expect.poll(() => seqsOf(stream).at(-1)).toBe(last);
    expect(seqsOf(stream)).toEqual(upTo(last).slice(20));
    await sender.close();
  });

  it('leaves out what was deleted, and waits for nothing', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const messages = [];
    for (let n = 0; n < 5; n++) messages.push(await say(ann, channelId, String(n)));
    for (const n of [1, 4]) await ann.rest('DELETE', `/messages/${messages[n]?.id}`).expect(204);
    await using stream = await listen(bob);
    expect(await subscribe(stream, channelId, 0)).toMatchObject({ lastSeq: 5 });
    await say(ann, channelId, 'next');
    await stream.next<Created>('message.created', ({ message }) => message.seq === 6);
    expect(seqsOf(stream)).toEqual([1, 3, 4, 6]);
  });

  it('begins anew where a channel is subscribed to again', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    for (let n = 0; n < 3; n++) await say(ann, channelId, String(n));
    await using stream = await listen(bob, `?channelId=${channelId}`);
    await subscribe(stream, channelId, 1);
    await say(ann, channelId, 'next');
    await stream.next<Created>('message.created', ({ message }) => message.seq === 4);
    expect(seqsOf(stream)).toEqual([2, 3, 4]);
  });
});
