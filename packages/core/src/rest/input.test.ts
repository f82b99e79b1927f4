import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, type CoreServer } from '../../test/core-server.js';
import { publicProcedure, requestErrors, rest, router } from '../index.js';

const meta = (route: Parameters<typeof rest>[0], options = {}) =>
  rest(route, { summary: 'of a test', failure: 'Failed to echo', ...options });
const shown = z.object({ input: z.unknown() });
const show = ({ input }: { input: unknown }) => ({ input });
const Query = z.strictObject({
  id: z.string(),
  n: z.number().optional(),
  yes: z.boolean().default(false),
  tags: z.array(z.string()).optional(),
  text: z.string().optional(),
});
const Body = z.strictObject({ id: z.string(), n: z.number(), __proto__: z.unknown().optional() });
type Tree = { below?: Tree | undefined };
const Tree: z.ZodType<Tree> = z.lazy(() => z.strictObject({ below: Tree.optional() }));

const app = router({
  echo: router({
    query: publicProcedure.meta(meta('GET /echo/{id}')).input(Query).output(shown).query(show),
    remove: publicProcedure.meta(meta('DELETE /echo/{id}')).input(Query).output(shown).mutation(show),
    removeBy: publicProcedure
      .meta(meta('DELETE /by/{id}', { hasBody: true }))
      .input(Body)
      .output(shown)
      .mutation(show),
    body: publicProcedure.meta(meta('POST /echo/{id}')).input(Body).output(shown).mutation(show),
    created: publicProcedure
      .meta(meta('PUT /echo/{id}', { status: 201 }))
      .input(Body)
      .output(shown)
      .mutation(show),
    list: publicProcedure.meta(meta('POST /lists/{id}', { bodyKey: 'items' })).input(z.strictObject({ id: z.string(), items: z.array(z.number()) })).output(shown).mutation(show), // prettier-ignore
    form: publicProcedure.meta(meta('POST /forms/{id}', { isForm: true })).input(z.looseObject({ id: z.string(), text: z.string().optional() })).output(shown).mutation(show), // prettier-ignore
    free: publicProcedure.meta(meta('POST /free')).input(z.strictObject({ id: z.string().refine(async (id) => Promise.resolve(id !== 'taken')) })).output(shown).mutation(show), // prettier-ignore
    tree: publicProcedure.meta(meta('POST /trees')).input(z.strictObject({ tree: Tree })).output(z.void()).mutation(() => {}), // prettier-ignore
    nothing: publicProcedure.meta(meta('POST /nothing')).output(z.void()).mutation(() => {}), // prettier-ignore
    closed: publicProcedure.meta(meta('GET /closed')).output(z.void()).query(() => { throw requestErrors.tooMany({ retryAfter: 3 }); }), // prettier-ignore
  }),
  small: router({
    body: publicProcedure.meta(meta('POST /small/{id}')).input(Body).output(shown).mutation(show),
  }),
});

