import { generateKeyPairSync } from 'node:crypto';
import { startTestServer, sendRaw } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { configurationAdvice } from './config-findings.js';
import { readConfig } from './config.js';

const GOOD = {
  NODE_ENV: 'production',
  AUTH_ENC_SECRET: 'nf83hf0qHfhQ2mdpa93jfm2lLz6b1xcv',
  AUTH_SIGN_SECRET: 'Zq81mcXv04plKs7YwEr2ut6iDg9hBn3o',
  MONGODB_URI: 'mongodb://127.0.0.1/x',
  PUBLIC_URL: 'https://api.example.org',
  MAIL_URL: 'smtps://mail.example.org',
  MAIL_FROM: 'Tandem <no-reply@example.org>',
};
function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig({ ...GOOD, ...environment });
    return [];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}

describe('in production, and not in development, the server refuses', () => {
  /** The problems in production, and in development. */
  const problemsOfBoth = (environment: Record<string, string>) => [
    problemsOf(environment),
    problemsOf({ ...environment, NODE_ENV: 'development' }),
  ];

  it.each([
    ['few characters', 'abcdefghijk'.repeat(2) + 'kjihgfedcbaabc'],
    ['one piece throughout', 'abcdefghijklmnop'.repeat(2)],
    ['an entry of a list', `${GOOD.AUTH_ENC_SECRET},${'e'.repeat(40)}`],
  ])('a secret that could be guessed: %s', (_, secret) => {
    for (const name of ['AUTH_ENC_SECRET', 'AUTH_SIGN_SECRET'])
      expect(problemsOfBoth({ [name]: secret })).toEqual([
        [`${name} could be guessed: make one with  openssl rand -base64 48`],
        [],
      ]);
  });

  it('a bcrypt cost below 10', () => {
    expect(problemsOfBoth({ BCRYPT_COST: '9' })).toEqual([['BCRYPT_COST must be at least 10 in production'], []]);
    expect(problemsOf({ BCRYPT_COST: '10', AUTH_ENC_SECRET: 'abcdefghijkl'.padEnd(32, 'b') })).toEqual([]);
  });
});

it('a list of secrets with an empty entry is refused: another one would go on making tokens', () => {
  for (const name of ['AUTH_ENC_SECRET', 'AUTH_SIGN_SECRET'] as const)
    for (const list of [`,${GOOD[name]}`, `${GOOD[name]}, `])
      expect(problemsOf({ [name]: list })).toEqual([`${name} must have at least 32 bytes in each secret`]);
});

it('cookies that browsers would refuse are refused at start, with one line each', () => {
  for (const COOKIE_PREFIX of ['__Host-', '__Secure-'])
    expect(problemsOf({ COOKIE_PREFIX, COOKIE_SECURE: 'false' })).toEqual([
      `COOKIE_PREFIX=${COOKIE_PREFIX} needs COOKIE_SECURE=true: otherwise browsers refuse the cookies`,
    ]);
  const COOKIE_DOMAIN = 'example.org';
  expect(problemsOf({ COOKIE_PREFIX: '__Host-', COOKIE_DOMAIN })).toEqual([
    'COOKIE_PREFIX=__Host- allows no COOKIE_DOMAIN: leave that out, or set COOKIE_PREFIX=__Secure-',
  ]);
  expect(problemsOf({ COOKIE_PREFIX: '__Secure-', COOKIE_DOMAIN })).toEqual([]);
  expect(problemsOf({ COOKIE_PREFIX: '__host-' })).toEqual(['COOKIE_PREFIX must be __Host- or __Secure-']);
});

it('a domain that no cookie can have is refused at start, with one line', () => {
  for (const COOKIE_DOMAIN of ['https://example.org', 'example.org:443', 'exämple.org', 'example.org/', '-a.org', '..org'])
    expect(problemsOf({ COOKIE_DOMAIN })).toEqual([
      expect.stringMatching(/^COOKIE_DOMAIN must be a host name such as example\.org/),
    ]);
  for (const COOKIE_DOMAIN of ['.example.org', 'a-b.Example.org', 'localhost']) expect(problemsOf({ COOKIE_DOMAIN })).toEqual([]);
});

it('a size in a unit that does not exist is refused at start, with one line', () => {
  for (const BODY_LIMIT of ['2m', '10g', '1mib', '5 GiB', '0', '0kb', '-1mb', 'much'])
    expect(problemsOf({ BODY_LIMIT })).toEqual([expect.stringMatching(/^BODY_LIMIT must be a size such as 1mb/)]);
  for (const BODY_LIMIT of ['2mb', '10 GB', '1.5kb', '1024', '7b']) expect(problemsOf({ BODY_LIMIT })).toEqual([]);
});

it('an invalid proxy is refused at start with one line', () => {
  const line = 'TRUST_PROXY must be true, false, a number from 1 to 10, or addresses such as 10.0.0.0/8';
  for (const TRUST_PROXY of ['everybody', '10.0.0.0/33', '10.0.0.1,x', '0', '11'])
    expect(problemsOf({ TRUST_PROXY })).toEqual([line]);
  for (const TRUST_PROXY of ['true', '1', 'loopback, 10.0.0.0/8', '::1/128', '2001:db8::/32'])
    expect(problemsOf({ TRUST_PROXY })).toEqual([]);
});

