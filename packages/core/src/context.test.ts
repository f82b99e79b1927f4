import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, type CoreServer } from '../test/core-server.js';
import { publicProcedure, rest, router, type CookiePrefix } from './index.js';

const meta = (route: Parameters<typeof rest>[0]) => rest(route, { summary: 'of a test', failure: 'Failed' });
const app = router({
  requests: router({
    show: publicProcedure
      .meta(meta('GET /'))
      .output(z.object({ cookies: z.unknown(), ip: z.string(), userAgent: z.string(), requestId: z.string() }))
      .query(({ ctx: { cookies, ip, userAgent, requestId } }) => ({ cookies, ip, userAgent, requestId })),
    set: publicProcedure
      .meta(meta('POST /'))
      .output(z.void())
      .mutation(({ ctx }) => {
        ctx.setCookie('a', '1', { path: '/deep', httpOnly: true });
        ctx.clearCookie('b', { path: '/deep' });
      }),
  }),
});

const servers = new Map<CookiePrefix, CoreServer>();
beforeAll(async () => {
  for (const cookiePrefix of ['', '__Host-', '__Secure-'] as const)
    servers.set(
      cookiePrefix,
      await startCoreServer(app, {
        facts: { cookiePrefix },
        prepare(host) {
          host.set('trust proxy', 'loopback');
          host.use((req, _res, next) => {
            if (req.headers['x-id'] !== undefined) Object.assign(req, { id: req.headers['x-id'] });
            next();
          });
        },
      }),
    );
});
afterAll(() => Promise.all([...servers.values()].map((server) => server[Symbol.asyncDispose]())));

async function show(headers: Record<string, string>, prefix: CookiePrefix = ''): Promise<Record<string, unknown>> {
  const { url } = servers.get(prefix) as CoreServer;
  const request = http.get(url, { headers });
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve));
  return JSON.parse((await response.toArray()).join('')) as Record<string, unknown>;
}

describe('the cookies of a request', () => {
  const rows: [header: string, prefix: CookiePrefix, cookies: object][] = [
    ['a=1; b=2', '', { a: '1', b: '2' }],
    ['a=1;a=1 ; b=2', '', { a: '1', b: '2' }],
    ['a=1; a=2; b=2', '', { b: '2' }],
    ['a=1; a=2; a=1; b=2', '', { b: '2' }],
    ['a=1=2; a=1=3; b=2', '', { b: '2' }],
    ['a=j:{"x":1}; b=2', '', { b: '2' }],
    ['__Host-a=1; a=2; __Secure-a=3', '__Host-', { a: '1' }],
    ['__Host-a=1; a=2; __Secure-a=3', '__Secure-', { a: '3' }],
    ['x__Host-a=1', '__Host-', {}],
  ];
  it.each(rows)('%s with the prefix %j', async (cookie, prefix, cookies) => {
    expect((await show({ cookie }, prefix)).cookies).toEqual(cookies);
  });

  it('are none without the header', async () => {
    expect((await show({})).cookies).toEqual({});
  });

  it.each([
    ['', ['a=1; Path=/deep; HttpOnly', 'b=; Path=/deep; Expires=Thu, 01 Jan 1970 00:00:00 GMT']],
    ['__Host-', ['__Host-a=1; Path=/; HttpOnly', '__Host-b=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT']],
    ['__Secure-', ['__Secure-a=1; Path=/deep; HttpOnly', '__Secure-b=; Path=/deep; Expires=Thu, 01 Jan 1970 00:00:00 GMT']],
  ] as const)('are set and cleared with the prefix %j, of which __Host- is for all paths', async (prefix, cookies) => {
    const answer = await (servers.get(prefix) as CoreServer).ask('POST', '/');
    expect(answer.headers.getSetCookie()).toEqual(cookies);
  });
});

describe('the client address', () => {
  const rows: [forwarded: string, ip: string][] = [
    ['203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['::ffff:abcd', '::ffff:abcd'],
    ['nonsense', '127.0.0.1'],
    ['203.0.113.9, nonsense', '127.0.0.1'],
    ['nonsense, 127.0.0.2', '127.0.0.2'],
  ];
  it.each(rows)('forwarded as %s is %s', async (forwarded, ip) => {
    expect((await show({ 'x-forwarded-for': forwarded })).ip).toBe(ip);
  });

  it('without a proxy is that of the connection', async () => {
    expect((await show({})).ip).toBe('127.0.0.1');
  });
});

it('a request keeps the id it was given, and 512 characters of its user agent', async () => {
  expect(await show({ 'x-id': 'mine', 'user-agent': 'x'.repeat(600) })).toMatchObject({
    requestId: 'mine',
    userAgent: 'x'.repeat(512),
  });
  expect(await show({})).toMatchObject({ requestId: '', userAgent: '' });
});
