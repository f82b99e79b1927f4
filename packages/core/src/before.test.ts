import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startCoreServer, storeAway, type Answer, type CoreServer } from '../test/core-server.js';
import {
  allow,
  authenticated,
  createBefore,
  createOpenApiDocument,
  defineErrors,
  defineGuard,
  inWrite,
  operationsOf,
  publicProcedure,
  rest,
  router,
  self,
  type BeforeHooks,
} from './index.js';

const errors = defineErrors('shop', { closed: [409, 'The shop is closed until {hour}'], full: [422, 'The shop is full'] });
const meta = (route: Parameters<typeof rest>[0]) => rest(route, { summary: 'of a test', failure: 'Failed to create tea' });
const Tea = z.strictObject({
  ownerId: z.string(),
  name: z.string().trim().toLowerCase().min(1),
  grams: z.number().int().default(100),
  tags: z.array(z.string()).optional(),
});
/** What was done, in order. */
const done: unknown[] = [];
const guard = defineGuard([], () => void done.push('guard'));
const pass = z.object({ name: z.string(), grams: z.number() });
const serve = ({ input }: { input: z.output<typeof Tea> }) => {
  done.push(input);
  return input;
};

const app = router({
  teas: router({
    create: authenticated.use(allow(self('ownerId'))).meta(meta('POST /teas')).input(Tea).use(guard).output(pass).mutation(serve), // prettier-ignore
    open: publicProcedure.meta(meta('POST /open-teas')).input(Tea).output(pass).mutation(serve),
    late: authenticated.use(allow(inWrite(self('ownerId')))).meta(meta('POST /late-teas')).input(Tea).output(pass).mutation(serve), // prettier-ignore
    all: publicProcedure.meta(meta('GET /teas')).output(z.array(z.string())).query(() => ['rooibos']), // prettier-ignore
  }),
});
type Hooks = BeforeHooks<typeof app>;
const of = (ownerId = 'ann') => ({ ownerId, name: ' Green ', grams: 5 });

let server: CoreServer | undefined;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  done.length = 0;
});
const start = async (hooks: Hooks, deadlineMs = 10_000) => {
  server = await startCoreServer(createBefore(hooks).appliedTo(app), { facts: { deadlineMs } });
  return server;
};