const APPLE = {
  OAUTH_APPLE_CLIENT_ID: 'org.example.web',
  OAUTH_APPLE_TEAM_ID: 'TEAM123456',
  OAUTH_APPLE_KEY_ID: 'KEY1234567',
  OAUTH_APPLE_PRIVATE_KEY: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string,
  REDIRECT_URLS: 'https://app.example.org/welcome',
};

it.each([
  [{ MAIL_URL: 'outbox:' }, /^set MAIL_URL: mails are not delivered/],
  [{ RATE_LIMITS: 'off' }, /^set RATE_LIMITS to on/],
  [{ COOKIE_SECURE: 'false' }, /^set COOKIE_SECURE to true/],
  [{ TRUST_PROXY: 'true' }, /^set TRUST_PROXY to the number/],
  [{ TRUST_PROXY: '10.0.0.0/8,::/0' }, /^set TRUST_PROXY to the number/],
  [{ AUTH_MODE: 'cookie' }, /^set COOKIE_PREFIX to __Host-/],
  [{ AUTH_MODE_AUTH: 'cookie', COOKIE_DOMAIN: 'example.org' }, /^set COOKIE_PREFIX to __Secure-/],
  [{ PUBLIC_URL: 'https://192.0.2.7' }, /^set PASSKEY_RP_ID or a host name/],
  [{ PUBLIC_URL: 'https://[2001:db8::7]' }, /^set PASSKEY_RP_ID or a host name/],
  [{ PUBLIC_URL: 'https://my_host.example.org' }, /^set PASSKEY_RP_ID or a host name/],
  [{ ...APPLE, PUBLIC_URL: 'http://localhost:3000', COOKIE_PREFIX: '__Host-' }, /^set PUBLIC_URL to an https address: Apple/],
  [{ AUTH_SIGN_SECRET: GOOD.AUTH_ENC_SECRET }, /^set AUTH_ENC_SECRET and AUTH_SIGN_SECRET to different texts/],
])('%o is warned about in production, not in development', (environment, advice) => {
  expect(configurationAdvice(readConfig({ ...GOOD, ...environment }))).toEqual([expect.stringMatching(advice)]);
  expect(configurationAdvice(readConfig({ ...GOOD, ...environment, NODE_ENV: 'development' }))).toEqual([]);
});

it('a well-configured production server gets no warning', () => {
  const environment = { AUTH_MODE: 'cookie', COOKIE_PREFIX: '__Host-', TRUST_PROXY: '1' };
  expect(configurationAdvice(readConfig({ ...GOOD, ...environment }))).toEqual([]);
});

describe('a forwarded address', () => {
  /** The login's address, as its session shows it. */
  async function ipOf(trustProxy: boolean | number | string[], forwarded: string): Promise<unknown> {
    await using app = await startTestServer({ trustProxy });
    const ann = await app.signUp();
    const [name, value] = ['authorization', `Bearer ${ann.accessToken}`];
    const login = JSON.stringify({ email: ann.email, password: 'a password of the tests' });
    await sendRaw(`${app.url}/auth/login`, { method: 'POST', headers: ['x-forwarded-for', forwarded], body: login });
    const { body } = await sendRaw(`${app.url}/auth/${ann.id}/sessions`, { headers: [name, value] });
    return (body as { data: { ip: string }[] }).data[0]?.ip;
  }

  it.each([
    [true, '203.0.113.7', '203.0.113.7'],
    [true, 'unknown', '127.0.0.1'],
    [true, '203.0.113.7:1234', '127.0.0.1'],
    [true, 'made-up, 203.0.113.7', '203.0.113.7'],
    [true, '198.51.100.1, made-up', '127.0.0.1'],
    [1, 'made-up', '127.0.0.1'],
    [2, 'made-up, 203.0.113.7', '203.0.113.7'],
    [['loopback'], 'made-up', '127.0.0.1'],
    [['loopback'], '198.51.100.1, 203.0.113.7', '203.0.113.7'],
    [false, '203.0.113.7', '127.0.0.1'],
  ])('where the trusted are %o, %s is %s', async (trustProxy, forwarded, ip) => {
    expect(await ipOf(trustProxy, forwarded)).toBe(ip);
  });
});

it('metrics without a token are only for direct connections from this machine', async () => {
  await using app = await startTestServer();
  const statusOf = async (...headers: string[]) => (await sendRaw(`${app.url}/metrics`, { headers })).status;
  for (const name of ['Forwarded', 'X-Forwarded-For', 'x-forwarded-proto', 'X-Forwarded-Anything', 'X-Real-IP', 'Via'])
    expect([name, await statusOf(name, '')]).toEqual([name, 404]);
  const { port } = new URL(app.url);
  expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
});

it("a base element cannot change the links of this server's pages", async () => {
  await using app = await startTestServer();
  for (const path of ['/docs', '/health/live', '/console', '/none'])
    expect((await fetch(app.url + path)).headers.get('content-security-policy')).toContain("base-uri 'none'");
});
