import { createTRPCClient, createWSClient, wsLink, type TRPCClient } from '@trpc/client';
import { PATIENCE, fixture, openStream, refusalOf, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openChannel, say } from '../../test/chat-world.js';
import type { AppRouter } from '../router.js';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const app = fixture(startTestServer);
let ann: Person;
beforeAll(async () => {
  ann = await app.signUp();
});

/** A tRPC client over a WebSocket, with these credentials as connection parameters. */
function connect(connectionParams: Record<string, string>, headers: Record<string, string> = {}, server = app) {
  class WithHeaders extends WebSocket {
    constructor(address: string) {
      super(address, { headers });
    }
  }
  const closings: unknown[] = [];
  const client = createWSClient({
    url: `${server.url.replace('http', 'ws')}/trpc`,
    connectionParams,
    WebSocket: WithHeaders as never,
    onClose: (cause) => void closings.push(cause?.code),
    retryDelayMs: () => 60_000,
  });
  onTestFinished(() => void client.close());
  return { api: createTRPCClient<AppRouter>({ links: [wsLink({ client })] }), closings };
}
const bearer = (person: Person) => ({ authorization: `Bearer ${person.accessToken}` });

/** What a subscription yields, and how it fails. */
interface Handlers {
  onData(value: { id: string; data: { type: string } }): void;
  onError(error: { message: string }): void;
  onComplete(): void;
}
function collect(subscribe: (handlers: Handlers) => { unsubscribe(): void }) {
  const got = { frames: [] as { type: string }[], ids: [] as string[], errors: [] as unknown[], isComplete: false };
  const { unsubscribe } = subscribe({
    onData({ id, data }) {
      got.ids.push(id);
      got.frames.push(data);
    },
    onError: (error) => void got.errors.push(error.message),
    onComplete: () => (got.isComplete = true),
  });
  return { got, unsubscribe };
}
const typesOf = ({ got }: ReturnType<typeof collect>) => got.frames.map(({ type }) => type);
const follow = (
  api: TRPCClient<AppRouter>,
  input: { channelId: string; sinceSeq?: number; expand?: ['sender']; lastEventId?: string },
) => collect((handlers) => api.chat.channelEvents.subscribe(input, handlers));

