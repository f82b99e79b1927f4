import { FACES, PASSWORD, TOO_MANY, fixture, newEmail, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { RATE_LIMITS } from './limits.js';

const WRONG = { ok: false, status: 401, message: 'wrong credentials provided' };
const GUESS = 'a wrong guess of a password';
/** In seconds, as limits are: no window ends while a test runs, but where the end is what it is about. */
const HOUR = 3600;
const NO_LIMIT = [10_000, HOUR] as const;

const app = fixture(() =>
  startTestServer({
    rateLimits: {
      login: { perAddress: [3, HOUR] },
      register: { perAddress: [2, 1] },
      checkToken: { perAddress: [1, HOUR] },
      refresh: { perAccount: [2, HOUR] },
    },
  }),
);
const trusting = fixture(() =>
  startTestServer({
    trustProxy: 1,
    rateLimits: { login: { perAddress: [2, HOUR], perAccount: [3, HOUR] }, register: { perAddress: NO_LIMIT } },
  }),
);

let lastAddress = 0;
/** An address that no other test has. */
const newAddress = () => `198.18.${++lastAddress >> 8}.${lastAddress & 255}`;
/** What a login gets that comes, as the proxy says, from an address. */
function loginFrom(face: Face, address: string, email = newEmail(), password = GUESS) {
  return trusting.call(face, 'auth.login', { email, password }, { headers: { 'x-forwarded-for': address } });
}
const ascending = (a: number, b: number) => a - b;
const times = <T>(count: number, call: () => PromiseLike<T>) => Promise.all(Array.from({ length: count }, call));

describe('behind no proxy', () => {
  it('an address has a number of logins a minute, whatever its headers; then it must wait', async () => {
    const outcomes = [];
    for (const [n, face] of [...FACES, ...FACES].entries()) {
      const headers = { 'x-forwarded-for': newAddress(), 'x-real-ip': newAddress(), forwarded: `for=${newAddress()}` };
      outcomes.push(await app.call(face, 'auth.login', { email: newEmail(), password: `${GUESS} ${n}` }, { headers }));
    }
    expect(outcomes).toEqual([WRONG, WRONG, WRONG, TOO_MANY]);
  });

  it('a refusal comes before the body is read, and says when to retry, over REST and tRPC', async () => {
    const { body, headers, status } = await app.rest('POST', '/auth/login', '{ malformed');
    expect([status, body]).toEqual([429, { error: { message: 'Too many requests' } }]);
    const first = Number(headers.get('retry-after'));
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(HOUR);

    const content = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    const onTrpc = await fetch(`${app.url}/trpc/auth.login`, content);
    expect([onTrpc.status, Number(onTrpc.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
    const retryAfter = async () => Number((await app.rest('POST', '/auth/login', {})).headers.get('retry-after'));
    await expect.poll(retryAfter, { timeout: 10_000, interval: 100 }).toBeLessThan(first);
  });

  it('malformed and invalid requests count too', async () => {
    await app.rest('POST', '/auth/token/check', '{ malformed').expect(400);
    await app.rest('POST', '/auth/token/check', { token: 'x' }).expect(429, 'Too many requests');
  });

  it('after the announced time it may make as many requests as before', async () => {
    const status = async () => (await app.rest('POST', '/auth/register', {})).status;
    const round = async () => (await times(3, status)).sort(ascending);
    // again, should the machine have been so busy that the second was over in between
    await expect.poll(round, { timeout: 20_000 }).toEqual([400, 400, 429]);
    await expect.poll(status, { timeout: 10_000, interval: 100 }).toBe(400);
  });

  it('limits leave each other, and what has none, alone', async () => {
    await app.rest('POST', '/auth/token/refresh', {}).expect(422);
    await app.rest('POST', '/auth/logout', { refreshToken: 'x' }).expect(204);
    await app.rest('GET', '/identities').expect(422);
  });
});

describe.each(FACES)('behind a trusted proxy, over %s,', (face) => {
  it('each client has a count of its own, whatever it says of itself', async () => {
    const [ann, bob] = [newAddress(), newAddress()];
    for (let n = 0; n < 2; n++) expect(await loginFrom(face, `${newAddress()}, ${ann}`)).toEqual(WRONG);
    expect(await loginFrom(face, `${newAddress()}, ${ann}`)).toEqual(TOO_MANY);
    expect(await loginFrom(face, bob)).toEqual(WRONG);
  });

  it('an IPv6 network counts as one client, and IPv4 in IPv6 as IPv4', async () => {
    const network = `2001:db8:${face === 'rest' ? 1 : 2}:7`;
    for (const host of ['::1', '::2']) expect(await loginFrom(face, network + host)).toEqual(WRONG);
    expect(await loginFrom(face, `${network}:aaaa:bbbb:cccc:dddd`)).toEqual(TOO_MANY);
    expect(await loginFrom(face, `2001:db8:${face === 'rest' ? 1 : 2}:8::1`)).toEqual(WRONG);
    const mapped = newAddress();
    for (let n = 0; n < 2; n++) expect(await loginFrom(face, mapped)).toEqual(WRONG);
    expect(await loginFrom(face, `::ffff:${mapped}`)).toEqual(TOO_MANY);
  });

  it('an account has so many logins a minute from all addresses of a network, known and unknown alike, however it is written', async () => {
    const known = newEmail();
    await trusting.rest('POST', '/auth/register', { email: known, password: PASSWORD }).expect(201);
    for (const email of [known, newEmail()]) {
      const written = [email, ` ${email}`, email.toUpperCase()];
      for (const one of written) expect(await loginFrom(face, newAddress(), one)).toEqual(WRONG);
      expect(await loginFrom(face, newAddress(), email)).toEqual(TOO_MANY);
      expect(await loginFrom(face, newAddress(), email, PASSWORD)).toEqual(TOO_MANY);
      const elsewhere = `203.0.${lastAddress & 255}.1`;
      expect(await loginFrom(face, elsewhere, email)).toEqual(WRONG);
    }
  });

  it('of twenty at once only the allowed number passes', async () => {
    const address = newAddress();
    const outcomes = await times(20, () => loginFrom(face, address));
    expect(outcomes.filter(({ ok }) => ok)).toEqual([]);
    expect(outcomes.filter((outcome) => !outcome.ok && outcome.status === 401)).toHaveLength(2);
    const spread = newEmail();
    const onOne = await times(20, () => loginFrom(face, newAddress(), spread));
    expect(onOne.filter((outcome) => !outcome.ok && outcome.status === 401)).toHaveLength(3);
  });
});

it('each call of a batch counts', async () => {
  const input = JSON.stringify({ 0: { email: newEmail(), password: GUESS }, 1: { email: newEmail(), password: GUESS }, 2: { email: newEmail(), password: GUESS } }); // prettier-ignore
  const answer = await fetch(`${trusting.url}/trpc/auth.login,auth.login,auth.login?batch=1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': newAddress() },
    body: input,
  });
  const outcomes = (await answer.json()) as { error: { data: { httpStatus: number } } }[];
  expect(outcomes.map(({ error }) => error.data.httpStatus).sort(ascending)).toEqual([401, 401, 429]);
  expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
});

it('a session has so many exchanges of its refresh token, another its own', async () => {
  const [ann, bob] = [await signedUp(), await signedUp()];
  const status = async (refreshToken: string) => (await app.rest('POST', '/auth/token/refresh', { refreshToken })).status;
  expect([await status(ann), await status(ann), await status(ann)]).toEqual([200, 200, 429]);
  expect(await status(bob)).toBe(200);

  /** The refresh token of somebody new, by a server that shares the store and has no limits. */
  async function signedUp(): Promise<string> {
    await using free = await startTestServer();
    return (await free.signUp()).refreshToken;
  }
});

it('without limits nobody waits, and wrong ones are refused at start', async () => {
  await using free = await startTestServer({ rateLimits: false });
  const outcomes = await times(35, () => free.rest('POST', '/auth/register', {}));
  expect(outcomes.every(({ status }) => status === 400)).toBe(true);
  const wrong = { login: { perAddress: [0, 60] } } as const;
  await expect(startTestServer({ rateLimits: wrong })).rejects.toThrow(
    'rateLimits.login.perAddress: a rate is two whole numbers',
  );
  await expect(startTestServer({ rateLimits: { lunch: {} } as never })).rejects.toThrow(
    'rateLimits.lunch: there is no such limit',
  );
});

it('by default the limits of the table apply', async () => {
  await using usual = await startTestServer({ rateLimits: true });
  const [points] = RATE_LIMITS.register.perAddress;
  const outcomes = await times(points + 1, () => usual.rest('POST', '/auth/register', {}));
  expect(outcomes.map(({ status }) => status).sort(ascending)).toEqual([...Array.from({ length: points }, () => 400), 429]);
});
