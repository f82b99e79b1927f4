import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, type CoreServer } from '../test/core-server.js';
import { authenticated, isAuthenticated, publicProcedure, rest, router, type AuthenticatedRequest } from './index.js';

const meta = (route: Parameters<typeof rest>[0]) => rest(route, { summary: 'of a test', failure: 'Failed' });
const who = { id: z.string() };
const service = (name: string) =>
  router({
    read: authenticated.meta(meta(`GET /${name}`)).output(z.object(who)).query(({ ctx }) => ({ id: ctx.identity.id })), // prettier-ignore
    write: authenticated.meta(meta(`POST /${name}`)).output(z.object(who)).mutation(({ ctx }) => ({ id: ctx.identity.id })), // prettier-ignore
    open: publicProcedure.meta(meta(`PUT /${name}`)).output(z.void()).mutation(() => {}), // prettier-ignore
    look: publicProcedure.meta(meta(`GET /${name}/open`)).output(z.void()).query(() => {}), // prettier-ignore
  });

let server: CoreServer;
beforeAll(async () => {
  server = await startCoreServer(router({ bearers: service('bearers'), cookies: service('cookies') }), {
    prepare(host, facts) {
      const answer = [
        (req: object, res: http.ServerResponse) => void res.end(JSON.stringify((req as AuthenticatedRequest).identity.id)),
      ];
      host.all('/hosts', isAuthenticated(facts), ...(answer as []));
      host.all('/hosts/cookies', isAuthenticated(facts, 'cookies'), ...(answer as []));
    },
  });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Status, and the id or the text of the error. `fetch` would join repeated headers. */
async function ask(method: string, path: string, headers: string[]): Promise<[number, string | undefined]> {
  const request = http.request(server.url + path, { method, headers: ['host', 'x', 'connection', 'close', ...headers] as never });
  request.end();
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve));
  const text = (await response.toArray()).join('');
  const body = text === '' ? {} : (JSON.parse(text) as { id?: string; error?: { message: string } } | string);
  return [response.statusCode ?? 0, typeof body === 'string' ? body : (body.id ?? body.error?.message)];
}
const bearer = (token: string) => ['authorization', `Bearer ${token}`];
const cookie = (text: string) => ['cookie', text];
const print = (text: string) => ['x-nb-fingerprint', text];

describe('bearer authentication', () => {
  const rows: [what: string, headers: string[], answer: [number, string]][] = [
    ['a token', bearer('ann'), [200, 'ann']],
    ['no header', [], [422, 'Missing authorization header']],
    ['a cookie alone', cookie('accessToken=ann'), [422, 'Missing authorization header']],
    ['an empty header', ['authorization', ''], [422, 'Incorrect authorization of token header']],
    ['another scheme', ['authorization', 'Basic ann'], [422, 'Incorrect authorization of token header']],
    ['a scheme before it', ['authorization', 'X Bearer ann'], [422, 'Incorrect authorization of token header']],
    ['two words', bearer('ann bob'), [422, 'Incorrect authorization of token header']],
    ['a header that is given twice', [...bearer('ann'), 'Authorization', 'Bearer ann'], [422, 'Incorrect authorization of token header']],
    ['an unknown token', bearer('nobody'), [401, 'token could not be verified']],
    ['the fingerprint of its login', [...bearer('phone'), ...print('own')], [200, 'phone']],
    ['another fingerprint', [...bearer('phone'), ...print('other')], [401, 'Token fails security check']],
    ['no fingerprint where one was given', bearer('phone'), [401, 'Token fails security check']],
    ['a fingerprint where none was given', [...bearer('ann'), ...print('own')], [401, 'Token fails security check']],
    ['a fingerprint of 512 characters', [...bearer('ann'), ...print('x'.repeat(512))], [401, 'Token fails security check']],
    ['a longer fingerprint', [...bearer('ann'), ...print('x'.repeat(513))], [422, 'Incorrect format of x-nb-fingerprint header']],
    ['two fingerprints', [...bearer('phone'), ...print('own'), ...print('own')], [422, 'Incorrect format of x-nb-fingerprint header']],
    ['a malformed fingerprint of an unknown token', [...bearer('nobody'), ...print('x'.repeat(513))], [422, 'Incorrect format of x-nb-fingerprint header']],
  ]; // prettier-ignore
  it.each(rows)('%s', async (_what, headers, answer) => {
    expect(await ask('GET', '/bearers', headers)).toEqual(answer);
  });
});

