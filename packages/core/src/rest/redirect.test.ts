import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, type CoreServer } from '../../test/core-server.js';
import { createOpenApiDocument, defineErrors, publicProcedure, rest, router } from '../index.js';

const errors = defineErrors('redirects', { nowhere: [404, 'Nowhere to go'] });
const LOCATION = 'https://app.example.org/welcome?name=a%20b&x=%C3%A9';

const app = router({
  trips: router({
    go: publicProcedure
      .meta(rest('GET /trips/{to}', { status: 302, summary: 'Go', failure: 'Failed to go', errors: [errors.nowhere] }))
      .input(z.strictObject({ to: z.string() }))
      .output(z.object({ location: z.string() }))
      .query(({ ctx, input }) => {
        if (input.to !== 'app') throw errors.nowhere();
        ctx.setCookie('seen', 'yes', { httpOnly: true });
        return { location: LOCATION, secret: 'not of the output' };
      }),
  }),
});

let url: string;
let served: CoreServer;
beforeAll(async () => {
  served = await startCoreServer(app);
  ({ url } = served);
});
afterAll(() => served[Symbol.asyncDispose]());

describe('a procedure that redirects', () => {
  it('answers REST with 302, the address as it is, its cookies, and no body', async () => {
    const answer = await fetch(`${url}/trips/app`, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location'), await answer.text()]).toEqual([302, LOCATION, '']);
    expect(answer.headers.getSetCookie()).toEqual(['seen=yes; Path=/; HttpOnly']);
  });

  it('answers tRPC with the address as its output, and the same cookies', async () => {
    const answer = await fetch(`${url}/trpc/trips.go?input=${encodeURIComponent('{"to":"app"}')}`, { redirect: 'manual' });
    expect([answer.status, await answer.json()]).toEqual([200, { result: { data: { location: LOCATION } } }]);
    expect(answer.headers.getSetCookie()).toEqual(['seen=yes; Path=/; HttpOnly']);
  });

  it('answers its errors in the envelope', async () => {
    const answer = await fetch(`${url}/trips/away`, { redirect: 'manual' });
    expect([answer.status, await answer.json()]).toEqual([404, { error: { message: 'Nowhere to go' } }]);
  });

  it('is described by the header Location, without content', async () => {
    const document = await createOpenApiDocument(app, {
      title: 't',
      description: 'd',
      version: '1',
      url: '/',
      authModeOf: () => 'bearer',
    });
    const responses = document.paths['/trips/{to}']?.get?.responses ?? {};
    expect(responses['302']).toMatchObject({
      headers: { Location: { required: true, schema: { type: 'string', format: 'uri' } } },
    });
    expect(responses['302']).not.toHaveProperty('content');
    expect(responses).not.toHaveProperty('200');
    expect(Object.keys(responses)).toContain('404');
  });
});