describe('tRPC over a WebSocket', () => {
  it('answers calls, by the credentials among the connection parameters', async () => {
    const { api } = connect(bearer(ann));
    expect(await api.notifications.unreadCount.query({ identityId: ann.id })).toEqual({ unread: 0 });
    const nobody = connect({});
    await expect(nobody.api.notifications.unreadCount.query({ identityId: ann.id })).rejects.toMatchObject({
      message: 'Missing authorization header',
      data: { httpStatus: 422 },
    });
    const two = connect({ authorization: 'Bearer a b' });
    await expect(two.api.notifications.unreadCount.query({ identityId: ann.id })).rejects.toThrow(
      'Incorrect authorization of token header',
    );
  });

  it('subscribes to a channel: what was missed, and then what comes', async () => {
    const { id: channelId } = await openChannel(ann);
    for (const content of ['one', 'two', 'three']) await say(ann, channelId, content);
    const { api } = connect(bearer(ann));
    const events = follow(api, { channelId, sinceSeq: 1 });
    await expect.poll(() => events.got.ids, PATIENCE).toEqual(['1', '2', '3']);
    await say(ann, channelId, 'four');
    await expect.poll(() => events.got.ids, PATIENCE).toEqual(['1', '2', '3', '4']);
    expect(typesOf(events)).toEqual(['subscribed', 'message.created', 'message.created', 'message.created']);
    const resumed = follow(api, { channelId, lastEventId: '3' });
    await expect.poll(() => resumed.got.ids, PATIENCE).toEqual(['3', '4']);
    events.unsubscribe();
    resumed.unsubscribe();
  });

  it('shows the senders of messages on request, of those that were missed too', async () => {
    const { id: channelId } = await openChannel(ann);
    await say(ann, channelId, 'one');
    const events = follow(connect(bearer(ann)).api, { channelId, sinceSeq: 0, expand: ['sender'] });
    await expect.poll(() => events.got.ids, PATIENCE).toEqual(['0', '1']);
    await say(ann, channelId, 'two');
    await expect.poll(() => events.got.ids, PATIENCE).toEqual(['0', '1', '2']);
    const sender = { id: ann.id, name: null, avatarUrl: null, profileId: null };
    expect(events.got.frames.slice(1)).toMatchObject([{ message: { sender } }, { message: { sender } }]);
    events.unsubscribe();
  });

  it('refuses a channel to who is no member, and input that is not valid', async () => {
    const { id: channelId } = await openChannel(ann);
    const { api } = connect(bearer(await app.signUp()));
    const events = follow(api, { channelId });
    await expect.poll(() => events.got.errors, PATIENCE).toEqual(['Identity is not subscribed to the channel']);
    const invalid = follow(api, { channelId: 'x' });
    await expect.poll(() => invalid.got.errors, PATIENCE).toEqual(['Validation Error']);
  });

  it('subscribes to notifications', async () => {
    const bob = await app.signUp();
    const { api } = connect(bearer(bob));
    const events = collect((handlers) => api.notifications.events.subscribe({}, handlers));
    await expect.poll(() => events.got.frames, PATIENCE).toEqual([{ type: 'ready', unread: 0 }]);
    const notification = await app.tandem.services.notifications.notify(bob.id);
    await expect.poll(() => events.got.frames[1], PATIENCE).toEqual({ type: 'notification.created', notification });
  });

  it('tells who has received nothing yet of the notifications that come during a drop, once', async () => {
    const bob = await app.signUp();
    const notify = (identityId: string) => app.tandem.services.notifications.notify(identityId);
    await notify(bob.id);
    app.clock.advance(60_000);
    const follow = (input: { lastEventId?: string }) => {
      const { api } = connect(bearer(bob));
      return collect((handlers) => api.notifications.events.subscribe(input, handlers));
    };
    const first = follow({});
    await expect.poll(() => first.got.frames, PATIENCE).toEqual([{ type: 'ready', unread: 1 }]);
    first.unsubscribe();
    app.clock.advance(60_000);
    const missed = await notify(bob.id);
    const second = follow({ lastEventId: String(first.got.ids[0]) });
    const created = { type: 'notification.created', notification: missed };
    await expect.poll(() => second.got.frames, PATIENCE).toEqual([{ type: 'ready', unread: 2 }, created]);
    expect(second.got.ids).toEqual([first.got.ids[0], missed.id]);
  });

  it('is closed when the session ends, and when the token expires', async () => {
    const bob = await app.signUp();
    const { api, closings } = connect(bearer(bob));
    await api.notifications.unreadCount.query({ identityId: bob.id });
    await app.rest('POST', '/auth/logout', {}, bob.credentials).expect(204);
    await expect.poll(() => closings, PATIENCE).toEqual([1008]);
    const eve = connect(bearer(ann));
    await eve.api.notifications.unreadCount.query({ identityId: ann.id });
    app.clock.advance(15 * 60_000);
    await expect.poll(() => eve.closings, PATIENCE).toEqual([4401]);
    ann = await app.signIn(ann.email);
  });

  it('takes the cookie in cookie mode, from allowed origins alone, and sets none', async () => {
    await using cookies = await startTestServer({ authModes: { default: 'cookie' }, clock: app.clock });
    const bob = await cookies.signUp();
    const { cookie = '' } = bob.credentials.headers ?? {};
    const { api } = connect({}, { cookie }, cookies);
    expect(await api.notifications.unreadCount.query({ identityId: bob.id })).toEqual({ unread: 0 });
    await expect(api.auth.login.mutate({ email: bob.email, password: 'x' })).rejects.toThrow('Validation Error');
    const evil = await refusalOf(cookies.url, '/trpc', { headers: { cookie, origin: 'https://evil.example' } });
    expect([evil.status, evil.body]).toEqual([403, { error: { message: 'Origin is not allowed' } }]);
  });

  it('survives what is no call', async () => {
    await using stream = await openStream(app.url, '/trpc');
    for (const text of [
      '{',
      '[]',
      'null',
      '{"id":1}',
      '{"id":1,"method":"query"}',
      '{"id":1,"method":"subscription","params":{"path":"__proto__"}}',
    ])
      stream.send(text);
    stream.send('{"id":9,"method":"query","params":{"path":"categories.list","input":{}}}');
    await expect.poll(() => stream.frames.map(({ id }) => id), PATIENCE).toContain(9);
    expect(JSON.stringify(stream.frames)).not.toMatch(/stack|node_modules/);
  });
});

/** Begins server-sent events; `got.text` is what has come so far. */
async function listen(person: Person, path: string, given: object, server = app) {
  const input = encodeURIComponent(JSON.stringify(given));
  const response = await fetch(`${server.url}/trpc/${path}?input=${input}`, {
    headers: { ...bearer(person), accept: 'text/event-stream' },
  });
  const got = { type: response.headers.get('content-type'), text: '' };
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      got.text += decoder.decode(chunk, { stream: true });
  })();
  return { got, ended };
}

describe('server-sent events', () => {
  it('tell what happens in a channel until the session ends', async () => {
    const bob = await app.signUp();
    const { id: channelId } = await openChannel(bob);
    const { got, ended } = await listen(bob, 'chat.channelEvents', { channelId });
    expect(got.type).toMatch(/^text\/event-stream/);
    await expect.poll(() => got.text, PATIENCE).toContain('"type":"subscribed"');
    await say(bob, channelId, 'over events');
    await expect.poll(() => got.text, PATIENCE).toContain('over events');
    await app.rest('POST', '/auth/logout', {}, bob.credentials).expect(204);
    await ended;
    expect(got.text).toContain('token could not be verified');
  });

  it('end with the server, which waits for none of them, by an error that lets clients come back', async () => {
    const server = await startTestServer({ clock: app.clock });
    const admin = await server.signUpAdmin();
    const { id: channelId } = await openChannel(admin);
    const subscriptions = {
      'notifications.events': {},
      'chat.channelEvents': { channelId },
      'chat.ownEvents': {},
      'events.stream': { since: BEFORE_ALL },
    };
    const streams = await Promise.all(Object.entries(subscriptions).map(([path, given]) => listen(admin, path, given, server)));
    for (const { got } of streams) await expect.poll(() => got.text, PATIENCE).toContain('data: {"');
    await server.close();
    for (const { got, ended } of streams) {
      await ended;
      expect(got.text).toMatch(/event: serialized-error\n.*"code":"SERVICE_UNAVAILABLE"/);
      // what tells clients that nothing more will ever come
      expect(got.text).not.toContain('event: return');
      expect(got.text).not.toContain('"type":"unsubscribed"');
    }
  });
});
