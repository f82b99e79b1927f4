import { PASSWORD, fixture, type Person, type ServerProcess } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openCrashFixture } from '../../../test/crash-fixture.js';
import type { OnetimeTarget } from '../../onetime-tokens/onetime-targets.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = { timeout: 120_000 };

const system = fixture(() => openCrashFixture('emails'));

/** Somebody, an address that is to be theirs, and the token of a link to an address. */
interface Mover extends Person {
  newEmail: string;
  token: string;
}

async function signUp(target: OnetimeTarget = 'change-email'): Promise<Mover> {
  const person = await system.home.signUp();
  const newEmail = `new-${person.email}`;
  const { onetimeTokens } = system.home.tandem.services;
  const email = target === 'change-email' ? newEmail : person.email;
  const { token } = await onetimeTokens.create({ identityId: person.id, target, email });
  return { ...person, newEmail, token };
}

interface Identity {
  email: string;
  emailVerified: boolean;
}

/** What somebody sees of their identity who signs in by an address. */
async function signIn(server: ServerProcess, email: string): Promise<Identity | undefined> {
  const login = await server.rest('POST', '/auth/login', { email, password: PASSWORD });
  if (login.status !== 200) return undefined;
  const { id, accessToken } = login.body as { id: string; accessToken: string };
  return server.rest('GET', `/identities/${id}`, undefined, { accessToken }).expect<Identity>(200);
}

/** The new address is the one, verified, and the old one has heard of it. */
async function expectMoved(server: ServerProcess, { email, newEmail }: Mover): Promise<void> {
  expect(await signIn(server, newEmail)).toMatchObject({ email: newEmail, emailVerified: true });
  expect(await signIn(server, email)).toBeUndefined();
  expect((await system.home.mail.next(email, ({ subject }) => /has changed/.test(subject))).text).toContain(newEmail);
}

const confirmMove = (server: ServerProcess, token: string) => server.rest('POST', '/auth/confirm-new-email', { token });
const confirm = (server: ServerProcess, token: string) => server.rest('POST', '/auth/confirm-email', { token });

const askToMove = (server: ServerProcess, { id, credentials, newEmail: email }: Mover) =>
  server.rest('PATCH', `/auth/${id}/change-email`, { email, password: PASSWORD }, credentials);

describe('when a process is killed between any two writes of', PATIENCE, () => {
  it('a request for another address, the old address stays valid, and either both mails are sent or none', async () => {
    const movers: Mover[] = [];
    const { mail } = system.home;
    const writes = await system.dieAfterEachWrite({
      async prepare() {
        const mover = await signUp();
        movers.push(mover);
        return mover;
      },
      request: askToMove,
      async check(server, mover, answer) {
        expect(await signIn(server, mover.email)).toMatchObject({ email: mover.email, emailVerified: false });
        if (!answer) await askToMove(server, mover).expect(204);
        const { token = '' } = await mail.next(mover.newEmail);
        await confirmMove(server, token).expect(204);
        await expectMoved(server, mover);
      },
    });
    expect(writes).toContain('mails.insert');
    for (const { email, newEmail } of movers) {
      const notices = mail.mails.filter(({ to, subject }) => to === email && /about to change/.test(subject));
      // a crash may send one twice, and never not at all
      expect([notices.length > 0, mail.count(newEmail) > 0]).toEqual([true, true]);
    }
  });

  it('a change of address, either the old address is valid and the link works, or the new one with all consequences', async () => {
    const writes = await system.dieAfterEachWrite({
      prepare: () => signUp(),
      request: (server, { token }) => confirmMove(server, token),
      async check(server, mover, answer) {
        if (!answer && (await signIn(server, mover.email))) {
          expect(await signIn(server, mover.newEmail)).toBeUndefined();
          expect(system.home.mail.count(mover.email)).toBe(0);
          await confirmMove(server, mover.token).expect(204);
        }
        await expectMoved(server, mover);
        await confirmMove(server, mover.token).expect(401, 'token could not be verified');
      },
    });
    expect(writes).toContain('identities.findAndModify');
  });

  it('a verification, the link works, or the address is verified', async () => {
    const writes = await system.dieAfterEachWrite({
      prepare: () => signUp('confirm-email'),
      request: (server, { token }) => confirm(server, token),
      async check(server, { email, token }, answer) {
        const isVerified = (await signIn(server, email))?.emailVerified;
        if (answer) expect(isVerified).toBe(true);
        if (!isVerified) await confirm(server, token).expect(204);
        expect(await signIn(server, email)).toMatchObject({ email, emailVerified: true });
      },
    });
    expect(writes).toContain('identities.findAndModify');
  });

  const ask = (server: ServerProcess, { id, credentials }: Mover) =>
    server.rest('POST', `/auth/${id}/send-verification-email`, {}, credentials);

  it('a request for a link, the mail is sent if it was promised', async () => {
    const writes = await system.dieAfterEachWrite({
      prepare: () => signUp(),
      request: ask,
      async check(server, mover, answer) {
        if (!answer) await ask(server, mover).expect(204);
        const { token = '' } = await system.home.mail.next(mover.email);
        await confirm(server, token).expect(204);
      },
    });
    expect(writes).toContain('mails.insert');
  });

  it('the sending of a link, the mail is sent and its link works', async () => {
    const writes = await system.dieWhileSending({
      prepare: () => signUp(),
      request: ask,
      async check(server, mover) {
        const { token = '' } = await system.home.mail.next(mover.email);
        await confirm(server, token).expect(204);
        expect(await signIn(server, mover.email)).toMatchObject({ emailVerified: true });
      },
    });
    expect(writes).toContain('onetimeTokens.update');
  });
});
