import { FACES, PASSWORD, fixture, startTestServer, type Face } from '@tandem/testing';
import bcrypt from 'bcrypt';
import { beforeAll, describe, expect, it } from 'vitest';

/** High enough that comparing a password is most of a login, low enough for some hundred of them. */
const COST = 7;
/** Times that are measured anew when a busy machine has spoilt them. */
const ROUNDS = 3;
/** A comparison left out would be a factor of three here. (That the work is the same to a bit is tested where hashes are.) */
const FACTOR = 1.5;

/** Addresses by what stands behind them. */
const addresses: Record<string, string> = {};
const app = fixture(() => startTestServer({ bcryptCost: COST }));
beforeAll(async () => {
  const admin = await app.signUpAdmin();
  const { identities } = app.tandem.services;
  async function imported(hash?: string): Promise<string> {
    const email = `${crypto.randomUUID()}@example.org`;
    await identities.create({ email, typeId: 'regular', ...(hash !== undefined && { passwordHash: hash }) });
    return email;
  }
  const [known, locked, deactivated] = [await app.signUp(), await app.signUp(), await app.signUp()];
  await admin.rest('POST', `/identities/${locked.id}/lock`).expect(204);
  await admin.rest('POST', '/auth/deactivate', { identityId: deactivated.id }).expect(204);
  const [gone] = [await app.signUp()];
  await admin.rest('DELETE', `/identities/${gone.id}`).expect(204);
  Object.assign(addresses, {
    unknown: `${crypto.randomUUID()}@example.org`,
    known: known.email,
    locked: locked.email,
    deactivated: deactivated.email,
    deleted: gone.email,
    'without a password': await imported(),
    'with a hash of the least cost': await imported(await bcrypt.hash(PASSWORD, 4)),
    'with a hash of half the work': await imported(await bcrypt.hash(PASSWORD, COST - 1)),
    'with a hash of another kind': await imported('sha1:0123456789abcdef'),
  });
});

/** A quarter takes no longer. Nearer to the work itself than the median: what else a machine does only adds to a time. */
function quartileOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 4)] as number;
}

/** Times in milliseconds, lower quartiles of tries that take turns: whatever else the machine does it does to all. */
async function measure(kinds: readonly string[], tries: number, once: (kind: string) => Promise<() => Promise<unknown>>) {
  const times = new Map(kinds.map((kind) => [kind, [] as number[]]));
  for (let n = 0; n < tries; n++) {
    // another one begins each time
    for (const [at] of kinds.entries()) {
      const kind = kinds[(at + n) % kinds.length] as string;
      const run = await once(kind);
      const start = performance.now();
      await run();
      times.get(kind)?.push(performance.now() - start);
    }
  }
  return Object.fromEntries([...times].map(([kind, all]) => [kind, quartileOf(all)]));
}

/** The largest factor between times, of the best of some rounds. */
async function leastSpread(round: () => Promise<Record<string, number>>): Promise<{ factor: number; times: object }> {
  let best = { factor: Number.POSITIVE_INFINITY, times: {} };
  for (let n = 0; n < ROUNDS && best.factor > FACTOR; n++) {
    const times = await round();
    const all = Object.values(times);
    const factor = Math.max(...all) / Math.min(...all);
    if (factor < best.factor) best = { factor, times };
  }
  return best;
}

/** Everything of an answer but what is of the request itself. */
async function wholeAnswer(face: Face, procedure: string, path: string, input: object, server = app.url) {
  const url = server + (face === 'rest' ? path : `/trpc/${procedure}`);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) });
  const own = new Set(['x-request-id', 'date']);
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !own.has(name)),
    body: await response.text(),
  };
}

