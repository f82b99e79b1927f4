import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { WebSocket } from 'ws';
import {
  FACES,
  fixture,
  openStream,
  refusalOf,
  sendRaw,
  PASSWORD,
  startTestServer,
  type Credentials,
  type TestServer,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { streamTicketModel } from './stream-ticket.model.js';

const PATH = '/notifications/listen';
const TICKETS = `${PATH}/tickets`;

const app = fixture(startTestServer);

async function refusal(path: string, credentials: Credentials = {}, { url }: { url: string } = app) {
  const { status, body } = await refusalOf(url, path, credentials);
  return [status, (body as { error: { message: string } }).error.message];
}
const headers = (given: Record<string, string>): Credentials => ({ headers: given });

/** Sends a request that asks for another protocol, and gives the answer. */
function upgrade(
  path: string,
  given: Record<string, string>,
  { body: sent }: { body?: string } = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const method = sent === undefined ? 'GET' : 'POST';
    const request = http.request(app.url + path, { method, agent: false, headers: { connection: 'Upgrade', ...given } });
    request.on('response', (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => (body += chunk.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    request.on('upgrade', () => reject(new Error('the protocol was changed')));
    request.on('error', reject).end(sent);
  });
}

describe('the handshake in bearer mode', () => {
  it('is refused before it is answered, as every request is', async () => {
    const ann = await app.signUp();
    expect(await refusal(PATH)).toEqual([422, 'Missing authorization header']);
    for (const header of ['Bearer', 'Bearer a b', 'Basic abc', `bearer ${ann.accessToken}`])
      expect(await refusal(PATH, headers({ authorization: header }))).toEqual([422, 'Incorrect authorization of token header']);
    expect(await refusal(PATH, { accessToken: 'forged' })).toEqual([401, 'token could not be verified']);
    expect(await refusal(PATH, { accessToken: ann.refreshToken })).toEqual([401, 'Invalid token']);
    expect(await refusal(PATH, { ...ann.credentials, fingerprint: 'another' })).toEqual([401, 'Token fails security check']);
    const { headers: answered } = await refusalOf(app.url, PATH, headers({ 'x-request-id': 'mine' }));
    expect(answered).toMatchObject({ 'x-request-id': 'mine', connection: 'close', 'cache-control': 'no-store' });
  });

  it('takes the fingerprint of the login', async () => {
    const ann = await app.signUp({ fingerprint: 'a device' });
    expect(await refusal(PATH, { accessToken: ann.accessToken })).toEqual([401, 'Token fails security check']);
    await using stream = await openStream(app.url, PATH, ann.credentials);
    await stream.next('ready');
  });

  it('is refused with an expired token, and with that of an ended session', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await bob.rest('POST', '/auth/logout', {}).expect(204);
    expect(await refusal(PATH, bob.credentials)).toEqual([401, 'token could not be verified']);
    app.clock.advance(15 * 60_000);
    expect(await refusal(PATH, ann.credentials)).toEqual([401, 'token could not be verified']);
  });

  it('does not look at cookies', async () => {
    const ann = await app.signUp();
    const cookie = { cookie: `accessToken=${ann.accessToken}` };
    expect(await refusal(PATH, headers(cookie))).toEqual([422, 'Missing authorization header']);
  });
});

describe('the handshake in cookie mode', () => {
  it('takes the cookie, from allowed origins alone', async () => {
    await using cookies = await startTestServer({
      authModes: { default: 'cookie', auth: 'cookie', notifications: 'cookie' },
      corsOrigins: ['https://app.example.org'],
      clock: app.clock,
    });
    const ann = await cookies.signUp();
    const from = (origin: string) => headers({ ...ann.credentials.headers, origin });
    expect(await refusal(PATH, {}, cookies)).toEqual([401, 'Unable to detect access token']);
    for (const origin of ['https://evil.example', 'null', 'https://app.example.org.evil.example'])
      expect(await refusal(PATH, from(origin), cookies)).toEqual([403, 'Origin is not allowed']);
    for (const origin of ['https://app.example.org', cookies.url]) {
      await using stream = await openStream(cookies.url, PATH, from(origin));
      await stream.next('ready');
    }
    await using plain = await openStream(cookies.url, PATH, ann.credentials);
    await plain.next('ready');
  });
});

describe.each(FACES)('tickets over %s', (face) => {
  it('open a stream once, for half a minute', async () => {
    const ann = await app.signUp();
    const take = async () => {
      const outcome = await ann.call(face, 'notifications.createListenTicket', {});
      return (outcome as { value: { ticket: string; expiresAt: string } }).value;
    };
    const { ticket, expiresAt } = await take();
    const lifetime = Date.parse(expiresAt) - app.clock.now().getTime();
    expect([lifetime > 25_000, lifetime <= 30_000]).toEqual([true, true]);
    const opened = await Promise.allSettled(Array.from({ length: 20 }, () => openStream(app.url, `${PATH}?ticket=${ticket}`)));
    const streams = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(streams).toHaveLength(1);
    await streams[0]?.close();
    expect(await refusal(`${PATH}?ticket=${ticket}`)).toEqual([401, 'token could not be verified']);
    const late = await take();
    app.clock.advance(30_000);
    expect(await refusal(`${PATH}?ticket=${late.ticket}`)).toEqual([401, 'token could not be verified']);
  });

  it('require a signed-in caller', async () => {
    expect(await app.call(face, 'notifications.createListenTicket', {})).toMatchObject({ status: 422 });
  });
});

describe('a ticket', () => {
  async function ticketOf(credentials: {
    rest: TestServer['rest'] | ((method: string, path: string, body?: unknown) => ReturnType<TestServer['rest']>);
  }) {
    return (await credentials.rest('POST', TICKETS, {}).expect<{ ticket: string }>(201)).ticket;
  }

  it('that is forged, repeated or empty opens nothing', async () => {
    const ann = await app.signUp();
    const ticket = await ticketOf(ann);
    for (const query of ['ticket=', 'ticket=forged', `ticket=${ticket}&ticket=${ticket}`, `ticket=${ann.accessToken}`])
      expect(await refusal(`${PATH}?${query}`, ann.credentials)).toEqual([401, 'token could not be verified']);
  });

  it('is invalid once the session has ended', async () => {
    const ann = await app.signUp();
    const ticket = await ticketOf(ann);
    await app.tandem.services.identities.endSessions(ann.id);
    expect(await refusal(`${PATH}?ticket=${ticket}`)).toEqual([401, 'token could not be verified']);
  });

  it('is stored as its hash alone, and is in no log', async () => {
    const ann = await app.signUp();
    const ticket = await ticketOf(ann);
    const stored = JSON.stringify(await app.storage.model(streamTicketModel).find({ identityId: ann.id }).lean());
    expect(stored).toContain(ann.id);
    expect(stored).not.toContain(ticket);
    await using stream = await openStream(app.url, `${PATH}?ticket=${ticket}`);
    await stream.next('ready');
    expect(app.logs()).not.toContain(ticket);
  });
});

describe('other requests that ask for another protocol', () => {
  it('are 404 at any path but those of streams, also where there is an ordinary route', async () => {
    const ann = await app.signUp();
    for (const path of ['/', '/nowhere', '/channels', '/identities', '/notifications/listen/', '/Notifications/listen', '/docs'])
      expect(await refusal(path, ann.credentials)).toEqual([404, 'Not Found']);
  });

  it('are answered as if they had not asked, where it is none of ours', async () => {
    expect(await upgrade('/health/live', { upgrade: 'h2c' })).toEqual({ status: 200, body: '{"status":"ok"}' });
    const { email } = await app.signUp();
    const login = JSON.stringify({ email, password: PASSWORD });
    const settings = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
    };
    const type = { 'content-type': 'application/json' };
    expect((await upgrade('/auth/login', { ...settings, ...type }, { body: login })).status).toBe(200);
    // in parts, none of which has a length
    const chunked = { ...settings, ...type, 'transfer-encoding': 'chunked' };
    const words = { name: 'ü'.repeat(20_000) };
    const { status, body } = await upgrade('/auth/login', chunked, { body: JSON.stringify(words) });
    expect([status, body]).toEqual([400, expect.stringContaining('name')]);
  });

  it.each(['websocket', 'h2c'])(
    'end their connection where they come before an earlier answer, and nothing else: %s',
    async (protocol) => {
      const { hostname, port } = new URL(app.url);
      const socket = net.connect({ host: hostname, port: Number(port) });
      const closed = once(socket.resume(), 'close');
      const heads = ['GET /health/ready', 'GET /'].map((line) => `${line} HTTP/1.1\r\nhost: x\r\n`);
      socket.write(`${heads[0]}\r\n${heads[1]}connection: upgrade\r\nupgrade: ${protocol}\r\n\r\n`);
      await closed;
      expect((await fetch(`${app.url}/health/live`)).status).toBe(200);
    },
  );

  it('are 400 when they are no handshake of WebSocket version 13, and so is an ordinary request', async () => {
    const ann = await app.signUp();
    const authorization = `Bearer ${ann.accessToken}`;
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    const invalid = { error: { message: 'Validation Error', data: ['request must be a WebSocket handshake of version 13'] } };
    for (const given of [
      { upgrade: 'websocket' },
      { upgrade: 'websocket', ...key },
      { upgrade: 'websocket', ...key, 'sec-websocket-version': '7' },
      { upgrade: 'websocket', 'sec-websocket-key': 'short', 'sec-websocket-version': '13' },
      { upgrade: 'h2c', ...key, 'sec-websocket-version': '13' },
    ]) {
      const answer = await upgrade(PATH, { authorization, ...given });
      expect([answer.status, JSON.parse(answer.body)]).toEqual([400, invalid]);
    }
    expect(await sendRaw(app.url + PATH, { headers: ['authorization', authorization] })).toMatchObject({
      status: 400,
      body: invalid,
    });
    expect(await sendRaw(app.url + PATH, { headers: [] })).toMatchObject({ status: 422 });
  });
});

describe('open streams of one identity', () => {
  it('are at most a hundred', async () => {
    const ann = await app.signUp();
    const streams = await Promise.all(Array.from({ length: 100 }, () => openStream(app.url, PATH, ann.credentials)));
    expect(await refusal(PATH, ann.credentials)).toEqual([429, 'Too many requests']);
    await streams[0]?.close();
    await expect
      .poll(async () => {
        const socket = new WebSocket(app.url.replace('http', 'ws') + PATH, {
          headers: { authorization: `Bearer ${ann.accessToken}` },
        });
        return new Promise((resolve) => {
          socket.once('open', () => resolve('open'));
          socket.once('error', () => resolve('refused'));
        });
      })
      .toBe('open');
    await Promise.all(streams.map((stream) => stream.close()));
  });
});