describe.each(['rest', 'trpc'] as const)('a hook, over %s', (face) => {
  const paths = { create: '/teas', open: '/open-teas', late: '/late-teas' };
  /** The answer as of REST. */
  async function call(name: keyof typeof paths, input: object, person: string | null = 'ann') {
    const headers: Record<string, string> = person === null ? {} : { authorization: `Bearer ${person}` };
    const path = face === 'rest' ? paths[name] : `/trpc/teas.${name}`;
    const { status, body } = ((await server?.ask('POST', path, { headers, body: JSON.stringify(input) })) ?? {}) as Answer;
    const { result, error } = body as { result?: { data: unknown }; error?: { message: string } };
    return [status < 300 ? 200 : status, error ? error.message : (result?.data ?? body)];
  }

  it('gets the validated input, the caller and the name, after guards and before the handler', async () => {
    await start({ 'teas.create': (given) => void done.push(given) });
    expect(await call('create', of())).toEqual([200, { name: 'green', grams: 5 }]);
    const input = { ownerId: 'ann', name: 'green', grams: 5 };
    const identity = { id: 'ann', typeId: 'regular', sessionId: 'session of ann' };
    expect(done).toEqual(['guard', { input, identity, operation: 'teas.create' }, input]);
  });

  it('runs neither for what a rule nor for what the validation refuses', async () => {
    await start({ 'teas.create': () => void done.push('hook'), 'teas.late': () => void done.push('hook') });
    expect(await call('create', of('bob'))).toEqual([403, 'Identity ID does not match']);
    expect(await call('create', { ...of(), grams: 'x' })).toEqual([400, 'Validation Error']);
    expect(await call('create', of(), null)).toEqual([422, 'Missing authorization header']);
    // this rule is otherwise decided after the handler
    expect(await call('late', of('bob'))).toEqual([403, 'Identity ID does not match']);
    expect(done).toEqual([]);
    expect(await call('late', of())).toEqual([200, { name: 'green', grams: 5 }]);
    expect(done).toEqual(['hook', expect.objectContaining({ name: 'green' })]);
  });

  it('refuses by a declared error, and nothing is done', async () => {
    await start({
      'teas.open': () => {
        throw errors.closed({ hour: '9' });
      },
    });
    expect(await call('open', of(), null)).toEqual([409, 'The shop is closed until 9']);
    expect([done, server?.lines]).toEqual([[], []]);
  });

  it('gives the handler another input, which is validated', async () => {
    await start({ 'teas.open': ({ input, identity }) => ({ ...input, name: ` FOR ${identity?.id ?? 'nobody'} ` }) });
    expect(await call('open', of())).toEqual([200, { name: 'for nobody', grams: 5 }]);
  });

  it('that returns a wrong input is a failure of the host: 500, logged once without values', async () => {
    await start({ 'teas.open': ({ input }) => ({ ...input, name: 'ann@example.org', grams: 'secret' as unknown as number }) });
    expect(await call('open', of())).toEqual([500, 'Failed to create tea']);
    expect(server?.lines.map(({ level }) => level)).toEqual(['error']);
    const text = JSON.stringify(server?.lines);
    expect(text).toContain('the hook before teas.open returned an input that is not valid: invalid_type at grams');
    expect(text).not.toMatch(/secret|ann@/);
    expect(done).toEqual([]);
  });

  it.each([
    ['an error that is not declared', () => new TypeError('secret of ann@example.org'), 500, 'Failed to create tea'],
    ['an error of validation of its own', () => z.string().safeParse(1).error, 500, 'Failed to create tea'],
    ['an unavailable store', storeAway, 503, 'Failed to create tea'],
  ])('that throws %s fails the operation, logged once', async (_, error, status, message) => {
    await start({ 'teas.open': () => Promise.reject(error()) });
    expect(await call('open', of())).toEqual([status, message]);
    expect(server?.lines.map(({ text }) => text)).toEqual(['unexpected failure']);
    expect(JSON.stringify(server?.lines)).not.toContain('ann@');
    expect(done).toEqual([]);
  });

  it('changes nothing in place, neither the input nor the cached identity', async () => {
    await start({
      'teas.create'({ input, identity }) {
        input.name = 'stolen';
        input.tags?.push('stolen');
        if (identity) identity.id = 'bob';
      },
    });
    const input = { ...of(), tags: ['a'] };
    expect(await call('create', input)).toEqual([200, { name: 'green', grams: 5 }]);
    expect(await call('create', input)).toEqual([200, { name: 'green', grams: 5 }]);
    expect(done.at(-1)).toEqual({ ...input, name: 'green' });
  });

  it('that hangs is cut by the deadline, and nothing is done when it returns after it', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await start({ 'teas.open': () => released }, 50);
    expect(await call('open', of())).toEqual([503, 'Service Unavailable']);
    release();
    // a later call comes after the first has gone on
    await call('create', of());
    expect(done).toEqual(['guard', expect.objectContaining({ name: 'green' })]);
  });
});

it('leaves the procedures without a hook as they are, and all of them without hooks', () => {
  const procedures = (one: typeof app) => one._def.procedures as unknown as Record<string, unknown>;
  expect(createBefore({}).appliedTo(app)).toBe(app);
  const applied = createBefore({ 'teas.create': () => {} }).appliedTo(app);
  const same = Object.keys(procedures(app)).filter((name) => procedures(applied)[name] === procedures(app)[name]);
  expect(same).toEqual(['teas.open', 'teas.late', 'teas.all']);
});

it('is given by names of operations alone, of the type of their inputs', () => {
  // @ts-expect-error -- no such operation
  const unknown: Hooks = { 'teas.crate': () => {} };
  // @ts-expect-error -- a number
  const wrong: Hooks = { 'teas.create': ({ input }) => ({ ...input, grams: '5' }) };
  // @ts-expect-error -- no such field
  const missing: Hooks = { 'teas.create': ({ input }) => void input.weight };
  expect(() => createBefore(unknown).appliedTo(app)).toThrow('before: there is no operation "teas.crate"');
  expect(() => createBefore({ toString: () => {} }).appliedTo(app)).toThrow('before: there is no operation "toString"');
  expect(() => createBefore({ 'teas.create': 'x' })).toThrow('before: "teas.create" must be a function');
  expect([wrong, missing]).toHaveLength(2);
});

it('declares its errors in the OpenAPI document', async () => {
  const run = () => {
    throw errors.full();
  };
  const applied = createBefore({ 'teas.open': { errors: [errors.full], run } } satisfies Hooks).appliedTo(app);
  const options = { title: '', description: '', version: '', url: '/', tags: [], authModeOf: () => 'bearer', cookiePrefix: '' };
  const document = await createOpenApiDocument(applied, options as Parameters<typeof createOpenApiDocument>[1]);
  expect(JSON.stringify(document.paths['/open-teas'])).toContain('shop.full');
  expect(operationsOf(applied).map(({ name }) => name)).toEqual(operationsOf(app).map(({ name }) => name));
});
