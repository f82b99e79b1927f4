import http from 'node:http';
import { FACES, PASSWORD, fixture, startTestServer, type Face } from '@tandem/testing';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { peopleInput } from '../people/people.schemas.js';
import { GivenMetadata } from '../shared/metadata.js';
import { bcryptThreads } from './passwords/bcrypt-threads.js';

const app = fixture(startTestServer);

/** Sends a body as it is, and says what came back and how much CPU time of this process, the server's, it took. */
async function post(face: Face, procedure: string, path: string, body: string, credentials: Record<string, string> = {}) {
  const before = process.cpuUsage();
  const response = await fetch(face === 'rest' ? app.url + path : `${app.url}/trpc/${procedure}`, {
    method: path.includes('change-') && face === 'rest' ? 'PATCH' : 'POST',
    headers: { 'content-type': 'application/json', ...credentials },
    body,
  });
  const text = await response.text();
  const { user, system } = process.cpuUsage(before);
  return { status: response.status, text, milliseconds: (user + system) / 1000 };
}

const MEGABYTE = 1_000_000;
/** Far more than refusing takes anywhere, far less than working through it would. */
const CHEAP_MS = 3000;

describe.each(FACES)('too much, over %s,', (face) => {
  it('is refused before any password is compared or made, by every operation that takes one', async () => {
    const ann = await app.signUp();
    const mine = { authorization: `Bearer ${ann.accessToken}` };
    const id = face === 'trpc' ? { identityId: ann.id } : {};
    const long = 'x'.repeat(30_000);
    const inputs: [string, string, object, boolean][] = [
      ['auth.login', '/auth/login', { email: ann.email, password: long }, false],
      ['auth.login', '/auth/login', { email: long, password: PASSWORD }, false],
      ['auth.login', '/auth/login', { email: `${'x'.repeat(10_000)}@example.org`, password: PASSWORD }, false],
      ['auth.register', '/auth/register', { email: 'new@example.org', password: long }, false],
      ['auth.register', '/auth/register', { email: `${'x'.repeat(10_000)}@example.org`, password: PASSWORD }, false],
      ['auth.register', '/auth/register', { email: `x@${'a.'.repeat(30_000)}`, password: PASSWORD }, false],
      ['auth.register', '/auth/register', { email: `x@${'a-'.repeat(30_000)}.org`, password: PASSWORD }, false],
      ['auth.register', '/auth/register', { email: `${' '.repeat(60_000)}x`, password: PASSWORD }, false],
      ['auth.register', '/auth/register', { token: long, password: PASSWORD }, false],
      ['auth.resetPassword', '/auth/reset-password', { token: 'x', password: long }, false],
      ['auth.resetPassword', '/auth/reset-password', { token: long, password: PASSWORD }, false],
      ['auth.sendResetPasswordLinkEmail', '/auth/send-reset-password-link-email', { email: `${long}@example.org` }, false],
      ['auth.mfaVerify', '/auth/mfa/verify', { token: long, code: long }, false],
      ['auth.changePassword', `/auth/${ann.id}/change-password`, { ...id, password: long, newPassword: long }, true],
      ['auth.changeEmail', `/auth/${ann.id}/change-email`, { ...id, password: PASSWORD, email: `${long}@example.org` }, true],
    ];
    const compare = vi.spyOn(bcryptThreads, 'compare');
    const hash = vi.spyOn(bcryptThreads, 'hash');
    for (const [procedure, path, input, isMine] of inputs) {
      const { status, text, milliseconds } = await post(face, procedure, path, JSON.stringify(input), isMine ? mine : {});
      expect([status, text.includes('Validation Error')], `${procedure}: ${text.slice(0, 200)}`).toEqual([400, true]);
      expect(text.length).toBeLessThan(1000);
      expect(milliseconds, procedure).toBeLessThan(CHEAP_MS);
    }
    expect([compare.mock.calls.length, hash.mock.calls.length]).toEqual([0, 0]);
    compare.mockRestore();
    hash.mockRestore();
  });

  it('is refused however deep, wide or long it is, by an answer that is short', async () => {
    const ann = await app.signUp();
    const mine = { authorization: `Bearer ${ann.accessToken}` };
    const send = (body: string) => post(face, 'organizations.create', '/organizations', body, mine);
    const deep = '['.repeat(450_000) + ']'.repeat(450_000);
    const objects = '{"a":'.repeat(150_000) + '1' + '}'.repeat(150_000);
    const fields = `{${Array.from({ length: 85_000 }, (_, n) => `"k${n}":1`).join(',')}}`;
    const bodies = [deep, objects, `{"organization":${deep}}`, `{"organization":${objects}}`, `{"organization":${fields}}`, fields, `[${'1,'.repeat(400_000)}1]`, `"${'x'.repeat(900_000)}"`]; // prettier-ignore
    for (const body of bodies) {
      const { status, text, milliseconds } = await send(body);
      expect([status, text.includes('Validation Error')], text.slice(0, 200)).toEqual([400, true]);
      expect(text.length).toBeLessThan(20_000);
      expect(milliseconds, text.slice(0, 200)).toBeLessThan(CHEAP_MS);
    }
    const { text } = await send(fields);
    expect(text).toContain("additional properties: 'k0'");
    expect(text).toContain('there are more problems');
  });

  it('is refused as a map of wrong values, however many', async () => {
    const ann = await app.signUp();
    const mine = { authorization: `Bearer ${ann.accessToken}` };
    const metadata = Object.fromEntries(Array.from({ length: 85_000 }, (_, n) => [`k${n}`, []]));
    for (const [procedure, path, input] of [
      ['orders.create', '/orders', { identityId: ann.id, organizationId: ann.id, items: [], metadata }],
      ['profiles.create', '/profiles', { identityId: ann.id, name: 'Ann', metadata }],
    ] as const) {
      const { status, text } = await post(face, procedure, path, JSON.stringify(input), mine);
      expect([status, text.includes('Validation Error')], text.slice(0, 200)).toEqual([400, true]);
      expect(text.length).toBeLessThan(20_000);
    }
    // one key more than a map may have is looked at, however many there are
    expect(GivenMetadata.safeParse(metadata).error?.issues.length).toBe(51);
  });

  it('is refused at the first wrong id of a list', () => {
    const ids = Array.from({ length: 1000 }, () => 0);
    expect(peopleInput.safeParse({ ids }).error?.issues).toMatchObject([{ message: 'must match format "uuid"' }]);
  });

  it('is told by its first 20 problems, what is missing or wrong before what is unknown', async () => {
    const fields = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`k${n}`, n]));
    const unknown = (n: number) => `request body must NOT have additional properties: 'k${n}'`;
    expect(await app.call(face, 'auth.login', { ...fields, password: 5 })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: [
        "request body must have required property 'email'",
        'request body/password must be string',
        ...Array.from({ length: 18 }, (_, n) => unknown(n)),
        'there are more problems',
      ],
    });
  });

  it('is refused at 64 KiB where people sign in', async () => {
    const ofLength = (length: number) => {
      const text = JSON.stringify({ email: '', password: 'x' });
      return text.replace('""', `"${'x'.repeat(length - text.length)}"`);
    };
    expect((await post(face, 'auth.login', '/auth/login', ofLength(64 * 1024))).status).toBe(400);
    const { status, text } = await post(face, 'auth.login', '/auth/login', ofLength(64 * 1024 + 1));
    expect([status, text]).toEqual([413, expect.stringContaining('request entity too large')]);
  });

  it('is not read at all when it is larger than a body may be', async () => {
    const { status, milliseconds } = await post(face, 'auth.login', '/auth/login', `{"email":"${'x'.repeat(20 * MEGABYTE)}"}`);
    expect(status).toBe(413);
    expect(milliseconds).toBeLessThan(CHEAP_MS);
  });
});