let server: CoreServer;
beforeAll(async () => {
  server = await startCoreServer(app, { bodyLimit: 1000, facts: { inputLimits: { small: 50 } } });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Status, and the input that the procedure received, or the problems, or the text of the error. */
async function ask(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<unknown[]> {
  const answer = await server.ask(method, path, { headers, ...(body !== undefined && { body }) });
  const { input, error } = (answer.body ?? {}) as { input?: unknown; error?: { message: string; data?: unknown } };
  return [answer.status, error ? (Array.isArray(error.data) ? error.data : error.message) : input];
}

describe('a query', () => {
  const rows: [query: string, answer: unknown[]][] = [
    ['', [200, { id: 'a', yes: false }]],
    ['?', [200, { id: 'a', yes: false }]],
    ['?n=5&yes=true&text=5', [200, { id: 'a', n: 5, yes: true, text: '5' }]],
    ['?n=-1.5&yes=false', [200, { id: 'a', n: -1.5, yes: false }]],
    ['?text=a%20b+c%3D', [200, { id: 'a', yes: false, text: 'a b c=' }]],
    ['?tags=x', [200, { id: 'a', yes: false, tags: ['x'] }]],
    ['?tags=x&tags=y', [200, { id: 'a', yes: false, tags: ['x', 'y'] }]],
    ['?n=1e3', [400, ["query parameter 'n' must be number"]]],
    ['?n=5x', [400, ["query parameter 'n' must be number"]]],
    ['?n=x5', [400, ["query parameter 'n' must be number"]]],
    ['?n=5.', [400, ["query parameter 'n' must be number"]]],
    ['?n=', [400, ["query parameter 'n' must be number"]]],
    ['?yes=1', [400, ["query parameter 'yes' must be boolean"]]],
    ['?n=1&n=2&n=3', [400, ["query parameter 'n' must NOT be repeated"]]],
    ['?id=b', [400, ["query parameter 'id' is not allowed"]]],
    ['?other=1&other=2', [400, ["query parameter 'other' must NOT be repeated"]]],
    ['?constructor=1', [400, ["query parameter 'constructor' is not allowed"]]],
    ['?n=x&yes=1&id=b', [400, ["query parameter 'n' must be number", "query parameter 'yes' must be boolean", "query parameter 'id' is not allowed"]]],
    ['?text=%zz', [400, ['query must be correctly percent-encoded']]],
  ]; // prettier-ignore
  it.each(rows)('%s', async (query, answer) => {
    const [status, given] = answer;
    for (const method of ['GET', 'DELETE']) {
      const found = await ask(method, `/echo/a${query}`);
      // the schema reports an unknown key; a repeated one is reported once more
      expect(found).toEqual([
        status,
        query.startsWith('?other') ? ["query parameter 'other' is not allowed", ...(given as string[])] : given,
      ]);
    }
  });

  it('of a call with a body must be empty', async () => {
    expect(await ask('POST', '/echo/a?n=5', '{"n":1}')).toEqual([400, ["query parameter 'n' is not allowed"]]);
    // a schema that looks something up
    expect(await ask('POST', '/free?n=5', '{"id":"b"}')).toEqual([400, ["query parameter 'n' is not allowed"]]);
  });
});

describe('a form', () => {
  const FORM = { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' };
  const rows: [form: string, answer: unknown[]][] = [
    ['text=a+b%3D%C3%A9&n=5&yes', [200, { id: 'a', text: 'a b=é', n: '5', yes: '' }]],
    ['', [200, { id: 'a' }]],
    ['text=%zz', [200, { id: 'a', text: '%zz' }]],
    ['constructor=1', [200, { id: 'a', constructor: '1' }]],
    ['text=1&text=2', [400, ['request body/text must be string']]],
    ['id=b', [400, ["request body must NOT have additional properties: 'id'"]]],
    [`text=${'x'.repeat(1000)}`, [413, 'request entity too large']],
  ]; // prettier-ignore
  it.each(rows)('%s', async (form, answer) => {
    expect(await ask('POST', '/forms/a', form, FORM)).toEqual(answer);
  });

  it('is taken where one is expected alone, and so is JSON', async () => {
    expect(await ask('POST', '/echo/a', 'n=5', FORM)).toEqual([415, 'Unsupported content type']);
    expect(await ask('POST', '/forms/a', '{"text":"é"}', { 'content-type': 'application/json' })).toEqual([200, { id: 'a', text: 'é' }]); // prettier-ignore
    expect(await ask('POST', '/forms/a', 'text=5', { 'content-type': 'text/plain' })).toEqual([415, 'Unsupported content type']);
  });
});

describe('a body', () => {
  const invalid = (...problems: string[]) => [400, problems];
  const rows: [body: string | undefined, answer: unknown[]][] = [
    ['{"n":5}', [200, { id: 'a', n: 5 }]],
    ['{"n":"5"}', invalid('request body/n must be number')],
    [undefined, invalid("request body must have required property 'n'")],
    ['{"n":', invalid('request body must be valid JSON')],
    ['[]', invalid('request body must be object')],
    ['null', invalid('request body must be object')],
    ['5', invalid('request body must be object')],
    ['{"n":5,"id":"b"}', invalid("request body must NOT have additional properties: 'id'")],
    ['{"n":"5","id":"b","x":1}', invalid('request body/n must be number', "request body must NOT have additional properties: 'x'", "request body must NOT have additional properties: 'id'")],
    [`{"n":5,"x":"${'x'.repeat(1000)}"}`, [413, 'request entity too large']],
  ]; // prettier-ignore
  it.each(rows)('%s', async (body, answer) => {
    expect(await ask('POST', '/echo/a', body)).toEqual(answer);
    expect(await ask('DELETE', '/by/a', body)).toEqual(answer);
  });

  it('of a list is the list, and nothing else', async () => {
    expect(await ask('POST', '/lists/a', '[1,2]')).toEqual([200, { id: 'a', items: [1, 2] }]);
    expect(await ask('POST', '/lists/a', '{"items":[1]}')).toEqual(invalid('request body must be array'));
    expect(await ask('POST', '/lists/a')).toEqual(invalid('request body must be array'));
    expect(await ask('POST', '/lists/a?x=1', '[1]')).toEqual(invalid("query parameter 'x' is not allowed"));
  });

  it('is JSON by its content type', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'application/merge-patch+json',
      'Application/JSON',
    ])
      expect(await ask('POST', '/echo/a', '{"n":5}', { 'content-type': type })).toEqual([200, { id: 'a', n: 5 }]);
    for (const type of ['text/plain', 'application/jsonp', 'xapplication/json', 'application/x/+json', ''])
      expect(await ask('POST', '/echo/a', '{"n":5}', { 'content-type': type })).toEqual([415, 'Unsupported content type']);
  });

  it('of no length is absent, whatever its content type', async () => {
    expect(await ask('POST', '/nothing', '', { 'content-type': 'text/plain' })).toEqual([204, undefined]);
    expect(await ask('POST', '/nothing', '{}')).toEqual([204, undefined]);
    expect(await ask('POST', '/nothing')).toEqual([204, undefined]);
  });

  it('in chunks is read, also when no chunk comes', async () => {
    async function chunked(chunks: string[]): Promise<number> {
      const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
      const request = http.request(`${server.url}/echo/a`, { method: 'POST', headers });
      for (const chunk of chunks) request.write(chunk);
      request.end();
      const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve));
      response.resume();
      return response.statusCode ?? 0;
    }
    expect(await chunked(['{"n"', ':5}'])).toBe(200);
    expect(await chunked([])).toBe(400);
    expect(await chunked(['['])).toBe(400);
  });

  it('may have a lower limit for a service, on both faces; the rest of it is not read', async () => {
    const body = `{"n":5,"x":"${'x'.repeat(50)}"}`;
    const answer = await server.ask('POST', '/small/a', { body });
    expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'close']);
    expect(await ask('POST', '/small/a', '{"n":5}')).toEqual([200, { id: 'a', n: 5 }]);
    expect(await ask('POST', '/trpc/small.body', `{"id":"a",${body.slice(1)}`)).toEqual([413, 'request entity too large']);
    expect(await ask('POST', '/echo/a', body)).toEqual([400, ["request body must NOT have additional properties: 'x'"]]);
  });

  it('with a key `__proto__` changes no prototype', async () => {
    expect(await ask('POST', '/echo/a', '{"n":5,"__proto__":{"id":"b"}}')).toEqual([400, ["request body must NOT have additional properties: '__proto__'"]]); // prettier-ignore
  });

  it('nested too deeply is refused', async () => {
    const deep = `{"tree":${'{"below":'.repeat(20_000)}{}${'}'.repeat(20_000)}}`;
    await using roomy = await startCoreServer(app, { bodyLimit: '1mb' });
    const answer = await roomy.ask('POST', '/trees', { body: deep });
    expect(answer).toMatchObject({ status: 400, body: { error: { data: ['request body must NOT be nested so deeply'] } } });
  });
});

