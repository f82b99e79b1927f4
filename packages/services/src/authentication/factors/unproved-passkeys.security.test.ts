import {
  FACES,
  NEW_PASSWORD,
  OK,
  PASSWORD,
  fixture,
  newEmail,
  startTestServer,
  type Person,
  type SoftPasskey,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ORIGIN, addPasskey } from '../../../test/passkeys.js';

const app = fixture(() => startTestServer({ passkeyRpId: 'localhost', corsOrigins: [ORIGIN] }));

async function withPasskey(person: Person): Promise<SoftPasskey> {
  const { passkey } = await addPasskey(person);
  await person.rest('POST', `/auth/${person.id}/factors/recovery-codes`).expect(201);
  return passkey;
}
async function signInBy(passkey: SoftPasskey): Promise<number> {
  const options = await app.rest('POST', '/auth/passkeys/options').expect<{ challenge: string; rpId: string }>(200);
  return (await app.rest('POST', '/auth/passkeys/verify', { response: passkey.get(options) })).status;
}
/** The token of the next mail that has one. */
const tokenFor = async (email: string) => (await app.mail.next(email, ({ token }) => token !== undefined)).token;
async function reset(email: string): Promise<void> {
  await app.rest('POST', '/auth/send-reset-password-link-email', { email }).expect(204);
  await app.rest('POST', '/auth/reset-password', { token: await tokenFor(email), password: NEW_PASSWORD }).expect(204);
}
const login = (email: string, password: string) =>
  app.rest('POST', '/auth/login', { email, password }).expect<Record<string, unknown>>(200);

describe('a passkey of who has registered an address without having it', () => {
  it('is gone when its owner resets the password, since nobody else has proved it', async () => {
    const thief = await app.signUp();
    const passkey = await withPasskey(thief);
    // an app that was never confirmed keeps no recovery codes
    await thief.rest('POST', `/auth/${thief.id}/factors/totp`).expect(201);
    await reset(thief.email);
    expect(await signInBy(passkey)).toBe(401);
    const owner = await login(thief.email, NEW_PASSWORD);
    expect(owner).toHaveProperty('accessToken');
    const factors = await app.rest('GET', `/auth/${thief.id}/factors`, undefined, { accessToken: String(owner['accessToken']) });
    expect(factors.body).toEqual({ data: [], recoveryCodesLeft: 0 });
  });

  it('is gone when its owner accepts an invitation', async () => {
    const [thief, admin] = [await app.signUp(), await app.signUpAdmin()];
    const passkey = await withPasskey(thief);
    await admin.rest('POST', '/invitations', { email: thief.email }).expect(201);
    await thief.rest('POST', '/invitations/accept', { token: await tokenFor(thief.email) }).expect(204);
    expect(await signInBy(passkey)).toBe(401);
  });

  it('is gone when the owner confirms a change of email to it, by a link that somebody else has asked for', async () => {
    const thief = await app.signUp({ isVerified: true });
    const [passkey, victim] = [await withPasskey(thief), newEmail()];
    await thief.rest('PATCH', `/auth/${thief.id}/change-email`, { email: victim, password: PASSWORD }).expect(204);
    await app.rest('POST', '/auth/confirm-new-email', { token: await tokenFor(victim) }).expect(204);
    expect(await signInBy(passkey)).toBe(401);
    await reset(victim);
    expect(await login(victim, NEW_PASSWORD)).toHaveProperty('accessToken');
  });

  it('stays when a live session of the account confirms the change of its email, which one that has ended does not', async () => {
    const ann = await app.signUp({ isVerified: true });
    const [passkey, ended] = [await withPasskey(ann), await app.signIn(ann.email)];
    const change = async ({ credentials }: Pick<Person, 'credentials'>) => {
      const email = newEmail();
      await ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email, password: PASSWORD }).expect(204);
      await app.rest('POST', '/auth/confirm-new-email', { token: await tokenFor(email) }, credentials).expect(204);
    };
    await change(ann);
    expect(await signInBy(passkey)).toBe(200);
    await change(ended);
    expect(await signInBy(passkey)).toBe(401);
  });

  it('stays when the address was proved before: who has only the mailbox does not get in', async () => {
    const ann = await app.signUp({ isVerified: true });
    const passkey = await withPasskey(ann);
    await reset(ann.email);
    expect(await login(ann.email, NEW_PASSWORD)).toHaveProperty('factors');
    expect(await signInBy(passkey)).toBe(200);
  });

  it('stays when a confirmation proves it, which changes no password, and is gone with the next reset', async () => {
    const ann = await app.signUp();
    const early = await withPasskey(ann);
    await ann.rest('POST', `/auth/${ann.id}/send-verification-email`, {}).expect(204);
    await app.rest('POST', '/auth/confirm-email', { token: await tokenFor(ann.email) }).expect(204);
    expect(await login(ann.email, PASSWORD)).toHaveProperty('factors');
    expect(await signInBy(early)).toBe(200);
    const { passkey: late } = await addPasskey(ann);
    await reset(ann.email);
    expect([await signInBy(early), await signInBy(late)]).toEqual([401, 200]);
  });

  it.each(['confirm-email', 'confirm-new-email'])('stays for good where a session of the account posts %s', async (page) => {
    const ann = await app.signUp();
    const passkey = await withPasskey(ann);
    let email = ann.email;
    if (page === 'confirm-email') await ann.rest('POST', `/auth/${ann.id}/send-verification-email`, {}).expect(204);
    else await ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email: (email = newEmail()), password: PASSWORD }).expect(204);
    await app.rest('POST', `/auth/${page}`, { token: await tokenFor(email) }, ann.credentials).expect(204);
    await reset(email);
    expect(await signInBy(passkey)).toBe(200);
    expect(await login(email, NEW_PASSWORD)).toHaveProperty('factors');
  });

  it('is gone with a reset after one of another account has posted the confirmation', async () => {
    const [thief, victim] = [await app.signUp(), await app.signUp()];
    const passkey = await withPasskey(thief);
    await thief.rest('POST', `/auth/${thief.id}/send-verification-email`, {}).expect(204);
    await app.rest('POST', '/auth/confirm-email', { token: await tokenFor(thief.email) }, victim.credentials).expect(204);
    await reset(thief.email);
    expect(await signInBy(passkey)).toBe(401);
  });

  it.each(FACES)(
    'is gone with a reset after an admin has changed the address, which was then confirmed over %s',
    async (face) => {
      const [former, admin, email] = [await app.signUp({ isVerified: true }), await app.signUpAdmin(), newEmail()];
      const passkey = await withPasskey(former);
      await admin.rest('PATCH', `/identities/${former.id}`, { email }).expect(200);
      await admin.rest('POST', `/auth/${former.id}/send-verification-email`, {}).expect(204);
      expect(await app.call(face, 'auth.confirmEmail', { token: await tokenFor(email) })).toEqual(OK);
      await reset(email);
      expect(await signInBy(passkey)).toBe(401);
      expect(await login(email, NEW_PASSWORD)).toHaveProperty('accessToken');
    },
  );

  it('is gone with a reset after an admin has called the address verified', async () => {
    const [thief, admin] = [await app.signUp(), await app.signUpAdmin()];
    const passkey = await withPasskey(thief);
    await admin.rest('PATCH', `/identities/${thief.id}`, { emailVerified: true }).expect(200);
    await reset(thief.email);
    expect(await signInBy(passkey)).toBe(401);
    expect(await login(thief.email, NEW_PASSWORD)).toHaveProperty('accessToken');
  });
});