describe('cookie authentication', () => {
  const rows: [what: string, headers: string[], answer: [number, string]][] = [
    ['a cookie', cookie('accessToken=ann'), [200, 'ann']],
    ['no cookie', [], [401, 'Unable to detect access token']],
    ['an empty cookie', cookie('accessToken='), [401, 'Unable to detect access token']],
    ['a bearer alone', bearer('ann'), [401, 'Unable to detect access token']],
    ['a malformed bearer', ['authorization', 'ann'], [422, 'Incorrect authorization of token header']],
    ['a bearer of the same identity', [...cookie('accessToken=ann'), ...bearer('ann')], [200, 'ann']],
    ['a bearer of another identity', [...cookie('accessToken=ann'), ...bearer('bob')], [422, 'Cookie and bearer did not match']],
    ['two values', cookie('accessToken=ann; accessToken=bob'), [401, 'Unable to detect access token']],
    ['one value twice', cookie('accessToken=ann; accessToken=ann'), [200, 'ann']],
    ['two values of another cookie', cookie('a=1; accessToken=ann;a=2'), [200, 'ann']],
    ['a value with an equals sign', cookie('accessToken=a=b'), [401, 'token could not be verified']],
    ['a value that the parser makes an object of', cookie('accessToken=j:{"a":1}'), [401, 'Unable to detect access token']],
  ]; // prettier-ignore
  it.each(rows)('%s', async (_what, headers, answer) => {
    expect(await ask('GET', '/cookies', headers)).toEqual(answer);
  });
});

describe('in cookie mode, state-changing requests must come from an allowed origin', () => {
  const ann = cookie('accessToken=ann');
  const refused = [403, 'Origin is not allowed'];
  const rows: [what: string, headers: string[], isAllowed: boolean][] = [
    ['neither Origin nor Referer', [], true],
    ['an allowed origin', ['origin', 'https://app.example.org'], true],
    ['another origin', ['origin', 'https://evil.example.org'], false],
    ['another origin, and an allowed page', ['origin', 'https://evil.example.org', 'referer', 'https://app.example.org/'], false],
    ['an allowed page', ['referer', 'https://app.example.org/some/page'], true],
    ['another page', ['referer', 'https://evil.example.org/app.example.org'], false],
    ['no address', ['origin', 'null'], false],
  ];
  it.each(rows)('%s', async (_what, headers, isAllowed) => {
    const both = [...ann, ...headers];
    expect(await ask('POST', '/cookies', both)).toEqual(isAllowed ? [200, 'ann'] : refused);
    expect(await ask('PUT', '/cookies', both)).toEqual(isAllowed ? [204, undefined] : refused);
    expect(await ask('POST', '/hosts/cookies', both)).toEqual(isAllowed ? [200, 'ann'] : refused);
    for (const path of ['/cookies', '/hosts/cookies']) expect(await ask('GET', path, both)).toEqual([200, 'ann']);
    expect(await ask('GET', '/cookies/open', both)).toEqual([204, undefined]);
    expect(await ask('PUT', '/bearers', headers)).toEqual([204, undefined]);
    expect(await ask('POST', '/bearers', [...headers, ...bearer('ann')])).toEqual([200, 'ann']);
    expect(await ask('POST', '/hosts', [...headers, ...bearer('ann')])).toEqual([200, 'ann']);
  });

  it.each(['HEAD', 'OPTIONS'])('%s of a host’s route changes nothing', async (method) => {
    const headers = [...ann, 'origin', 'https://evil.example.org'];
    expect((await ask(method, '/hosts/cookies', headers))[0]).toBe(200);
  });
});
