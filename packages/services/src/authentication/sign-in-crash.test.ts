import { PASSWORD, fixture, type Person, type ServerProcess } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openCrashFixture } from '../../test/crash-fixture.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = { timeout: 120_000 };

type SignedIn = Pick<Person, 'id' | 'accessToken'>;

const login = (server: ServerProcess, { email }: { email: string }) =>
  server.rest('POST', '/auth/login', { email, password: PASSWORD });

/** Whether an access token counts. */
async function counts(server: ServerProcess, { id, accessToken }: SignedIn): Promise<boolean> {
  const { status } = await server.rest('GET', `/identities/${id}`, undefined, { accessToken });
  return status === 200;
}

describe('when a process is killed between any two writes of', PATIENCE, () => {
  // a hash of a higher cost than theirs: a login has one write more
  const system = fixture(() => openCrashFixture('sign_in', { BCRYPT_COST: '11' }));

  it('a registration, one can register again, or sign in', async () => {
    const register = (server: ServerProcess, email: string) =>
      server.rest('POST', '/auth/register', { email, password: PASSWORD });
    const writes = await system.dieAfterEachWrite({
      prepare: async () => `${crypto.randomUUID()}@example.org`,
      request: register,
      async check(server, email, answer) {
        const again = await register(server, email);
        expect(answer ? [422] : [201, 422]).toContain(again.status);
        const { id, accessToken } = await login(server, { email }).expect<SignedIn>(200);
        expect(await server.rest('GET', `/identities/${id}`, undefined, { accessToken }).expect(200)).toMatchObject({
          id,
          email,
        });
      },
    });
    expect(writes).toContain('identities.insert');
  });

  it('a login, one can sign in again', async () => {
    const writes = await system.dieAfterEachWrite({
      async prepare() {
        const person = await system.home.signUp();
        await system.home.rest('POST', '/auth/login', { email: person.email, password: 'wrong' }).expect(401);
        return person;
      },
      request: login,
      async check(server, person, answer) {
        if (answer) expect(await counts(server, answer.body as SignedIn)).toBe(true);
        expect(await counts(server, await login(server, person).expect<SignedIn>(200))).toBe(true);
      },
    });
    expect(writes).toEqual(
      expect.arrayContaining(['identities.update', 'sessions+securityEvents+knownPlaces+failedLogins.bulkWrite']),
    );
  });

  it('a login by a one-time token, it works still, or is used up and another one works', async () => {
    const { onetimeTokens } = system.home.tandem.services;
    const newToken = async ({ id }: { id: string }) => (await onetimeTokens.create({ identityId: id, target: 'login' })).token;
    const signIn = (server: ServerProcess, token: string) => server.rest('POST', '/auth/ott/login', { token });
    const writes = await system.dieAfterEachWrite({
      async prepare() {
        const person = await system.home.signUp();
        return { ...person, token: await newToken(person) };
      },
      request: (server, { token }) => signIn(server, token),
      async check(server, person, answer) {
        if (answer) expect(await counts(server, answer.body as SignedIn)).toBe(true);
        const again = await signIn(server, person.token);
        expect(answer ? [401] : [200, 401]).toContain(again.status);
        expect(await counts(server, await signIn(server, await newToken(person)).expect<SignedIn>(200))).toBe(true);
      },
    });
    expect(writes).toEqual(expect.arrayContaining(['onetimeTokens.update', 'sessions+securityEvents+knownPlaces.bulkWrite']));
  });

  it('a deactivation, the account and its sessions live, or neither does and a mail says so', async () => {
    const deactivate = (server: ServerProcess, { id, credentials }: Person) =>
      server.rest('POST', '/auth/deactivate', { identityId: id }, credentials);
    const writes = await system.dieAfterEachWrite({
      prepare: () => system.home.signUp(),
      request: deactivate,
      async check(server, person, answer) {
        if (!answer && (await login(server, person)).status === 200) {
          expect(await counts(server, person)).toBe(true);
          expect(system.home.mail.count(person.email)).toBe(0);
          await deactivate(server, person).expect(204);
        }
        await login(server, person).expect(401, 'This account is locked');
        expect(await counts(server, person)).toBe(false);
        expect((await system.home.mail.next(person.email)).subject).toMatch(/deactivated/);
      },
    });
    expect(writes).toContain('identities.findAndModify');
  });
});

describe('with MFA, when a process is killed between any two writes of', PATIENCE, () => {
  const system = fixture(() => openCrashFixture('mfa', { MFA_ENABLED: 'true' }));

  const verify = (server: ServerProcess, given: { token: string; code: string }) =>
    server.rest('POST', '/auth/mfa/verify', { token: given.token, code: given.code });

  /** Meets a challenge by the codes that come: one of another challenge may come first. */
  async function meet(server: ServerProcess, person: Person, token: string): Promise<void> {
    for (;;) {
      const { code = '' } = await system.home.mail.next(person.email);
      const answer = await verify(server, { token, code });
      if (answer.status === 400) continue;
      expect(await counts(server, answer.body as SignedIn)).toBe(true);
      return;
    }
  }

  async function signIn(server: ServerProcess, person: Person): Promise<void> {
    const { token } = await login(server, person).expect<{ token: string }>(200);
    await meet(server, person, token);
  }

  it('a login, its code comes if it was promised, and one can begin again', async () => {
    const writes = await system.dieAfterEachWrite({
      prepare: () => system.home.signUp(),
      request: login,
      async check(server, person, answer) {
        if (answer) await meet(server, person, (answer.body as { token: string }).token);
        await signIn(server, person);
      },
    });
    expect(writes).toEqual(expect.arrayContaining(['onetimeTokens.update', 'mails.insert']));
  });

  it('the proof by a code, it works still, or is used up and one can begin again', async () => {
    const { identities, mails, mfa } = system.home.tandem.services;
    const writes = await system.dieAfterEachWrite({
      async prepare() {
        const person = await system.home.signUp();
        const credentials = await identities.credentialsOf({ id: person.id });
        if (!credentials) throw new Error('nobody signed up');
        const { token } = await mfa.challenge(credentials, { ip: '', userAgent: '', fingerprintHash: undefined });
        const { code = '' } = await system.home.mail.next(person.email);
        await mails.work();
        return { ...person, token, code };
      },
      request: verify,
      async check(server, person, answer) {
        if (answer) expect(await counts(server, answer.body as SignedIn)).toBe(true);
        const again = await verify(server, person);
        expect(answer ? [401] : [200, 401]).toContain(again.status);
        await signIn(server, person);
      },
    });
    expect(writes).toEqual(
      expect.arrayContaining(['onetimeTokens.update', 'sessions+securityEvents+knownPlaces+failedLogins.bulkWrite']),
    );
  });
});
