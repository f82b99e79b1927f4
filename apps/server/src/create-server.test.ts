import { once } from 'node:events';
import net from 'node:net';
import { availableParallelism } from 'node:os';
import { createPasskey, databaseOf, newEmail, openStream, startTestServer } from '@tandem/testing';
import { openStorage } from '@tandem/storage';
import { describe, expect, it } from 'vitest';
import { createLog } from './logging.js';

async function get(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('health', () => {
  it('reports live and ready', async () => {
    await using app = await startTestServer();
    for (const path of ['live', 'ready'])
      expect(await get(`${app.url}/health/${path}`)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  });

  it('refuses connections once closed, and may be closed twice', async () => {
    const app = await startTestServer();
    await app.close();
    await app.close();
    await expect(fetch(`${app.url}/health/live`)).rejects.toThrow('fetch failed');
  });

  it('keeps idle connections open for longer than proxies do', async () => {
    await using app = await startTestServer();
    expect((await get(`${app.url}/health/live`)).headers.get('keep-alive')).toBe('timeout=65');
  });

  it('answers a request in progress before it closes', async () => {
    const app = await startTestServer();
    const { id, rest } = await app.signUp();
    const answers = Array.from({ length: 10 }, () => rest('GET', `/notifications/identities/${id}`).expect(200));
    const first = await Promise.race(answers);
    await Promise.all([
      app.close(),
      // requests that had not begun are refused
      Promise.allSettled(answers),
    ]);
    expect(first).toHaveProperty('data');
  });
});

/** A metric's value in the text of all. */
function valueOf(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

describe('metrics', () => {
  it('label requests by route template, never by path', async () => {
    await using app = await startTestServer();
    const ann = await app.signUp();
    await ann.rest('GET', `/notifications/identities/${ann.id}`);
    await ann.call('trpc', 'notifications.unreadCount', { identityId: ann.id });
    await fetch(`${app.url}/trpc/made.up`);
    await fetch(`${app.url}/made/up`);

    const { text } = await get(`${app.url}/metrics`);
    expect(text).toContain('route="/notifications/identities/:identityId",status="200"');
    expect(text).toContain('route="/trpc/notifications.unreadCount",status="200"');
    expect(text).toContain('route="/trpc/unknown",status="404"');
    expect(text).toContain('route="unmatched",status="404"');
    expect(text).not.toMatch(new RegExp(`${ann.id}|made`));
  });

  it('report on the database, the mail queue and the streams', async () => {
    await using app = await startTestServer({ mail: { url: 'smtp://127.0.0.1:9', from: 'a@example.org', linksUrl: undefined } });
    const ann = await app.signUp();
    const stream = await openStream(app.url, '/notifications/listen', ann.credentials);
    await stream.next('ready');
    stream.send({ type: 'ping' });
    await stream.next('pong');
    await ann.rest('POST', `/auth/${ann.id}/send-verification-email`).expect(204);
    await app.tandem.services.mails.work();
    app.clock.advance(5000);
    const before = (await get(`${app.url}/metrics`)).text;
    await stream.close();
    const { text: after } = await get(`${app.url}/metrics`);

    expect(valueOf(before, 'database_operation_duration_seconds_count{operation="insertOne",failed="false"}')).toBeGreaterThan(0);
    expect(valueOf(before, 'database_connections_open')).toBeGreaterThan(0);
    expect(valueOf(before, 'database_connections_waiting')).toBe(0);
    expect(valueOf(before, 'mail_queue_length')).toBeGreaterThan(0);
    expect(valueOf(before, 'mail_queue_oldest_seconds')).toBeGreaterThanOrEqual(5);
    expect(valueOf(before, 'mails_total{result="retried"}')).toBeGreaterThan(0);
    expect([before, after].map((text) => valueOf(text, 'streams_open'))).toEqual([1, 0]);
    expect(valueOf(before, 'stream_frames_total{direction="received"}')).toBe(1);
    expect(valueOf(before, 'stream_frames_total{direction="sent"}')).toBe(2);
    expect(valueOf(after, 'stream_closes_total{code="1005"}')).toBe(1);
  });

  it('report how many passwords are being compared, and how many wait', async () => {
    await using app = await startTestServer({ bcryptCost: 11 });
    const states = async () => {
      const { text } = await get(`${app.url}/metrics`);
      return ['password_hashes_running', 'password_hashes_waiting'].map((name) => valueOf(text, name));
    };
    expect(await states()).toEqual([0, 0]);
    const atOnce = 2 * availableParallelism();
    const seen = new AbortController();
    const loggingIn = Array.from({ length: 5 * atOnce }, async (_, n) => {
      for (let turn = 0; !seen.signal.aborted; turn++)
        await app.call('rest', 'auth.login', { email: `nobody.${n}.${turn}@example.org`, password: 'a wrong password' });
    });
    await expect.poll(states).toEqual([atOnce, expect.toSatisfy((waiting) => waiting > 0)]);
    seen.abort();
    await Promise.all(loggingIn);
    // a login that was answered at its deadline is compared to the end
    await expect.poll(states).toEqual([0, 0]);
  });

  it('are served while the store is unavailable, without its numbers', async () => {
    await using app = await startTestServer();
    await app.storage.close();
    const { text } = await get(`${app.url}/metrics`);
    expect(text).toMatch(/^mail_queue_length nan$/im);
    expect(text).toMatch(/database_connections_open \d/);
  });

  it('require the token when there is one, and serve nobody behind a proxy when there is none', async () => {
    await using guarded = await startTestServer({ metricsToken: 'a token for metrics' });
    expect((await get(`${guarded.url}/metrics`)).status).toBe(404);
    expect((await get(`${guarded.url}/metrics`, { authorization: 'Bearer another' })).status).toBe(404);
    expect((await get(`${guarded.url}/metrics`, { authorization: 'Bearer a token for metrics' })).status).toBe(200);
    await using open = await startTestServer();
    expect((await get(`${open.url}/metrics`, { 'x-forwarded-for': '203.0.113.1' })).status).toBe(404);
  });
});

describe('passkeys', () => {
  it('work in development without settings, for a page at localhost', async () => {
    await using app = await startTestServer({ development: true });
    const ann = await app.signUp();
    const passkey = createPasskey(app.url.replace('127.0.0.1', 'localhost'));
    const at = `/auth/${ann.id}/factors/passkeys`;
    const options = await ann.rest('POST', `${at}/options`).expect<Parameters<typeof passkey.create>[0]>(200);
    expect(options.rp.id).toBe('localhost');
    await ann.rest('POST', at, { response: passkey.create(options) }).expect(201);
    await using production = await startTestServer();
    await production.rest('POST', '/auth/passkeys/options').expect(409, 'Passkeys are not available');
  });
});

describe('security headers', () => {
  it('require https only where the server is reached by it', async () => {
    await using plain = await startTestServer();
    await using secure = await startTestServer({ publicUrl: 'https://api.example.org' });
    const [http, https] = [await get(`${plain.url}/health/live`), await get(`${secure.url}/health/live`)];
    expect(http.headers.get('strict-transport-security')).toBeNull();
    expect(http.headers.get('content-security-policy')).not.toContain('upgrade-insecure-requests');
    expect(https.headers.get('strict-transport-security')).toContain('max-age');
    expect(https.headers.get('content-security-policy')).toContain('upgrade-insecure-requests');
    expect(http.headers.get('x-powered-by')).toBeNull();
  });

  it('show a page on an allowed origin what stands in headers, and let it send its own', async () => {
    const origin = 'https://app.example.org';
    await using app = await startTestServer({ corsOrigins: [origin] });
    const { headers } = await get(`${app.url}/nowhere`, { origin });
    const exposed = headers.get('access-control-expose-headers')?.split(',');
    expect(exposed).toEqual(['x-request-id', 'x-error-code', 'etag', 'ratelimit', 'ratelimit-policy', 'retry-after']);
    const wanted = 'authorization,content-type,idempotency-key,if-match,if-none-match';
    const asked = { origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': wanted };
    const preflight = await fetch(`${app.url}/products/x`, { method: 'OPTIONS', headers: asked });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, wanted]);
  });

  it('allow other origins only where configured', async () => {
    await using app = await startTestServer({ corsOrigins: ['https://app.example.org'] });
    const allowed = async (origin: string) =>
      (await get(`${app.url}/health/live`, { origin })).headers.get('access-control-allow-origin');
    expect(await allowed('https://app.example.org')).toBe('https://app.example.org');
    expect(await allowed('https://evil.example.org')).toBeNull();
  });
});

describe('the first admin', () => {
  it('is made once by several instances that start at once', async () => {
    const bootstrapAdmin = { email: 'first@example.org', password: 'the first of the admins' };
    const typeIds = { admin: `boss-${Date.now()}`, guest: 'guest', regular: 'regular' };
    const servers = await Promise.all([1, 2, 3].map(() => startTestServer({ bootstrapAdmin, typeIds })));
    const [app] = servers;
    const first = await app?.signIn(bootstrapAdmin.email, { password: bootstrapAdmin.password });
    const identity = await first?.rest('GET', `/identities/${first.id}`).expect(200);
    expect(identity).toMatchObject({ emailVerified: true, typeId: typeIds.admin });
    await Promise.all(servers.map((server) => server.close()));
  });

  it('is nobody’s account that exists: the server starts, and says what to do', async () => {
    const bootstrapAdmin = { email: newEmail(), password: 'the first of the admins' };
    const typeIds = { admin: `boss-${Date.now()}`, guest: 'guest', regular: 'regular' };
    await using before = await startTestServer({ typeIds });
    await before.signUp({ email: bootstrapAdmin.email });
    await using app = await startTestServer({ bootstrapAdmin, typeIds, mongodbUri: before.mongodbUri });
    expect(app.logs()).toContain('Promote one with `tandem admin promote`');
    expect(app.logs()).not.toContain(bootstrapAdmin.email);
    expect((await fetch(`${app.url}/health/ready`)).status).toBe(200);
  });
});

describe('a server', () => {
  it('starts on no database into which an import is under way: half of it looks like a whole one', async () => {
    const mongodbUri = databaseOf('imported');
    const storage = await openStorage({ uri: mongodbUri });
    async function* lines() {
      yield JSON.stringify({ tandemExport: 1 });
      await expect(startTestServer({ mongodbUri })).rejects.toThrow('An import into this database is under way');
      yield JSON.stringify({ end: { documents: 0 } });
    }
    await storage.importLines(lines(), () => {});
    await storage.close();
    await using app = await startTestServer({ mongodbUri });
    expect((await get(`${app.url}/health/ready`)).status).toBe(200);
  });
});

describe('the log', () => {
  it('has one line per request, without path, query, headers or body', async () => {
    await using app = await startTestServer();
    await fetch(`${app.url}/health/live?token=secret-in-query`, { headers: { authorization: 'Bearer secret-in-header', 'x-request-id': 'of-this-one' } }); // prettier-ignore
    const lines = app.logs().split('\n').filter((line) => line.includes('of-this-one')); // prettier-ignore
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ method: 'GET', route: '/health/live', status: 200, msg: 'request' });
    expect(app.logs()).not.toContain('secret-in');
  });

  it('has the status 499 for a request that was broken off before its answer', async () => {
    await using app = await startTestServer();
    const { hostname, port } = new URL(app.url);
    const socket = net.connect(Number(port), hostname);
    const head = 'host: x\r\nx-request-id: broken-off\r\ncontent-type: application/json\r\ncontent-length: 9';
    socket.write(`POST /auth/login HTTP/1.1\r\n${head}\r\n\r\n{`);
    await once(socket, 'connect');
    // both on loopback: once this is answered, the earlier request has been read
    await fetch(`${app.url}/health/live`);
    socket.destroy();
    const line = () => app.logs().split('\n').find((one) => one.includes('broken-off')) ?? '{}'; // prettier-ignore
    await expect.poll(() => JSON.parse(line()) as object).toMatchObject({ status: 499, msg: 'request aborted' });
  });

  it('keeps an error’s kind and place, without the values that it quotes', () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', readable: false, destination: { write: (line) => lines.push(line) } });
    const err = Object.assign(new Error('E11000 dup key: { email: "ann@example.org" }'), {
      keyValue: { email: 'ann@example.org' },
      code: 11000,
    });
    log.error({ err, password: 'hunter2', body: { token: 'abc' } }, 'failed');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ err: { type: 'Error', code: 11000, message: 'E11000 dup key: …' } });
    expect(lines[0]).not.toMatch(/ann@|hunter2|abc/);
  });
});