it('an input of 64 KiB in a tRPC batch is refused alone', async () => {
  const inputs = { 0: { email: 'x'.repeat(66_000), password: 'x' }, 1: { email: 'nobody@example.org', password: 'x' } };
  const { text } = await post('trpc', 'auth.login,auth.login?batch=1', '', JSON.stringify(inputs));
  const answers = JSON.parse(text) as { error: { data: { httpStatus: number } } }[];
  expect(answers.map(({ error }) => error.data.httpStatus)).toEqual([413, 401]);
});

/** The status of a page, over a connection of its own that is there already: what waits is the server then, not the one who asks. */
function look(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent }, (answer) => answer.resume().on('end', () => resolve(answer.statusCode ?? 0)));
    request.on('error', reject);
  });
}
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
afterAll(() => agent.destroy());

describe('400 logins at once', () => {
  it(
    'are answered, or refused with a time to come back; the server lives meanwhile, and signs people in afterwards',
    { timeout: 120_000 },
    async () => {
      await using busy = await startTestServer({ bcryptCost: 9 });
      const people = await Promise.all(Array.from({ length: 10 }, () => app.signUp()));
      const over = new AbortController();
      const latencies: number[] = [];
      async function watch(): Promise<void> {
        while (!over.signal.aborted) {
          const start = performance.now();
          expect(await look(`${busy.url}/health/live`)).toBe(200);
          latencies.push(performance.now() - start);
        }
      }
      await look(`${busy.url}/health/live`);
      const watching = watch();
      const login = (n: number) => {
        const person = people[n];
        const credentials = person
          ? { email: person.email, password: PASSWORD }
          : { email: `nobody-${n}@example.org`, password: 'a wrong guess' };
        return busy.rest('POST', '/auth/login', credentials);
      };
      const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => login(n)));
      over.abort();
      await watching;

      const statuses = answers.map(({ status }) => status);
      for (const [n, { status, headers }] of answers.entries()) {
        expect(n < people.length ? [200, 503] : [401, 503]).toContain(status);
        expect(status === 503).toBe(Number(headers.get('retry-after') ?? 0) > 0);
      }
      expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(0);
      expect(statuses.filter((status) => status !== 503).length).toBeGreaterThan(0);
      // half of all looks at its life are quick, also on a machine that has little time for it
      expect(latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length / 2)]).toBeLessThan(1000);
      expect(Math.max(...latencies)).toBeLessThan(5000);
      for (const n of [0, 1, 2]) await expect.poll(async () => (await login(n)).status, { timeout: 60_000 }).toBe(200);
    },
  );
});
