import { FACES, NEW_PASSWORD, PASSWORD, UNVERIFIED, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';
import { identityModel } from '../../identities/identity.model.js';
import { bcryptThreads } from './bcrypt-threads.js';

const INVALID = { ok: false, status: 400, message: 'Invalid input' };
const DONE = { ok: true };

const app = fixture(startTestServer);
const second = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const login = (email: string, password: string) => app.rest('POST', '/auth/login', { email, password });
const resetTokenOf = async ({ email }: { email: string }): Promise<string> => {
  await app.rest('POST', '/auth/send-reset-password-link-email', { email }).expect(204);
  return (await app.mail.next(email, ({ token }) => token !== undefined)).token ?? '';
};

describe.each(FACES)('reset of a password over %s', (face) => {
  const reset = (token: string, password: string, on = app) => on.call(face, 'auth.resetPassword', { token, password });

  it('sends a link whose token sets a new password, ends all sessions and is confirmed by mail', async () => {
    const ann = await app.signUp();
    expect(await app.call(face, 'auth.sendResetPasswordLinkEmail', { email: ` ${ann.email.toUpperCase()}` })).toEqual(DONE);
    const { link = '', token = '' } = await app.mail.next(ann.email);
    expect(link).toBe(`${app.url}/reset-password?token=${token}`);
    expect(await reset(token, NEW_PASSWORD)).toEqual(DONE);
    expect((await app.mail.next(ann.email)).token).toBeUndefined();
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toEqual(UNVERIFIED);
    await login(ann.email, PASSWORD).expect(401, 'wrong credentials provided');
    await login(ann.email, NEW_PASSWORD).expect(200);
    expect(await reset(token, 'a third password of the tests')).toEqual(UNVERIFIED);
  });

  it('answers the same to an unknown address, and sends nothing to it', async () => {
    const email = `${crypto.randomUUID()}@example.org`;
    expect(await app.call(face, 'auth.sendResetPasswordLinkEmail', { email })).toEqual(DONE);
    await app.tandem.services.mails.work();
    expect(app.mail.count(email)).toBe(0);
    expect(await app.call(face, 'auth.sendResetPasswordLinkEmail', { email: 'no address' })).toMatchObject({ status: 400 });
  });

  it('accepts the token as bearer header too, and requires one', async () => {
    const ann = await app.signUp();
    const token = await resetTokenOf(ann);
    const body = { password: NEW_PASSWORD };
    const missing = { ok: false, status: 422, message: 'Missing authorization header' };
    expect(await app.call(face, 'auth.resetPassword', body)).toEqual(missing);
    expect(await app.call(face, 'auth.resetPassword', body, { headers: { authorization: token } })).toEqual({
      ok: false,
      status: 422,
      message: 'Incorrect authorization of token header',
    });
    expect(await app.call(face, 'auth.resetPassword', body, { accessToken: token })).toEqual(DONE);
    await login(ann.email, NEW_PASSWORD).expect(200);
  });

  it('succeeds for one of twenty concurrent calls, with that call’s password', async () => {
    const ann = await app.signUp();
    const token = await resetTokenOf(ann);
    const password = (at: number) => `${NEW_PASSWORD} ${at}`;
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, at) => reset(token, password(at), at % 2 ? app : second)));
    const winner = outcomes.findIndex(({ ok }) => ok);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    for (const refused of outcomes.filter(({ ok }) => !ok)) expect(refused).toEqual(UNVERIFIED);
    await login(ann.email, password(winner)).expect(200);
  });

  it('leaves the token usable if the new password is refused', async () => {
    const ann = await app.signUp();
    const token = await resetTokenOf(ann);
    expect(await reset(token, 'short')).toMatchObject({ status: 400, message: 'Validation Error' });
    expect(await reset(token, PASSWORD)).toEqual(INVALID);
    expect(await reset(token, ann.email)).toMatchObject({ data: ['request body/password must NOT be a common password'] });
    expect(await reset(token, NEW_PASSWORD)).toEqual(DONE);
  });

  it('ends the lock after failed logins', async () => {
    const ann = await app.signUp();
    const token = await resetTokenOf(ann);
    for (let guess = 0; guess < 5; guess++) await login(ann.email, 'wrong password').expect(401, 'wrong credentials provided');
    await login(ann.email, PASSWORD).expect(401, 'This account is locked');
    expect(await reset(token, NEW_PASSWORD)).toEqual(DONE);
    await login(ann.email, NEW_PASSWORD).expect(200);
  });

  it('voids all other links that are outstanding', async () => {
    const ann = await app.signUp();
    const one = await resetTokenOf(ann);
    app.clock.advance(60_000);
    const other = await resetTokenOf(ann);
    expect(await reset(one, NEW_PASSWORD)).toEqual(DONE);
    expect(await reset(other, 'a third password of the tests')).toEqual(UNVERIFIED);
  });

  it('accepts no other token', async () => {
    const ann = await app.signUp();
    const { token: login } = await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    for (const token of [ann.accessToken, ann.refreshToken, login])
      expect(await reset(token, NEW_PASSWORD)).toEqual({ ok: false, status: 401, message: 'Invalid token' });
    expect(await reset('garbage', NEW_PASSWORD)).toEqual(UNVERIFIED);
  });
});

