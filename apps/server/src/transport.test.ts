import http from 'node:http';
import net from 'node:net';
import { FACES, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

interface Envelope {
  error: { message: string; data?: string[]; stack?: string };
}

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());

const REGISTER = '/auth/register';
const invalid = (...data: string[]) => ({ error: { message: 'Validation Error', data } });

/** Sends exactly these bytes: `fetch` would repair them. */
function raw(path: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<{ status: number; body: Envelope }> {
  const { hostname, port } = new URL(app.url);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Envelope }));
    });
    request.on('error', reject).end(body);
  });
}

describe('the envelope', () => {
  it('an unknown route is 404 Not Found, also a known path with another method', async () => {
    expect(await app.rest('GET', '/nowhere').expect(404)).toEqual({ error: { message: 'Not Found' } });
    expect(await app.rest('PUT', '/auth/login').expect(404)).toEqual({ error: { message: 'Not Found' } });
    expect((await fetch(`${app.url}/AUTH/LOGIN`, { method: 'POST' })).status).toBe(404);
  });

  it('has a stack in development only', async () => {
    await using development = await startTestServer({ development: true });
    for (const path of ['/nowhere', `/identities/${ann.id}`]) {
      const { error } = (await development.rest('GET', path)).body as Envelope;
      expect(error.stack).toContain('Error');
      const shown = ((await app.rest('GET', path)).body as Envelope).error;
      expect(shown).not.toHaveProperty('stack');
    }
    const trpc = async (url: string) => (await fetch(`${url}/trpc/identities.list`)).text();
    expect(await trpc(development.url)).toContain('"stack"');
    expect(await trpc(app.url)).not.toContain('stack');
  });
});

