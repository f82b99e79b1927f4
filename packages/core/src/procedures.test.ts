import { TRPCError } from '@trpc/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, type CoreServer } from '../test/core-server.js';
import {
  ApiError,
  admin,
  allow,
  anyOf,
  authenticated,
  authenticationErrors,
  defineErrors,
  defineRule,
  inWrite,
  organizationRole,
  owner,
  ownerInWrite,
  publicProcedure,
  rest,
  router,
  self,
  type Log,
  type ServerFacts,
} from './index.js';

const errors = defineErrors('orders', { busy: [409, 'Order cannot move from {from} to {to}'], refused: [403, 'refused'] });
const asked: string[] = [];
const counting = defineRule('nobody', [errors.refused], () => {
  asked.push('counting');
  throw errors.refused();
});
const broken = defineRule('nobody knows who', [], () => {
  throw new TypeError('secret detail of ann@example.org');
});
const undecided = defineRule('nobody can tell who', [], () => {
  throw new Error('store away');
});
const meta = (route: Parameters<typeof rest>[0]) => rest(route, { summary: 'of a test', failure: 'Failed to find thing' });
const ownerOf = (id: string) => {
  asked.push(`owner of ${id}`);
  return Promise.resolve({ mine: 'ann', his: 'bob', nobodys: null }[id]);
};
const roleOf = (organizationId: string) => Promise.resolve(({ a: 'member', b: 'owner' } as const)[organizationId]);
const Thing = z.strictObject({ id: z.string() });
const done = { done: z.literal(true) };

const app = router({
  things: router({
    conflict: publicProcedure.meta(meta('GET /conflict')).output(z.void()).query(() => { throw errors.busy({ from: 'a', to: 'b' }); }), // prettier-ignore
    fails: publicProcedure.meta(meta('GET /fails')).output(z.void()).query(() => { throw new TypeError('secret detail of ann@example.org'); }), // prettier-ignore
    misjudges: publicProcedure
      .meta(meta('GET /misjudges'))
      .input(
        z.strictObject({}).superRefine(() => {
          throw new TypeError('secret detail of ann@example.org');
        }),
      ) // prettier-ignore
      .output(z.void())
      .query(() => {}),
    lies: publicProcedure
      .meta(meta('GET /lies'))
      .output(z.object(done))
      .query(() => ({ done: false }) as never),
    storeAway: publicProcedure.meta(meta('GET /store-away')).output(z.void()).query(() => { throw new Error('store away'); }), // prettier-ignore
    hangs: publicProcedure
      .meta(meta('GET /hangs'))
      .output(z.void())
      .query(() => new Promise<void>(() => {})),
    hosts: publicProcedure.meta(meta('GET /hosts')).output(z.void()).query(() => { throw new TRPCError({ code: 'CONFLICT', message: 'of a host' }); }), // prettier-ignore
    declined: publicProcedure.meta(meta('GET /declined')).output(z.void()).query(() => { throw new TRPCError({ code: 'PAYMENT_REQUIRED', message: 'declined' }); }), // prettier-ignore
    owned: authenticated
      .meta(meta('POST /owned/{id}'))
      .use(allow(owner('id', ownerOf)))
      .input(Thing)
      .output(z.void())
      .mutation(() => {}),
    ownedInBody: authenticated
      .meta(meta('POST /owned'))
      .use(allow(owner('id', ownerOf)))
      .input(Thing)
      .output(z.void())
      .mutation(() => {}),
    ownedInWrite: authenticated.meta(meta('PUT /owned/{id}')).use(allow(ownerInWrite('id', ownerOf))).input(Thing).output(z.void()).mutation(({ ctx, input }) => { if (input.id !== 'mine' || ctx.identity.id !== 'ann') throw errors.refused(); }), // prettier-ignore
    either: authenticated
      .meta(meta('GET /either/{id}'))
      .use(allow(anyOf(admin, self('id'))))
      .input(Thing)
      .output(z.void())
      .query(() => {}),
    shortCircuit: authenticated.meta(meta('GET /short/{id}')).use(allow(anyOf(self('id'), counting))).input(Thing).output(z.void()).query(() => {}), // prettier-ignore
    firstBroken: authenticated
      .meta(meta('GET /broken/{id}'))
      .use(allow(anyOf(broken, counting)))
      .input(Thing)
      .output(z.void())
      .query(() => {}),
    undecided: authenticated
      .meta(meta('GET /undecided/{id}'))
      .use(allow(anyOf(admin, undecided, self('id'))))
      .input(Thing)
      .output(z.void())
      .query(() => {}),
    undecidedInWrite: authenticated
      .meta(meta('PUT /undecided/{id}'))
      .use(allow(inWrite(undecided)))
      .input(Thing)
      .output(z.void())
      .mutation(({ input }) => {
        if (input.id !== 'mine') throw errors.refused();
      }),
    organization: authenticated.meta(meta('GET /organizations/{id}')).use(allow(organizationRole('id', ['owner'], roleOf))).input(Thing).output(z.void()).query(() => {}), // prettier-ignore
  }),
});