describe.each(FACES)('over %s', (face) => {
  it('a login with a wrong password gets exactly the same answer, whatever the state of the address', async () => {
    const kinds = Object.entries(addresses);
    const answers = [];
    for (const [, email] of kinds) {
      await app.tandem.services.failedLogins.forget(email);
      const said = [];
      // the fifth one starts a wait
      for (let n = 0; n < 6; n++)
        said.push(await wholeAnswer(face, 'auth.login', '/auth/login', { email, password: `a wrong guess ${n}` }));
      answers.push(said);
    }
    expect(answers[0]?.map(({ status, body }) => [status, body.includes('wrong credentials provided')])).toEqual([
      ...Array.from({ length: 5 }, () => [401, true]),
      [401, false],
    ]);
    for (const [at, [kind]] of kinds.entries()) expect(answers[at], kind).toEqual(answers[0]);
  });

  it('the headers of limits tell the same, whatever the state of the address: how often the caller has tried', async () => {
    const rateLimits = { login: { perAddress: [500, 3600], perAccount: [3, 3600] } } as const;
    await using limited = await startTestServer({ rateLimits, bcryptCost: COST, clock: app.clock });
    const kinds = Object.entries(addresses);
    const answers = [];
    let left = 500;
    for (const [, email] of kinds) {
      await app.tandem.services.failedLogins.forget(email);
      const said = [];
      for (let n = 0; n < 4; n++) {
        left -= 1;
        const input = { email, password: `a wrong guess ${n}` };
        const { headers } = await wholeAnswer(face, 'auth.login', '/auth/login', input, limited.url);
        // without what differs between any two requests
        said.push(headers.map(([name, value]) => [name, value.replace(`r=${left};`, 'r=…;').replace(/\d{4}$/, '…')]));
      }
      answers.push(said);
    }
    expect(answers[0]?.[0]).toContainEqual(['ratelimit', '"login.perAddress";r=…;t=…']);
    for (const [at, [kind]] of kinds.entries()) expect(answers[at], kind).toEqual(answers[0]);
  });

  it('a request for a reset link gets exactly the same answer, whatever the state of the address', async () => {
    const path = '/auth/send-reset-password-link-email';
    const answers = [];
    for (const email of Object.values(addresses))
      answers.push(await wholeAnswer(face, 'auth.sendResetPasswordLinkEmail', path, { email }));
    for (const [at, kind] of Object.keys(addresses).entries()) expect(answers[at], kind).toEqual(answers[0]);
  });
});

describe('the time', () => {
  it(
    'of a login with a wrong password is the same for a known and an unknown address, over 200 tries each',
    { timeout: 180_000 },
    async () => {
      const { failedLogins } = app.tandem.services;
      const { factor, times } = await leastSpread(() =>
        measure(['known', 'unknown'], 200, async (kind) => {
          const email = addresses[kind] as string;
          await failedLogins.forget(email);
          return () =>
            app.rest('POST', '/auth/login', { email, password: 'a wrong guess' }).expect(401, 'wrong credentials provided');
        }),
      );
      expect(factor, JSON.stringify(times)).toBeLessThan(FACTOR);
    },
  );

  it('of a login with a wrong password is the same for every state of an account', { timeout: 180_000 }, async () => {
    const { failedLogins } = app.tandem.services;
    const { factor, times } = await leastSpread(() =>
      measure(Object.keys(addresses), 30, async (kind) => {
        const email = addresses[kind] as string;
        await failedLogins.forget(email);
        return () =>
          app.rest('POST', '/auth/login', { email, password: 'a wrong guess' }).expect(401, 'wrong credentials provided');
      }),
    );
    expect(factor, JSON.stringify(times)).toBeLessThan(FACTOR);
  });

  it('of a request for a reset link is the same whether or not the address has an account', { timeout: 180_000 }, async () => {
    const { mails } = app.tandem.services;
    const { factor, times } = await leastSpread(() =>
      measure(['known', 'unknown', 'locked'], 60, async (kind) => {
        // what the last one has left to do belongs to none of them
        await mails.work();
        return () => app.rest('POST', '/auth/send-reset-password-link-email', { email: addresses[kind] }).expect(204);
      }),
    );
    expect(factor, JSON.stringify(times)).toBeLessThan(FACTOR);
  });
});
