import { NEW_PASSWORD, PASSWORD, fixture, type Person, type ServerProcess } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openCrashFixture } from '../../../test/crash-fixture.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = { timeout: 300_000 };

const system = fixture(() => openCrashFixture('passwords'));

async function canSignIn(server: ServerProcess, { email }: { email: string }, password: string): Promise<boolean> {
  const { status } = await server.rest('POST', '/auth/login', { email, password });
  return status === 200;
}

async function isSignedIn(server: ServerProcess, { id, credentials }: Person): Promise<boolean> {
  const { status } = await server.rest('GET', `/identities/${id}`, undefined, credentials);
  return status === 200;
}

/** A new password brings all that goes with it: the old one is none any more, sessions have ended, a mail says so. */
async function expectChanged(server: ServerProcess, person: Person): Promise<void> {
  expect(await canSignIn(server, person, NEW_PASSWORD)).toBe(true);
  expect(await canSignIn(server, person, PASSWORD)).toBe(false);
  expect(await isSignedIn(server, person)).toBe(false);
  expect((await system.home.mail.next(person.email)).subject).toMatch(/password has changed/);
}

async function linkTo(person: Person): Promise<Person & { token: string }> {
  const { onetimeTokens } = system.home.tandem.services;
  const { token } = await onetimeTokens.create({ identityId: person.id, target: 'reset-password', email: person.email });
  return { ...person, token };
}

const reset = (server: ServerProcess, { token }: { token: string }) =>
  server.rest('POST', '/auth/reset-password', { token, password: NEW_PASSWORD });

describe('when a process is killed between any two writes of', PATIENCE, () => {
  it('a reset, the old password counts and the link works, or the new one counts with all that follows', async () => {
    const writes = await system.dieAfterEachWrite({
      prepare: async () => linkTo(await system.home.signUp()),
      request: reset,
      async check(server, person, answer) {
        if (!answer && (await canSignIn(server, person, PASSWORD))) {
          expect(await isSignedIn(server, person)).toBe(true);
          expect(system.home.mail.count(person.email)).toBe(0);
          await reset(server, person).expect(204);
        }
        await expectChanged(server, person);
        await reset(server, person).expect(401, 'token could not be verified');
      },
    });
    expect(writes).toContain('identities.findAndModify');
  });

  it('a reset that ends a wait, the link works, or the new password counts at once', async () => {
    const writes = await system.dieAfterEachWrite({
      async prepare() {
        const person = await system.home.signUp();
        for (let failures = 0; failures < 5; failures++)
          await system.home.rest('POST', '/auth/login', { email: person.email, password: 'wrong' }).expect(401);
        return linkTo(person);
      },
      request: reset,
      async check(server, person, answer) {
        if (!answer && !(await canSignIn(server, person, NEW_PASSWORD))) await reset(server, person).expect(204);
        await expectChanged(server, person);
      },
    });
    expect(writes).toContain('failedLogins.delete');
  });

  it('a change of password, the old one counts, or the new one with all that follows', async () => {
    const writes = await system.dieAfterEachWrite({
      prepare: () => system.home.signUp(),
      request: (server, { id, credentials }) =>
        server.rest('PATCH', `/auth/${id}/change-password`, { password: PASSWORD, newPassword: NEW_PASSWORD }, credentials),
      async check(server, person, answer) {
        if (answer || !(await canSignIn(server, person, PASSWORD))) return expectChanged(server, person);
        expect(await canSignIn(server, person, NEW_PASSWORD)).toBe(false);
        expect(await isSignedIn(server, person)).toBe(true);
        expect(system.home.mail.count(person.email)).toBe(0);
      },
    });
    expect(writes).toContain('identities.findAndModify');
  });
});