const lines: { facts: object; text: string }[] = [];
const log: Log = { debug() {}, info() {}, warn() {}, error: (facts, text) => lines.push({ facts, text }) };
let verifications = 0;
const facts: Partial<ServerFacts> = {
  verifyAccess(token) {
    verifications++;
    if (token === 'unreachable') return Promise.reject(new Error('store away'));
    if (token !== 'ann' && token !== 'root') return Promise.reject(authenticationErrors.unverified());
    const identity = { id: token, typeId: token === 'root' ? 'admin' : 'regular', sessionId: 's' };
    return Promise.resolve({ identity, fingerprintHash: undefined, expiresAt: 0 });
  },
  isUnavailable: (error) => error instanceof Error && error.message === 'store away',
  deadlineMs: 200,
  log,
};

let url: string;
let served: CoreServer;
beforeAll(async () => {
  served = await startCoreServer(app, { facts });
  ({ url } = served);
});
afterAll(() => served[Symbol.asyncDispose]());

async function call(method: string, path: string, token?: string, body?: string): Promise<[number, unknown]> {
  const headers = { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  return [response.status, text === '' ? undefined : (JSON.parse(text) as { error: { message: string } }).error.message];
}

describe('failures of a procedure', () => {
  it('that are declared show their text with its values', async () => {
    expect(await call('GET', '/conflict')).toEqual([409, 'Order cannot move from a to b']);
  });

  it('that are unexpected show only the declared failure, and are logged once, with the request id and without values', async () => {
    lines.length = 0;
    expect(await call('GET', '/fails')).toEqual([500, 'Failed to find thing']);
    expect(await call('GET', '/lies')).toEqual([500, 'Failed to find thing']);
    expect(await call('GET', '/misjudges')).toEqual([500, 'Failed to find thing']);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({
      text: 'unexpected failure',
      facts: { procedure: 'things.fails', err: { type: 'TypeError' } },
    });
    expect(lines[0]?.facts).toHaveProperty('requestId');
    expect(JSON.stringify(lines)).not.toContain('ann@example.org');
  });

  it('while the store is unavailable are 503 with Retry-After, even while the caller is verified, never 401 or 403', async () => {
    expect(await call('GET', '/store-away')).toEqual([503, 'Failed to find thing']);
    expect(await call('GET', '/either/ann', 'unreachable')).toEqual([503, 'Failed to find thing']);
    expect((await fetch(`${url}/store-away`)).headers.get('retry-after')).toBe('2');
  });

  it('to answer before the deadline are 503, on both faces', async () => {
    expect(await call('GET', '/hangs')).toEqual([503, 'Service Unavailable']);
    expect(await call('GET', '/trpc/things.hangs')).toEqual([503, 'Service Unavailable']);
  });

  it('of a host application, thrown as tRPC errors, keep status and text', async () => {
    expect(await call('GET', '/hosts')).toEqual([409, 'of a host']);
    expect(await call('GET', '/trpc/things.hosts')).toEqual([409, 'of a host']);
    for (const path of ['/declined', '/trpc/things.declined']) expect(await call('GET', path)).toEqual([402, 'declined']);
  });
});

describe('rules', () => {
  it('owner: Invalid owner ID for a missing record and for one without owner, another text for another owner’s record', async () => {
    expect(await call('POST', '/owned/mine', 'ann')).toEqual([204, undefined]);
    expect(await call('POST', '/owned/his', 'ann')).toEqual([403, 'Identity is not the owner of the resource']);
    for (const id of ['nobodys', 'missing']) expect(await call('POST', `/owned/${id}`, 'ann')).toEqual([403, 'Invalid owner ID']);
  });

  it('owner over the body: a value that is not a string fails before any look-up, a malformed body is 400', async () => {
    asked.length = 0;
    for (const body of ['{"id":{"$ne":null}}', '{"id":5}', '{}', '[]'])
      expect(await call('POST', '/owned', 'ann', body)).toEqual(
        body === '[]' ? [400, 'Validation Error'] : [403, 'Invalid owner ID'],
      );
    expect(asked).toEqual([]);
    expect(await call('POST', '/owned', 'ann', '{')).toEqual([400, 'Validation Error']);
    expect(await call('POST', '/owned', 'ann', '{"id":"mine","foo":1}')).toEqual([400, 'Validation Error']);
    expect(await call('POST', '/trpc/things.ownedInBody', 'ann', '{"id":{"$ne":null}}')).toEqual([403, 'Invalid owner ID']);
  });

  it('ownerInWrite: makes no query on success, and otherwise answers as owner does', async () => {
    asked.length = 0;
    expect(await call('PUT', '/owned/mine', 'ann')).toEqual([204, undefined]);
    expect(asked).toEqual([]);
    expect(await call('PUT', '/owned/his', 'ann')).toEqual([403, 'Identity is not the owner of the resource']);
    expect(await call('PUT', '/owned/missing', 'ann')).toEqual([403, 'Invalid owner ID']);
    // the refusal comes before the problems of the body
    for (const body of ['{', '{"foo":1}']) {
      expect(await call('PUT', '/owned/his', 'ann', body)).toEqual([403, 'Identity is not the owner of the resource']);
      expect(await call('PUT', '/owned/mine', 'ann', body)).toEqual([400, 'Validation Error']);
    }
  });

  it('anyOf: one rule suffices, else the first failure is the answer', async () => {
    expect(await call('GET', '/either/ann', 'ann')).toEqual([204, undefined]);
    expect(await call('GET', '/either/ann', 'root')).toEqual([204, undefined]);
    expect(await call('GET', '/either/bob', 'ann')).toEqual([403, 'Identity is not authorized to access this resource']);
    expect(await call('GET', '/broken/x', 'ann')).toEqual([500, 'Failed to find thing']);
  });

  it('anyOf: stops at the first rule that passes', async () => {
    asked.length = 0;
    expect(await call('GET', '/short/ann', 'ann')).toEqual([204, undefined]);
    expect(asked).toEqual([]);
    expect(await call('GET', '/short/bob', 'ann')).toEqual([403, 'Identity ID does not match']);
    expect(asked).toEqual(['counting']);
  });

  it('anyOf: a rule that cannot be decided is not a refusal; where no other passes the answer is 503, logged once', async () => {
    const route = '/undecided/ann';
    for (const token of ['ann', 'root']) expect(await call('GET', route, token)).toEqual([204, undefined]);
    lines.length = 0;
    expect(await call('GET', '/undecided/bob', 'ann')).toEqual([503, 'Service Unavailable']);
    expect(lines).toMatchObject([{ text: 'rule could not be decided', facts: { procedure: 'things.undecided' } }]);
    const input = encodeURIComponent('{"id":"bob"}');
    expect(await call('GET', `/trpc/things.undecided?input=${input}`, 'ann')).toEqual([503, 'Service Unavailable']);
    const answer = await fetch(`${url}/undecided/bob`, { headers: { authorization: 'Bearer ann' } });
    expect(answer.headers.get('retry-after')).toBe('2');
  });

  it('inWrite: a rule that cannot be decided is 503, whatever failed in the procedure', async () => {
    expect(await call('PUT', '/undecided/mine', 'ann')).toEqual([204, undefined]);
    expect(await call('PUT', '/undecided/his', 'ann')).toEqual([503, 'Service Unavailable']);
  });

  it('organizationRole: a non-member, another role, the right one', async () => {
    expect(await call('GET', '/organizations/none', 'ann')).toEqual([403, 'Identity is not a member of the organization']);
    expect(await call('GET', '/organizations/a', 'ann')).toEqual([403, 'Identity is not authorized to access this organization']);
    expect(await call('GET', '/organizations/b', 'ann')).toEqual([204, undefined]);
  });

  it('share one authentication for a whole batch', async () => {
    verifications = 0;
    const input = encodeURIComponent(JSON.stringify({ 0: { id: 'ann' }, 1: { id: 'ann' } }));
    const response = await fetch(`${url}/trpc/things.either,things.shortCircuit?batch=1&input=${input}`, { headers: { authorization: 'Bearer ann' } }); // prettier-ignore
    expect(response.status).toBe(200);
    expect(verifications).toBe(1);
  });
});

describe('declared errors', () => {
  it('know themselves', () => {
    expect(errors.refused.matches(errors.refused())).toBe(true);
    expect(errors.refused.matches(new ApiError(403, 'refused', { errorCode: 'orders.refused' }))).toBe(false);
    expect(errors.busy.matches(errors.refused())).toBe(false);
  });
});