describe('an answer', () => {
  it('has the status of its operation, is JSON, and must not be cached', async () => {
    const answer = await server.ask('PUT', '/echo/a', { body: '{"n":5}' });
    expect(answer.status).toBe(201);
    const head = ['content-type', 'content-length', 'cache-control'].map((name) => answer.headers.get(name));
    expect(head).toEqual(['application/json; charset=utf-8', String(JSON.stringify(answer.body).length), 'no-store']);
    const tRPC = await server.ask('GET', `/trpc/echo.query?input=${encodeURIComponent('{"id":"é"}')}`);
    expect([tRPC.status, tRPC.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  it('of an error says when to retry', async () => {
    const answer = await server.ask('GET', '/closed');
    expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('connection')]).toEqual([
      429,
      '3',
      'keep-alive',
    ]);
  });

  it('to an unknown path, also one in another case, is 404', async () => {
    for (const path of ['/', '/none', '/Echo/a', '/echo']) expect(await ask('GET', path)).toEqual([404, 'Not Found']);
    expect(await ask('PATCH', '/echo/a')).toEqual([404, 'Not Found']);
    expect(await ask('GET', '/echo/%zz')).toEqual([400, ['path must be correctly percent-encoded']]);
  });
});

describe('the tRPC face', () => {
  const call = (path: string, body: string, type = 'application/json') =>
    ask('POST', `/trpc/${path}`, body, { 'content-type': type }).then(([status, text]) => [status, text]);

  it('refuses another content type, a missing body, unknown paths and methods with our texts', async () => {
    expect(await call('echo.body', '{"id":"a","n":5}', 'text/plain')).toEqual([415, 'Unsupported content type']);
    expect((await call('echo.body', '{"id":"a","n":5}', 'application/merge-patch+json'))[0]).toBe(200);
    expect(await call('echo.body', '{')).toEqual([400, 'Validation Error']);
    expect(await call('echo.none', '{}')).toEqual([404, 'Not Found']);
    expect(await call('echo.query', '{"id":"a"}')).toEqual([405, 'Method Not Allowed']);
    expect(await call('echo.body', `{"id":"${'a'.repeat(1000)}"}`)).toEqual([413, 'request entity too large']);
  });

  it('accepts 20 calls in a batch, and no more', async () => {
    const batch = async (calls: number) => {
      const names = Array.from({ length: calls }, () => 'echo.query').join(',');
      const input = JSON.stringify(Object.fromEntries(Array.from({ length: calls }, (_, n) => [n, { id: 'a' }])));
      return (await server.ask('GET', `/trpc/${names}?batch=1&input=${encodeURIComponent(input)}`)).status;
    };
    expect([await batch(20), await batch(21)]).toEqual([200, 400]);
  });
});
