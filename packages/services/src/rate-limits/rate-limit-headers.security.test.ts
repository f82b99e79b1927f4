import { FACES, HAS_REDIS, PASSWORD, fixture, newEmail, startRedis, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

/** In seconds: no window ends while a test runs. */
const HOUR = 3600;
const GUESS = 'a wrong guess of a password';

const rateLimits = {
  login: { perAddress: [100, HOUR], perAccount: [2, HOUR] },
  resetLink: { perAddress: [100, HOUR], perAccount: [50, HOUR] },
  passwordProof: { perAddress: [9, HOUR], perAccount: [7, HOUR] },
  checkToken: { perAddress: [2, HOUR] },
} as const;
/** Where accounts are made: it shares the store, and has no limits. */
const plain = fixture(startTestServer);
const app = fixture(() => startTestServer({ rateLimits, clock: plain.clock }));

/** The status of a call, and its headers of limits. */
async function ask(url: string, input: object, { accessToken = '', method = 'POST' } = {}) {
  const headers = { 'content-type': 'application/json', ...(accessToken !== '' && { authorization: `Bearer ${accessToken}` }) };
  const body = method === 'GET' ? {} : { body: JSON.stringify(input) };
  const answer = await fetch(url, { method, headers, ...body });
  await answer.text();
  const [policy, standing, retry] = ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => answer.headers.get(name));
  return {
    status: answer.status,
    policy,
    standing: standing?.replace(/t=\d+/g, 't=…'),
    seconds: standing?.match(/\d+$/)?.[0],
    retry,
  };
}

describe('a limit', () => {
  it.each(['memory', ...(HAS_REDIS ? ['Redis'] : [])])(
    'counted in %s is shown with what is left, also beyond it',
    async (kind) => {
      await using redis = kind === 'Redis' ? await startRedis() : undefined;
      await using server = await startTestServer({ rateLimits, redisUrl: redis?.url });
      const check = (path: string) => ask(server.url + path, { token: 'x' });
      const policy = '"checkToken.perAddress";q=2;w=3600';
      expect(await check('/auth/token/check')).toMatchObject({
        status: 401,
        policy,
        standing: '"checkToken.perAddress";r=1;t=…',
      });
      const second = await check('/trpc/auth.checkToken');
      expect(second).toMatchObject({ status: 401, policy, standing: '"checkToken.perAddress";r=0;t=…' });
      expect(Number(second.seconds)).toBeGreaterThan(HOUR - 300);
      expect(Number(second.seconds)).toBeLessThanOrEqual(HOUR);
      for (const path of ['/auth/token/check', '/trpc/auth.checkToken']) {
        const beyond = await check(path);
        expect(beyond).toMatchObject({ status: 429, policy, standing: '"checkToken.perAddress";r=0;t=…' });
        expect(beyond.retry).toBe(beyond.seconds);
      }
    },
  );
});

describe.each(FACES)('over %s', (face) => {
  const urlOf = (procedure: string, path: string) => app.url + (face === 'rest' ? path : `/trpc/${procedure}`);

  it('who is not signed in sees the limits of the own address only, whoever has the account, also beyond those of it', async () => {
    const { email } = await plain.signUp();
    const login = urlOf('auth.login', '/auth/login');
    const answers = [];
    for (const one of [email, newEmail()])
      for (let n = 0; n < 3; n++) answers.push(await ask(login, { email: one, password: GUESS }));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 429, 401, 401, 429]);
    expect(new Set(answers.map(({ policy }) => policy))).toEqual(new Set(['"login.perAddress";q=100;w=3600']));
    const left = answers.map(({ standing }) => Number(/^"login.perAddress";r=(\d+);t=…$/.exec(standing ?? '')?.[1]));
    expect(left).toEqual(left.map((_, at) => (left[0] ?? 0) - at));
  });

  it('a reset link, which answers nothing, has them too, known or not', async () => {
    const { email } = await plain.signUp();
    const url = urlOf('auth.sendResetPasswordLinkEmail', '/auth/send-reset-password-link-email');
    for (const one of [email, newEmail()])
      expect(await ask(url, { email: one })).toMatchObject({
        status: face === 'rest' ? 204 : 200,
        policy: '"resetLink.perAddress";q=100;w=3600',
        standing: expect.stringMatching(/^"resetLink.perAddress";r=\d+;t=…$/) as unknown,
      });
  });

  it('who is signed in sees those of the account too', async () => {
    const ann = await plain.signUp();
    const url = urlOf('auth.changePassword', `/auth/${ann.id}/change-password`);
    const input = { password: GUESS, newPassword: PASSWORD, ...(face === 'trpc' && { identityId: ann.id }) };
    const method = face === 'rest' ? 'PATCH' : 'POST';
    expect(await ask(url, input, { accessToken: ann.accessToken, method })).toMatchObject({
      policy: '"passwordProof.perAddress";q=9;w=3600, "passwordProof.perAccount";q=7;w=3600',
      standing: expect.stringMatching(/^"passwordProof.perAddress";r=\d;t=…, "passwordProof.perAccount";r=6;t=…$/) as unknown,
    });
  });

  it('what has no limits has no such headers', async () => {
    const url = urlOf('auth.logout', '/auth/logout');
    expect(await ask(url, { refreshToken: 'x' })).toMatchObject({ policy: null, standing: undefined });
  });
});

it('a batch has none: each of its calls has limits of its own', async () => {
  const { url } = app;
  const input = { 0: { email: newEmail(), password: GUESS }, 1: { email: newEmail() } };
  const answer = await ask(`${url}/trpc/auth.login,auth.sendResetPasswordLinkEmail?batch=1`, input);
  expect(answer).toMatchObject({ status: 207, policy: null, standing: undefined });
  expect(await ask(`${url}/trpc/auth.login?batch=1`, { 0: input[0] })).toMatchObject({ policy: expect.any(String) as unknown });
});