describe.each(FACES)('change of a password over %s', (face) => {
  const change = (by: Person, of: Person, input: object) => by.call(face, 'auth.changePassword', { identityId: of.id, ...input });

  it('needs the old password and a new one, ends all sessions and is confirmed by mail', async () => {
    const ann = await app.signUp();
    const other = await app.signIn(ann.email);
    expect(await change(ann, ann, { password: PASSWORD, newPassword: NEW_PASSWORD })).toEqual(DONE);
    await app.mail.next(ann.email);
    for (const session of [ann, other])
      expect(await session.call(face, 'identities.get', { identityId: ann.id })).toEqual(UNVERIFIED);
    await login(ann.email, PASSWORD).expect(401);
    await login(ann.email, NEW_PASSWORD).expect(200);
  });

  it('refuses a wrong old password, the email, and a weak one', async () => {
    const ann = await app.signUp();
    expect(await change(ann, ann, { password: 'wrong', newPassword: NEW_PASSWORD })).toEqual(INVALID);
    expect(await change(ann, ann, { password: PASSWORD, newPassword: ann.email })).toMatchObject({
      data: ['request body/newPassword must NOT be a common password'],
    });
    expect(await change(ann, ann, { password: PASSWORD, newPassword: 'password1' })).toMatchObject({
      data: ['request body/newPassword must NOT be a common password'],
    });
    expect(await change(ann, ann, { newPassword: NEW_PASSWORD })).toMatchObject({
      data: ["request body must have required property 'password'"],
    });
    await login(ann.email, PASSWORD).expect(200);
  });

  it('refuses the old password as the new one, without comparing or hashing either', async () => {
    const ann = await app.signUp();
    const work = [vi.spyOn(bcryptThreads, 'hash'), vi.spyOn(bcryptThreads, 'compare')];
    expect(await change(ann, ann, { password: PASSWORD, newPassword: PASSWORD })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: ['request body/newPassword must NOT be the old password'],
    });
    for (const spy of work) expect(spy).not.toHaveBeenCalled();
    for (const spy of work) spy.mockRestore();
    expect(await change(admin, ann, { newPassword: PASSWORD })).toEqual(INVALID);
  });

  it('needs no old password from an admin acting on another', async () => {
    const ann = await app.signUp();
    expect(await change(admin, ann, { newPassword: NEW_PASSWORD })).toEqual(DONE);
    await login(ann.email, NEW_PASSWORD).expect(200);
    const bob = await app.signUp();
    expect(await change(bob, ann, { password: NEW_PASSWORD, newPassword: PASSWORD })).toMatchObject({ status: 403 });
    const nobody = { id: '01890000-0000-7000-8000-000000000000' } as Person;
    expect(await change(admin, nobody, { newPassword: NEW_PASSWORD })).toMatchObject({
      status: 404,
      message: 'Identity not found',
    });
  });

  it('succeeds for one of ten concurrent calls', async () => {
    const ann = await app.signUp();
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, at) => change(admin, ann, { newPassword: `${NEW_PASSWORD} ${at}` })),
    );
    const winners = outcomes.flatMap(({ ok }, at) => (ok ? [at] : []));
    expect(winners.length).toBeGreaterThan(0);
    const logins = await Promise.all(winners.map((at) => login(ann.email, `${NEW_PASSWORD} ${at}`)));
    expect(logins.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a new password', () => {
  it('is confirmed to the identity even if the process died before the mail was queued', async () => {
    const ann = await app.signUp();
    const { identities } = app.tandem.services;
    const credentials = await identities.credentialsOf({ id: ann.id });
    const mail = { id: crypto.randomUUID(), template: 'password-changed', to: ann.email };
    // what the one write leaves when nothing follows it
    await app.storage.model(identityModel).updateOne({ _id: ann.id }, { $set: { outbox: [mail], outboxAt: app.clock.now() } });
    expect([credentials?.email, app.mail.count(ann.email)]).toEqual([ann.email, 0]);
    app.clock.advance(30_000);
    await app.tandem.services.mails.work();
    expect((await app.mail.next(ann.email)).subject).toMatch(/password/i);
    await identities.relayMails();
    await app.tandem.services.mails.work();
    expect(app.mail.count(ann.email)).toBe(1);
  });
});

it('a link to reset the password is not sent late if what voids links came meanwhile', async () => {
  const ann = await app.signUp();
  const { mails } = app.tandem.services;
  app.mail.refuse(451);
  await app.rest('POST', '/auth/send-reset-password-link-email', { email: ann.email }).expect(204);
  await mails.work();
  await ann.rest('PATCH', `/auth/${ann.id}/change-password`, { password: PASSWORD, newPassword: NEW_PASSWORD }).expect(204);
  await mails.work();
  app.mail.refuse(false);
  app.clock.advance(60 * 60_000);
  await mails.work();
  const { subject } = await app.mail.next(ann.email);
  expect([subject, app.mail.count(ann.email)]).toEqual(['Your password has changed', 1]);
});
