import type { Express } from 'express';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer } from '../../test/core-server.js';
import { defineErrors, publicProcedure, requestErrors, rest, router } from '../index.js';

const errors = defineErrors('things', { busy: [409, 'Thing is busy'] });
const meta = (route: Parameters<typeof rest>[0]) => rest(route, { summary: 'of a test', failure: 'Failed' });
const Named = z.strictObject({ id: z.string() });
const show = (route: Parameters<typeof rest>[0]) =>
  publicProcedure.meta(meta(route)).input(Named).output(z.string()).query(({ input }) => `of ${input.id}`); // prettier-ignore

describe('a request', () => {
  it('goes to the route that names it, by words before parameters and with regard to case', async () => {
    const mine = publicProcedure.meta(meta('GET /things/mine')).output(z.string()).query(() => 'mine'); // prettier-ignore
    const root = publicProcedure.meta(meta('GET /')).output(z.string()).query(() => 'root'); // prettier-ignore
    const parts = show('GET /things/{id}/parts');
    await using served = await startCoreServer(router({ parts, one: show('GET /things/{id}'), mine, root }));
    const bodyOf = async (path: string) => (await served.ask('GET', path)).body;
    expect(await bodyOf('/things/mine')).toBe('mine');
    expect(await bodyOf('/things/MINE')).toBe('of MINE');
    expect(await bodyOf('/things/a%2Fb/parts')).toBe('of a/b');
    expect(await bodyOf('/')).toBe('root');
    expect((await served.ask('GET', '/things/a/PARTS')).status).toBe(404);
  });

  it('waits for its turn once before its body is read, and not without one', async () => {
    const set = publicProcedure.meta(meta('POST /things')).input(Named).output(z.void()).mutation(() => {}); // prettier-ignore
    const turns: string[] = [];
    const facts = { bodyTurn: ({ ip }: { ip: string }) => Promise.resolve(void turns.push(ip)) };
    await using served = await startCoreServer(router({ set, one: show('GET /things/{id}') }), { facts });
    expect((await served.ask('GET', '/things/a')).status).toBe(200);
    expect(turns).toHaveLength(0);
    expect((await served.ask('POST', '/things', { body: '{"id":"a"}' })).status).toBe(204);
    expect(turns).toHaveLength(1);
  });
});

it('a path parameter that the input does not have is refused when the routes are mounted', async () => {
  const parts = publicProcedure.meta(meta('GET /things/{thingId}/parts/{id}')).input(Named).output(z.void()).query(() => {}); // prettier-ignore
  const text = 'things.parts: the input has no key "thingId" for the path parameter of GET /things/{thingId}/parts/{id}';
  await expect(startCoreServer(router({ things: router({ parts }) }))).rejects.toThrow(new TypeError(text));
  const none = publicProcedure.meta(meta('GET /things/{id}')).output(z.void()).query(() => {}); // prettier-ignore
  await expect(startCoreServer(router({ none }))).rejects.toThrow('none: the input has no key "id"');
});

describe('an error', () => {
  const own = publicProcedure.meta(meta('POST /own')).output(z.void()).mutation(({ ctx }) => { ctx.setHeader('accept', 'image/png'); throw requestErrors.unsupportedType(); }); // prettier-ignore
  const busy = publicProcedure.meta(meta('GET /busy')).output(z.void()).query(() => { throw errors.busy(); }); // prettier-ignore
  const large = publicProcedure.meta(meta('GET /large')).output(z.unknown()).query(() => ({ n: 1n })); // prettier-ignore
  const set = publicProcedure.meta(meta('POST /set')).input(Named).output(z.void()).mutation(() => {}); // prettier-ignore
  const prepare = (host: Express) => {
    host.use((req, _res, next) => {
      Object.assign(req, { id: 'request-1' });
      next();
    });
    host.get('/host/later', () => {
      throw requestErrors.tooMany({ retryAfter: 7 });
    });
    host.get('/host/now', () => {
      throw requestErrors.tooMany();
    });
    host.get('/host/fails', () => {
      throw new TypeError('secret detail of ann@example.org');
    });
    host.get('/host/begun', (_req, res) => {
      res.write('begun');
      throw new Error('too late for an answer');
    });
  };
  const start = () => startCoreServer(router({ own, set, busy, large }), { prepare });

  it('of a content type names the one that is accepted, unless its route has named another', async () => {
    await using served = await start();
    const request = { body: 'text', headers: { 'content-type': 'text/plain' } };
    const accepted = async (...[method, path, given]: Parameters<typeof served.ask>) => {
      const { status, headers } = await served.ask(method, path, given);
      return [status, headers.get('accept')];
    };
    expect(await accepted('POST', '/set', request)).toEqual([415, 'application/json']);
    expect(await accepted('POST', '/own')).toEqual([415, 'image/png']);
    expect(await accepted('GET', '/busy')).toEqual([409, null]);
  });

  it('says when to retry only where it is known, within the procedures and outside', async () => {
    await using served = await start();
    const after = async (path: string) => (await served.ask('GET', path)).headers.get('retry-after');
    expect([await after('/host/later'), await after('/host/now'), await after('/busy')]).toEqual(['7', null, null]);
  });

  it('outside the procedures is answered in the envelope, and logged with the request id only if it is ours', async () => {
    await using served = await start();
    expect(await served.ask('GET', '/host/now')).toMatchObject({
      status: 429,
      body: { error: { message: 'Too many requests' } },
    });
    expect((await served.ask('GET', '/nowhere')).status).toBe(404);
    expect(served.lines).toEqual([]);
    const { status, body } = await served.ask('GET', '/host/fails');
    expect([status, body]).toEqual([500, { error: { message: 'Internal Server Error' } }]);
    expect(served.lines).toMatchObject([
      {
        level: 'error',
        text: 'unexpected failure outside the procedures',
        facts: { err: { type: 'TypeError' }, requestId: 'request-1' },
      },
    ]);
    expect(JSON.stringify(served.lines)).not.toContain('ann@example.org');
  });

  it('of an answer that cannot be written is 500, and logged', async () => {
    await using served = await start();
    expect(await served.ask('GET', '/large')).toMatchObject({
      status: 500,
      body: { error: { message: 'Internal Server Error' } },
    });
    expect(served.lines).toMatchObject([{ text: 'unexpected failure outside the procedures' }]);
  });

  it('after the answer has begun cuts it off', async () => {
    await using served = await start();
    const answered = fetch(`${served.url}/host/begun`).then((answer) => answer.text());
    await expect(answered).rejects.toThrow(/fetch failed|terminated/);
  });
});
