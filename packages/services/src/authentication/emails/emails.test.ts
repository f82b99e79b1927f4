import { FACES, PASSWORD, UNVERIFIED, WRONG_TYPE, fixture, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const TAKEN = { ok: false, status: 409, message: 'Email already in use' };
const VERIFIED = { ok: false, status: 409, message: 'Email already verified or no changes made' };
const INVALID = { ok: false, status: 400, message: 'Invalid input' };
const DONE = { ok: true };

const app = fixture(startTestServer);
const second = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const newAddress = () => `${crypto.randomUUID()}@example.org`;
const identityOf = (person: Person) =>
  admin.rest('GET', `/identities/${person.id}`).expect<{ email: string; emailVerified: boolean }>(200);

/** The token of the next mail to an address. */
async function tokenTo(email: string): Promise<string> {
  return (await app.mail.next(email)).token ?? '';
}
async function verificationTokenOf(person: Person): Promise<string> {
  await person.rest('POST', `/auth/${person.id}/send-verification-email`, {}).expect(204);
  return tokenTo(person.email);
}
async function changeTokenOf(person: Person, email: string): Promise<string> {
  await person.rest('PATCH', `/auth/${person.id}/change-email`, { email, password: PASSWORD }).expect(204);
  return tokenTo(email);
}
const confirm = (face: Face, token: string) => app.call(face, 'auth.confirmEmail', { token });
const confirmNew = (face: Face, token: string) => app.call(face, 'auth.confirmNewEmail', { token });

describe.each(FACES)('verification of an email over %s', (face) => {
  it('sends a link to the address, and the link’s token verifies it', async () => {
    const ann = await app.signUp();
    expect(await identityOf(ann)).toMatchObject({ emailVerified: false });
    expect(await ann.call(face, 'auth.sendVerificationEmail', { identityId: ann.id })).toEqual(DONE);
    const { link = '', token = '' } = await app.mail.next(ann.email);
    expect(link).toBe(`${app.url}/confirm-email?token=${token}`);
    expect(await confirm(face, token)).toEqual(DONE);
    expect(await identityOf(ann)).toMatchObject({ emailVerified: true });
    expect(await confirm(face, token)).toEqual(UNVERIFIED);
  });

  it('answers 409 if the address is already verified', async () => {
    const ann = await app.signUp();
    const first = await verificationTokenOf(ann);
    app.clock.advance(60_000);
    const other = await verificationTokenOf(ann);
    expect(await confirm(face, first)).toEqual(DONE);
    expect(await confirm(face, other)).toEqual(VERIFIED);
  });

  it('succeeds for one of twenty concurrent calls', async () => {
    const ann = await app.signUp();
    const token = await verificationTokenOf(ann);
    const all = Array.from({ length: 20 }, (_, at) => (at % 2 ? app : second).call(face, 'auth.confirmEmail', { token }));
    const outcomes = await Promise.all(all);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    for (const refused of outcomes.filter(({ ok }) => !ok)) expect([UNVERIFIED, VERIFIED]).toContainEqual(refused);
  });

  it('does not verify an address that the identity no longer has', async () => {
    const ann = await app.signUp();
    const token = await verificationTokenOf(ann);
    await admin.rest('PATCH', `/identities/${ann.id}`, { email: newAddress() }).expect(200);
    expect(await confirm(face, token)).toEqual(UNVERIFIED);
    expect(await identityOf(ann)).toMatchObject({ emailVerified: false });
  });

  it('can be requested by the identity itself or an admin', async () => {
    const [ann, bob] = await Promise.all([app.signUp(), app.signUp()]);
    expect(await bob.call(face, 'auth.sendVerificationEmail', { identityId: ann.id })).toMatchObject({ status: 403 });
    expect(await admin.call(face, 'auth.sendVerificationEmail', { identityId: ann.id, fingerprint: 'x' })).toEqual(DONE);
    expect(await tokenTo(ann.email)).not.toBe('');
    const nobody = { identityId: '01890000-0000-7000-8000-000000000000' };
    expect(await admin.call(face, 'auth.sendVerificationEmail', nobody)).toEqual({ ok: false, status: 404, message: 'Identity not found' }); // prettier-ignore
  });
});

describe.each(FACES)('change of an email over %s', (face) => {
  it('sends a link to the new address and a notice to the old one; the link’s token changes it', async () => {
    const ann = await app.signUp();
    const email = newAddress();
    expect(await ann.call(face, 'auth.changeEmail', { identityId: ann.id, email: ` ${email.toUpperCase()} `, password: PASSWORD })).toEqual(DONE); // prettier-ignore
    const notice = await app.mail.next(ann.email);
    expect(notice.text).toContain(email);
    expect(notice.token).toBeUndefined();
    const { link = '', token = '' } = await app.mail.next(email);
    expect(link).toBe(`${app.url}/confirm-new-email?token=${token}`);
    expect(await identityOf(ann)).toMatchObject({ email: ann.email });

    expect(await confirmNew(face, token)).toEqual(DONE);
    expect(await identityOf(ann)).toMatchObject({ email, emailVerified: true });
    expect((await app.mail.next(ann.email)).text).toContain(email);
    expect(await confirmNew(face, token)).toEqual(UNVERIFIED);
    await app.rest('POST', '/auth/login', { email, password: PASSWORD }).expect(200);
    await app.rest('POST', '/auth/login', { email: ann.email, password: PASSWORD }).expect(401, 'wrong credentials provided');
  });

  it('needs the password for oneself, and none for an admin acting on another', async () => {
    const ann = await app.signUp();
    const email = newAddress();
    const missing = {
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: ["request body must have required property 'password'"],
    };
    expect(await ann.call(face, 'auth.changeEmail', { identityId: ann.id, email })).toEqual(missing);
    expect(await admin.call(face, 'auth.changeEmail', { identityId: admin.id, email })).toEqual(missing);
    expect(await ann.call(face, 'auth.changeEmail', { identityId: ann.id, email, password: 'wrong' })).toEqual(INVALID);
    expect(await admin.call(face, 'auth.changeEmail', { identityId: ann.id, email })).toEqual(DONE);
    expect(await confirmNew(face, await tokenTo(email))).toEqual(DONE);
    expect(await identityOf(ann)).toMatchObject({ email });
  });

  it('answers 409 to a taken address, both when requested and when confirmed', async () => {
    const [ann, bob] = await Promise.all([app.signUp(), app.signUp()]);
    const change = (email: string) => ann.call(face, 'auth.changeEmail', { identityId: ann.id, email, password: PASSWORD });
    expect(await change(bob.email)).toEqual(TAKEN);
    expect(await change(ann.email)).toEqual(VERIFIED);
    const email = newAddress();
    const token = await changeTokenOf(ann, email);
    await app.signUp({ email });
    expect(await confirmNew(face, token)).toEqual(TAKEN);
    expect(await identityOf(ann)).toMatchObject({ email: ann.email });
  });

  it('succeeds for one of twenty concurrent calls', async () => {
    const ann = await app.signUp();
    const token = await changeTokenOf(ann, newAddress());
    const all = Array.from({ length: 20 }, (_, at) => (at % 2 ? app : second).call(face, 'auth.confirmNewEmail', { token }));
    const outcomes = await Promise.all(all);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    for (const refused of outcomes.filter(({ ok }) => !ok)) expect(refused).toEqual(UNVERIFIED);
  });

  it('voids every outstanding one-time token of the identity', async () => {
    const ann = await app.signUp();
    const [verification, one, other] = [
      await verificationTokenOf(ann),
      await changeTokenOf(ann, newAddress()),
      await changeTokenOf(ann, newAddress()),
    ];
    expect(await confirmNew(face, one)).toEqual(DONE);
    expect(await confirmNew(face, other)).toEqual(UNVERIFIED);
    expect(await confirm(face, verification)).toEqual(UNVERIFIED);
  });

  it('accepts each token only for its own purpose', async () => {
    const ann = await app.signUp();
    const [verification, change] = [await verificationTokenOf(ann), await changeTokenOf(ann, newAddress())];
    for (const token of [change, ann.accessToken, ann.refreshToken]) expect(await confirm(face, token)).toEqual(WRONG_TYPE);
    for (const token of [verification, ann.accessToken]) expect(await confirmNew(face, token)).toEqual(WRONG_TYPE);
    for (const token of ['garbage', `${change}x`]) expect(await confirmNew(face, token)).toEqual(UNVERIFIED);
  });
});

describe('a change of the email', () => {
  it('counts wrong passwords as failed logins, so that a stolen session cannot guess', async () => {
    const ann = await app.signUp();
    const change = (password: string) => ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email: newAddress(), password });
    for (let guess = 0; guess < 5; guess++) await change(`wrong ${guess}`).expect(400, 'Invalid input');
    await change(PASSWORD).expect(401, 'This account is locked');
    await app.rest('POST', '/auth/login', { email: ann.email, password: PASSWORD }).expect(401, 'This account is locked');
  });

  it('is not sent after a password change if it was requested before', async () => {
    const ann = await app.signUp();
    const email = newAddress();
    app.mail.refuse(451);
    await ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email, password: PASSWORD }).expect(204);
    await app.tandem.services.mails.work();
    await ann.rest('PATCH', `/auth/${ann.id}/change-password`, { password: PASSWORD, newPassword: 'another password of hers' }).expect(204); // prettier-ignore
    app.mail.refuse(false);
    app.clock.advance(60 * 60_000);
    await app.tandem.services.mails.work();
    await app.mail.next(ann.email);
    expect(app.mail.count(email)).toBe(0);
  });
});