describe('a JSON body', () => {
  it('that is malformed is 400, on both faces', async () => {
    expect(await app.rest('POST', REGISTER, '{"email":').expect(400)).toEqual(invalid('request body must be valid JSON'));
    const trpc = await fetch(`${app.url}/trpc/auth.register`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"email":' }); // prettier-ignore
    expect(trpc.status).toBe(400);
    expect(await trpc.json()).toMatchObject({
      error: { message: 'Validation Error', data: { httpStatus: 400, data: ['request body must be valid JSON'] } },
    });
  });

  it('that is not an object is 400', async () => {
    for (const body of ['[]', 'null', '5', '"text"'])
      expect(await app.rest('POST', REGISTER, body).expect(400)).toEqual(invalid('request body must be object'));
  });

  it('over the limit is 413, on both faces', async () => {
    const email = 'a'.repeat(1024 * 1024);
    expect(await app.rest('POST', REGISTER, { email }).expect(413)).toEqual({ error: { message: 'request entity too large' } });
    expect(await app.call('trpc', 'auth.register', { email })).toEqual({
      ok: false,
      status: 413,
      message: 'request entity too large',
    });
  });

  it('of another content type is 415, which names the accepted one', async () => {
    const text = { headers: { 'content-type': 'text/plain' } };
    expect(await app.rest('POST', REGISTER, '{}', text).expect(415)).toEqual({ error: { message: 'Unsupported content type' } });
    expect((await app.rest('POST', REGISTER, '{}', text)).headers.get('accept')).toBe('application/json');
    const untyped = await raw(REGISTER, { method: 'POST', headers: { 'content-length': 2 }, body: '{}' });
    expect(untyped).toEqual({ status: 415, body: { error: { message: 'Unsupported content type' } } });
    const encoded = { headers: { 'content-type': 'application/json', 'content-encoding': 'made-up' } };
    await app.rest('POST', REGISTER, '{}', encoded).expect(415);
  });

  it('may be absent, or {}, where none is needed', async () => {
    const { id } = await app.tandem.services.notifications.notify(ann.id);
    await ann.rest('POST', `/notifications/${id}/read`).expect(204);
    await ann.rest('POST', `/notifications/${id}/read`, {}).expect(204);
  });

  it('that is absent where fields are needed lists each of them', async () => {
    const lacking = invalid(
      "request body must have required property 'email'",
      "request body must have required property 'password'",
    );
    expect(await app.rest('POST', REGISTER).expect(400)).toEqual(lacking);
    expect(await app.call('trpc', 'auth.register')).toMatchObject({ data: lacking.error.data });
  });

  it('is never coerced, and all problems are reported at once', async () => {
    for (const face of FACES)
      expect(await app.call(face, 'auth.register', { email: 5, password: 'q-7!', foo: 1, bar: 2 })).toMatchObject({
        status: 400,
        data: [
          'request body/email must be string',
          'request body/password must NOT have fewer than 8 characters',
          "request body must NOT have additional properties: 'foo'",
          "request body must NOT have additional properties: 'bar'",
        ],
      });
  });

  it('with a __proto__ key has an additional property, and pollutes nothing', async () => {
    const body = '{"__proto__":{"email":"x@example.org","isAdmin":true},"constructor":1}';
    const answer = (await app.rest('POST', REGISTER, body).expect(400)) as Envelope;
    expect(answer.error.data).toEqual(
      expect.arrayContaining([
        "request body must have required property 'email'",
        "request body must NOT have additional properties: '__proto__'",
        "request body must NOT have additional properties: 'constructor'",
      ]),
    );
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });

  it('with a key named like a path parameter has an additional property', async () => {
    const body = { identityId: ann.id, lastReadNotificationId: ann.id };
    expect(await ann.rest('POST', `/notifications/identities/${ann.id}/read`, body).expect(400)).toEqual(
      invalid("request body must NOT have additional properties: 'identityId'"),
    );
  });
});

describe('the query', () => {
  const list = (query: string) => ann.rest('GET', `/notifications/identities/${ann.id}?${query}`);

  it('is converted to the declared type; what does not convert is 400', async () => {
    await list('page=2&limit=3').expect(200);
    expect(await list('page=two&limit=').expect(400)).toEqual(
      invalid("query parameter 'page' must be number", "query parameter 'limit' must be number"),
    );
  });

  it('with a repeated or unknown parameter is 400', async () => {
    expect(await list('page=1&page=2&foo=1&__proto__=1').expect(400)).toEqual(
      invalid(
        "query parameter 'foo' is not allowed",
        "query parameter '__proto__' is not allowed",
        "query parameter 'page' must NOT be repeated",
      ),
    );
    expect(await list('identityId=1').expect(400)).toEqual(invalid("query parameter 'identityId' is not allowed"));
  });

  it('is checked on routes with a body too', async () => {
    expect(await app.rest('POST', `${REGISTER}?x=1`, {}).expect(400)).toMatchObject({
      error: { data: expect.arrayContaining(["query parameter 'x' is not allowed"]) as unknown },
    });
    const { id } = await app.tandem.services.notifications.notify(ann.id);
    expect(await ann.rest('POST', `/notifications/${id}/read?x=1`).expect(400)).toEqual(
      invalid("query parameter 'x' is not allowed"),
    );
  });

  it('that is badly percent-encoded is 400', async () => {
    expect(await list('page=%zz').expect(400)).toEqual(invalid('query must be correctly percent-encoded'));
  });
});

describe('the path', () => {
  it('that is badly percent-encoded is 400 in the envelope', async () => {
    for (const path of ['/notifications/identities/%E0%A4%A', '/identities/%zz'])
      expect(await raw(path)).toEqual({ status: 400, body: invalid('path must be correctly percent-encoded') });
  });

  it('is decoded, and checked against its declared format', async () => {
    const admin = await app.signUpAdmin();
    expect(await admin.rest('GET', '/identities/no%20uuid').expect(400)).toEqual(
      invalid('path parameter \'identityId\' must match format "uuid"'),
    );
  });
});

describe('the order of checks', () => {
  const broken = { headers: { 'content-type': 'application/json' } };
  const own = () => `/notifications/identities/${ann.id}/read`;

  it('is authentication, then rules, then the body: malformed, too large or of another type', async () => {
    const big = JSON.stringify({ lastReadNotificationId: 'a'.repeat(1024 * 1024) });
    for (const [body, status] of [
      ['{', 400],
      [big, 413],
    ] as const) {
      await app.rest('POST', own(), body, broken).expect(422, 'Missing authorization header');
      await app.rest('POST', own(), body, { ...broken, accessToken: 'garbage' }).expect(401, 'token could not be verified');
      const stranger = await app.signUp();
      await app.rest('POST', own(), body, { ...broken, ...stranger.credentials }).expect(403, 'Identity ID does not match');
      await app.rest('POST', own(), body, { ...broken, ...ann.credentials }).expect(status);
    }
    await app.rest('POST', own(), 'x', { ...ann.credentials, headers: { 'content-type': 'text/plain' } }).expect(415);
  });

  it('is validation before existence', async () => {
    await ann.rest('POST', own(), { lastReadNotificationId: 'no-uuid' }).expect(400, 'Validation Error');
    await ann.rest('POST', own(), { lastReadNotificationId: ann.id }).expect(404, 'Notification not found');
  });
});

describe('the request id', () => {
  it('is the caller’s where well-formed, else a new one, on every answer', async () => {
    const idFor = async (id: string | undefined, path = '/health/live') =>
      (await fetch(app.url + path, id === undefined ? {} : { headers: { 'x-request-id': id } })).headers.get('x-request-id');
    expect(await idFor('my.id_1-2')).toBe('my.id_1-2');
    expect(await idFor('my id', '/nowhere')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
    expect(await idFor('abc', '/trpc/nothing')).toBe('abc');
  });
});

describe('a malformed request', () => {
  /** Sends raw bytes, and returns everything received. */
  function exchange(bytes: string): Promise<string> {
    const { hostname, port } = new URL(app.url);
    return new Promise((resolve, reject) => {
      let answer = '';
      net
        .connect(Number(port), hostname)
        .on('data', (chunk) => (answer += chunk.toString()))
        .on('error', reject)
        .on('close', () => resolve(answer))
        .write(bytes);
    });
  }

  it('is answered in the envelope, with a request id, and the connection is closed', async () => {
    const garbage = await exchange('this is no HTTP\r\n\r\n');
    expect(garbage).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/);
    expect(garbage).toMatch(/x-request-id: [0-9a-f-]{36}/);
    expect(garbage).toContain('\r\nx-error-code: request.malformed\r\n');
    expect(garbage).toContain('{"error":{"message":"Bad Request"}}');
    expect(await exchange('GET /products HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*"message":"Bad Request"/);
    const long = await exchange(`GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(100_000)}\r\n\r\n`);
    expect(long).toMatch(/^HTTP\/1.1 431 [\s\S]*code: request.headTooLarge\r[\s\S]*"message":"Request Header Fields Too Large"/);
  });
});

it('an expectation that nobody knows is ignored', async () => {
  const answer = await raw('/health/live', { headers: { expect: 'tea' } });
  expect(answer.status).toBe(200);
});

describe('the tRPC face', () => {
  it('refuses a body of another content type after authentication and rules, as REST does', async () => {
    const call = (headers: Record<string, string>) =>
      fetch(`${app.url}/trpc/notifications.markReadUpTo`, { method: 'POST', headers: { 'content-type': 'text/plain', ...headers }, body: '{}' }); // prettier-ignore
    expect((await call({})).status).toBe(422);
    expect((await call({ authorization: 'Bearer garbage' })).status).toBe(401);
    const refused = await call({ authorization: `Bearer ${ann.accessToken}` });
    expect([refused.status, refused.headers.get('accept')]).toEqual([415, 'application/json']);
  });

  it("answers its adapters' refusals with our texts", async () => {
    const messageOf = async (path: string, init?: RequestInit) => {
      const response = await fetch(`${app.url}/trpc/${path}`, init);
      const { error } = (await response.json()) as { error: { message: string; data: { httpStatus: number } } };
      expect(error.data.httpStatus).toBe(response.status);
      return [response.status, error.message];
    };
    const json = { 'content-type': 'application/json' };
    expect(await messageOf('no.such.procedure')).toEqual([404, 'Not Found']);
    expect(await messageOf('auth.login')).toEqual([405, 'Method Not Allowed']);
    expect(await messageOf('identities.list', { method: 'POST', headers: json, body: '{}' })).toEqual([
      405,
      'Method Not Allowed',
    ]);
    expect(await messageOf('auth.login', { method: 'POST', headers: { 'content-type': 'text/css' }, body: 'x' })).toEqual([415, 'Unsupported content type']); // prettier-ignore
    expect(await messageOf('identities.list?input=%7B')).toEqual([422, 'Missing authorization header']);
    expect(await messageOf('notifications.list?input=%7B', { headers: { authorization: `Bearer ${ann.accessToken}` } })).toEqual([400, 'Validation Error']); // prettier-ignore
  });

  it('refuses batches of more than twenty calls', async () => {
    const names = Array.from({ length: 21 }, () => 'identities.list').join(',');
    expect((await fetch(`${app.url}/trpc/${names}?batch=1&input=%7B%7D`)).status).toBe(400);
  });
});
