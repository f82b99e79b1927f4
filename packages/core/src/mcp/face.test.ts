import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, type CoreServer } from '../../test/core-server.js';
import { authenticatedRoute, publicProcedure, publicRoute, requestErrors, router } from '../index.js';
import { createMcpFace } from './face.js';

const failure = 'Failed to find tea';
const output = z.unknown();
const never = () => new Promise<never>(() => {});

const app = router({
  teas: router({
    list: publicRoute('GET /teas', { summary: 'Teas', failure })
      .input(z.strictObject({ kind: z.string().optional() }))
      .output(output)
      .query(({ input }) => [input]),
    brew: publicRoute('POST /teas/{teaId}', { summary: 'Brew', failure, status: 204 })
      .input(z.strictObject({ teaId: z.string() }))
      .mutation(() => {}),
    break: publicRoute('POST /breaks', { summary: 'Break', failure })
      .output(output)
      .mutation(() => {
        throw new Error('the pot at 10.0.0.1 broke');
      }),
    wait: publicRoute('POST /waits', { summary: 'Wait', failure }).output(output).mutation(never),
    later: publicRoute('POST /later', { summary: 'Later', failure, errors: [requestErrors.tooMany] })
      .output(output)
      .mutation(() => {
        throw requestErrors.tooMany({ retryAfter: 7 });
      }),
    steam: publicProcedure.subscription(async function* () {
      await Promise.resolve();
      yield 1;
    }),
    unrouted: publicProcedure.query(() => 1),
  }),
  cookies: router({
    me: authenticatedRoute('POST /me', { summary: 'Me', failure })
      .output(output)
      .mutation(({ ctx }) => ctx.identity.id),
  }),
  hidden: router({ tea: publicRoute('GET /hidden', { summary: 'Hidden tea', failure }).output(output).query(() => 1) }), // prettier-ignore
});

let server: CoreServer;
beforeAll(async () => {
  const services = [{ name: 'teas', description: 'What is drunk' }];
  server = await startCoreServer(app, {
    facts: { deadlineMs: 300, inputLimits: { teas: 100 } },
    prepare: (host, facts) =>
      void host.use(createMcpFace(app, facts, { name: 'Shop', version: '3', services, bodyLimit: 4000, without: ['hidden'] })),
  });
});
afterAll(() => server[Symbol.asyncDispose]());

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/mcp`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

/** The JSON of an answer, or that of its only event. */
async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as Record<string, unknown>;
}

async function tool(name: string, args: object, headers?: Record<string, string>) {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const { result } = await jsonOf(await post(JSON.stringify(message), headers));
  return (result as { structuredContent: Record<string, unknown> }).structuredContent;
}
const call = (operation: string, input?: unknown, headers?: Record<string, string>) =>
  tool('call_operation', { operation, input }, headers);
const refused = (status: number, message: string) => ({
  status,
  body: { error: { message } },
  errorCode: expect.any(String) as string,
});

describe('a call', () => {
  it('has the input of tRPC, absent too', async () => {
    expect(await call('teas.list')).toEqual({ status: 200, body: [{}] });
    expect(await call('teas.list', { kind: 'green' })).toEqual({ status: 200, body: [{ kind: 'green' }] });
    expect(await call('teas.brew', { teaId: 'a' })).toEqual({ status: 204 });
    expect(await call('teas.list', [])).toMatchObject({ status: 400 });
    expect(await call('teas.list', null)).toMatchObject({ status: 400 });
  });

  it('that fails shows nothing of why, and is logged once', async () => {
    const before = server.lines.length;
    expect(await call('teas.break')).toEqual(refused(500, failure));
    expect(server.lines.slice(before).map(({ level, text }) => `${level} ${text}`)).toEqual(['error unexpected failure']);
    expect(JSON.stringify(server.lines.slice(before))).toContain('teas.break');
  });

  it('has the deadline and the limits of input of REST, and says when to call again', async () => {
    expect(await call('teas.wait')).toEqual({ ...refused(503, 'Service Unavailable'), retryAfter: 2 });
    expect(await call('teas.later')).toEqual({ ...refused(429, 'Too many requests'), retryAfter: 7 });
    expect(await call('teas.list', { kind: 'x'.repeat(100) })).toEqual(refused(413, 'request entity too large'));
  });

  it('takes a bearer token also where the service takes cookies, which are ignored', async () => {
    expect(await call('cookies.me', {}, { cookie: 'accessToken=ann' })).toEqual(refused(422, 'Missing authorization header'));
    expect(await call('cookies.me', {}, { authorization: 'Bearer ann' })).toEqual({ status: 200, body: 'ann' });
    const both = { authorization: 'Bearer ann', cookie: 'accessToken=bob' };
    expect(await call('cookies.me', {}, both)).toEqual({ status: 200, body: 'ann' });
  });

  it('reaches no stream, no procedure without a route, and no service that is left out', async () => {
    for (const name of ['teas.steam', 'teas.unrouted', 'hidden.tea', 'hasOwnProperty'])
      expect(await call(name, {})).toEqual(refused(404, 'Not Found'));
    expect(await tool('search_operations', { query: 'hidden' })).toEqual({
      operations: [],
      services: [
        { name: 'cookies', description: '' },
        { name: 'teas', description: 'What is drunk' },
      ],
    });
  });
});

describe('a request', () => {
  const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

  it('of another origin is refused, before its body is read', async () => {
    for (const origin of ['https://evil.example.org', 'null', 'nonsense']) {
      const response = await post('{', { origin });
      expect([response.status, await response.json()]).toEqual([403, { error: { message: 'Origin is not allowed' } }]);
    }
    expect((await post(LIST, { origin: 'https://app.example.org' })).status).toBe(200);
  });

  it.each(['GET', 'DELETE', 'PUT', 'OPTIONS'])('by %s is 405: there are no sessions and no streams', async (method) => {
    const response = await fetch(`${server.url}/mcp`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await response.json()).toEqual({ error: { message: 'Method Not Allowed' } });
  });

  it('has a JSON body within the limit, else the envelope', async () => {
    const large = await post(`"${'x'.repeat(4000)}"`);
    expect([large.status, await large.json()]).toEqual([413, { error: { message: 'request entity too large' } }]);
    const text = await post(LIST, { 'content-type': 'text/plain' });
    expect([text.status, await text.json()]).toEqual([415, { error: { message: 'Unsupported content type' } }]);
  });

  it.each([
    ['no JSON', '{', -32700],
    ['nothing', '', -32700],
    ['a batch', `[${LIST},${LIST}]`, -32600],
    ['wider than any', `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[${'0,'.repeat(1000)}0]}}`, -32600],
  ])('that is %s is refused as the protocol says', async (_, body, code) => {
    const response = await post(body);
    expect(response.status).toBe(400);
    expect(await jsonOf(response)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code } });
  });

  it('is not kept by caches', async () => {
    expect((await post(LIST)).headers.get('cache-control')).toBe('no-store');
  });

  it('to listen for changes ends at once: there are none', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const params = { _meta: meta, notifications: { toolsListChanged: true } };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params });
    const response = await post(message, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' });
    expect(await response.text()).toContain('"resultType":"complete"');
  });
});
