import { FACES, NEW_PASSWORD, PASSWORD, UNVERIFIED, createTotpApp, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ORIGIN, addPasskey } from '../../../test/passkeys.js';

const MINUTE = 60_000;
const app = fixture(() => startTestServer({ passkeyRpId: 'localhost', corsOrigins: [ORIGIN] }));

interface Factor {
  id: string;
  type: string;
  name: string;
  lastUsedAt: string | null;
}
interface Enrolled {
  data: Factor[];
  recoveryCodesLeft: number;
}

const factorsOf = (person: Person) => person.rest('GET', `/auth/${person.id}/factors`).expect<Enrolled>(200);
const login = (email: string) =>
  app.rest('POST', '/auth/login', { email, password: PASSWORD }).expect<{ token: string; factors?: string[] }>(200);

/** An authenticator app of this person, confirmed. */
async function withApp(person: Person, name?: string) {
  const { id, secret } = await person
    .rest('POST', `/auth/${person.id}/factors/totp`, { ...(name !== undefined && { name }) })
    .expect<{ id: string; secret: string }>(201);
  const code = createTotpApp(secret, app.clock);
  await person.rest('POST', `/auth/${person.id}/factors/${id}/confirm`, { code: code() }).expect(204);
  return { id, code };
}

async function recoveryCodes(person: Person): Promise<string[]> {
  const { codes } = await person.rest('POST', `/auth/${person.id}/factors/recovery-codes`).expect<{ codes: string[] }>(201);
  return codes;
}

describe.each(FACES)('an authenticator app over %s', (face) => {
  it('counts once its code was confirmed, and is then asked for at each login, by a code that is typed as the app shows it', async () => {
    const ann = await app.signUp();
    const added = await ann.call(face, 'auth.addTotp', { identityId: ann.id, name: 'Phone' });
    const { id, secret, uri } = (added as { value: { id: string; secret: string; uri: string } }).value;
    expect(uri).toBe(
      `otpauth://totp/Tandem:${encodeURIComponent(ann.email)}?issuer=Tandem&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
    );
    expect(await factorsOf(ann)).toEqual({ data: [], recoveryCodesLeft: 0 });
    await app.signIn(ann.email);

    const code = createTotpApp(secret, app.clock);
    const wrong = await ann.call(face, 'auth.confirmTotp', { identityId: ann.id, factorId: id, code: 'abcdef' });
    expect(wrong).toMatchObject({ status: 400, message: 'Invalid MFA code provided.' });
    expect(await ann.call(face, 'auth.confirmTotp', { identityId: ann.id, factorId: id, code: code() })).toMatchObject({
      ok: true,
    });
    expect((await factorsOf(ann)).data).toMatchObject([{ id, type: 'totp', name: 'Phone' }]);
    expect((await app.mail.next(ann.email)).subject).toBe('A second factor was added to your account');

    const { token, factors } = await login(ann.email);
    expect(factors).toEqual(['totp']);
    // the step of the confirmation is used
    expect(await app.call(face, 'auth.mfaVerify', { token, code: code() })).toMatchObject({
      message: 'Invalid MFA code provided.',
    });
    const typed = code(1).replace(/^.../, '$& ');
    expect(await app.call(face, 'auth.mfaVerify', { token, code: typed })).toMatchObject({ ok: true, value: { id: ann.id } });
  });

  it('is gone when it was not confirmed within the hour', async () => {
    const ann = await app.signUp();
    const add = () => ann.rest('POST', `/auth/${ann.id}/factors/totp`, {}).expect<{ id: string; secret: string }>(201);
    const { id, secret } = await add();
    const code = createTotpApp(secret, app.clock);
    app.clock.advance(61 * MINUTE);
    const later = await app.signIn(ann.email);
    const answer = await later.call(face, 'auth.confirmTotp', { identityId: ann.id, factorId: id, code: code() });
    expect(answer).toMatchObject({ status: 404, message: 'Factor not found' });
  });

  it('is accepted one step to either side, and no further', async () => {
    const ann = await app.signUp();
    const { code } = await withApp(ann);
    const verify = async (text: string) =>
      app.call(face, 'auth.mfaVerify', { token: (await login(ann.email)).token, code: text });
    app.clock.advance(5 * MINUTE);
    expect(await verify(code(-2))).toMatchObject({ message: 'Invalid MFA code provided.' });
    expect(await verify(code(2))).toMatchObject({ message: 'Invalid MFA code provided.' });
    expect(await verify(code(-1))).toMatchObject({ ok: true });
    expect(await verify(code(-1))).toMatchObject({ message: 'Invalid MFA code provided.' });
    expect(await verify(code(1))).toMatchObject({ ok: true });
    // an earlier step than the last used one
    expect(await verify(code())).toMatchObject({ message: 'Invalid MFA code provided.' });
  });
});

describe.each(FACES)('a passkey over %s', (face) => {
  it('signs in without password, and without a second step', async () => {
    const ann = await app.signUp();
    const { passkey, id } = await addPasskey(ann, 'Laptop');
    const { value: options } = (await app.call(face, 'auth.passkeySignInOptions', {})) as { value: { challenge: string } };
    const signedIn = await app.call(face, 'auth.passkeySignIn', { response: passkey.get({ ...options, rpId: 'localhost' }) });
    expect(signedIn).toMatchObject({ ok: true, value: { id: ann.id, accessToken: expect.any(String) as string } });
    const [factor] = (await factorsOf(ann)).data;
    expect(factor).toMatchObject({ id, type: 'passkey', name: 'Laptop', lastUsedAt: expect.any(String) as string });
  });

  it('follows a password, as a second step', async () => {
    const ann = await app.signUp();
    const { passkey } = await addPasskey(ann);
    const { token, factors } = await login(ann.email);
    expect(factors).toEqual(['passkey']);
    const { value: options } = (await app.call(face, 'auth.mfaPasskeyOptions', { token })) as {
      value: { challenge: string; rpId: string; allowCredentials: { id: string }[] };
    };
    expect(options.allowCredentials.map(({ id }) => id)).toEqual([passkey.credentialId]);
    // the person need not be verified again
    const response = passkey.get(options, { isVerified: false });
    expect(await app.call(face, 'auth.mfaPasskey', { token, response })).toMatchObject({ ok: true, value: { id: ann.id } });
    expect(await app.call(face, 'auth.mfaPasskey', { token, response })).toMatchObject({ status: 401 });
  });

  it('is not asked for once five attempts have ended the challenge', async () => {
    const ann = await app.signUp();
    await addPasskey(ann);
    const { token } = await login(ann.email);
    for (let n = 0; n < 5; n++)
      expect(await app.call(face, 'auth.mfaVerify', { token, code: 'abcdef' })).toMatchObject({ status: 400 });
    expect(await app.call(face, 'auth.mfaPasskeyOptions', { token })).toEqual(UNVERIFIED);
  });

  it('is added once, and by one person', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { passkey } = await addPasskey(ann);
    const options = await bob
      .rest('POST', `/auth/${bob.id}/factors/passkeys/options`)
      .expect<Parameters<typeof passkey.create>[0]>(200);
    const answer = await bob.call(face, 'auth.addPasskey', { identityId: bob.id, response: passkey.create(options) });
    expect(answer).toMatchObject({ status: 401, message: 'Passkey could not be verified' });
  });
});

describe.each(FACES)('recovery codes over %s', (face) => {
  it('sign in once each, however they are typed, when the device is lost', async () => {
    const ann = await app.signUp();
    await withApp(ann);
    const codes = await recoveryCodes(ann);
    expect(codes).toHaveLength(10);
    await app.mail.next(ann.email, ({ subject }) => subject === 'New recovery codes for your account');
    expect(new Set(codes).size).toBe(10);
    const { token, factors } = await login(ann.email);
    expect(factors).toEqual(['totp', 'recovery']);
    const typed = (codes[0] ?? '').toUpperCase().replaceAll('-', ' ');
    expect(await app.call(face, 'auth.mfaVerify', { token, code: typed })).toMatchObject({ ok: true });
    const again = await app.call(face, 'auth.mfaVerify', { token: (await login(ann.email)).token, code: typed });
    expect(again).toMatchObject({ message: 'Invalid MFA code provided.' });
    expect((await factorsOf(ann)).recoveryCodesLeft).toBe(9);
  });

  it('are replaced by new ones, and void with the last factor', async () => {
    const ann = await app.signUp();
    expect(await ann.call(face, 'auth.renewRecoveryCodes', { identityId: ann.id })).toMatchObject({
      status: 409,
      message: 'Identity has no factor',
    });
    const { id } = await withApp(ann);
    const [old = ''] = await recoveryCodes(ann);
    const [first = ''] = await recoveryCodes(ann);
    const { token } = await login(ann.email);
    expect(await app.call(face, 'auth.mfaVerify', { token, code: old })).toMatchObject({ ok: false });
    expect(await app.call(face, 'auth.mfaVerify', { token, code: first })).toMatchObject({ ok: true });
    expect(await ann.call(face, 'auth.deleteFactor', { identityId: ann.id, factorId: id })).toMatchObject({ ok: true });
    expect(await factorsOf(ann)).toEqual({ data: [], recoveryCodesLeft: 0 });
    await app.signIn(ann.email);
  });
});

describe.each(FACES)('factors over %s', (face) => {
  it('are ten at most', async () => {
    const ann = await app.signUp();
    const add = () => ann.call(face, 'auth.addTotp', { identityId: ann.id });
    const all = await Promise.all(Array.from({ length: 12 }, add));
    expect(all.filter(({ ok }) => ok)).toHaveLength(10);
    expect(await add()).toMatchObject({ status: 409, message: 'Too many factors' });
    // what was not confirmed makes room
    app.clock.advance(61 * MINUTE);
    const later = await app.signIn(ann.email);
    expect(await later.call(face, 'auth.addTotp', { identityId: ann.id })).toMatchObject({ ok: true });
  });

  it('are never replaced by a code by mail, even where everybody is sent one', async () => {
    await using withMfa = await startTestServer({ mfaEnabled: true, clock: app.clock });
    const ann = await app.signUp();
    const { code } = await withApp(ann);
    await app.mail.next(ann.email);
    const body = { email: ann.email, password: PASSWORD };
    const { token, factors } = await withMfa.rest('POST', '/auth/login', body).expect<{ token: string; factors: string[] }>(200);
    expect(factors).toEqual(['totp']);
    app.clock.advance(MINUTE);
    expect(await withMfa.call(face, 'auth.mfaResend', { token })).toMatchObject({
      status: 400,
      message: 'No code is mailed to an identity with a factor',
    });
    expect(await withMfa.call(face, 'auth.mfaVerify', { token, code: code() })).toMatchObject({ ok: true });
  });

  it('stay when the password is reset', async () => {
    const ann = await app.signUp();
    const { code } = await withApp(ann);
    const { onetimeTokens } = app.tandem.services;
    const { token } = await onetimeTokens.create({ identityId: ann.id, target: 'reset-password', email: ann.email });
    await app.rest('POST', '/auth/reset-password', { token, password: NEW_PASSWORD }).expect(204);
    const step = await app
      .rest('POST', '/auth/login', { email: ann.email, password: NEW_PASSWORD })
      .expect<{ token: string }>(200);
    expect(await app.call(face, 'auth.mfaVerify', { token: step.token, code: code(1) })).toMatchObject({ ok: true });
  });

  it('are all removed by an admin, whom the person is told of', async () => {
    const [ann, admin] = [await app.signUp(), await app.signUpAdmin()];
    await withApp(ann);
    await addPasskey(ann);
    await recoveryCodes(ann);
    for (let n = 0; n < 3; n++) await app.mail.next(ann.email);
    expect(await ann.call(face, 'auth.deleteFactors', { identityId: ann.id })).toMatchObject({ status: 403 });
    expect(await admin.call(face, 'auth.deleteFactors', { identityId: ann.id })).toMatchObject({ ok: true });
    expect((await app.mail.next(ann.email)).subject).toBe('Your second factors were removed');
    await app.signIn(ann.email);
    const missing = '00000000-0000-7000-8000-000000000000';
    expect(await admin.call(face, 'auth.deleteFactors', { identityId: missing })).toMatchObject({
      message: 'Identity not found',
    });
    expect(await admin.call(face, 'auth.factors', { identityId: missing })).toMatchObject({ message: 'Identity not found' });
  });

  it('are added and made by oneself alone', async () => {
    const [ann, admin] = [await app.signUp(), await app.signUpAdmin()];
    const { id } = await withApp(ann);
    const own = { identityId: ann.id };
    for (const [name, input] of [
      ['addTotp', own],
      ['confirmTotp', { ...own, factorId: id, code: '123456' }],
      ['passkeyOptions', own],
      ['renewRecoveryCodes', own],
      ['prove', { ...own, password: PASSWORD }],
    ] as const)
      expect(await admin.call(face, `auth.${name}`, input)).toMatchObject({ message: 'Identity ID does not match' });
    expect(await admin.call(face, 'auth.factors', own)).toMatchObject({ ok: true });
    expect(await admin.call(face, 'auth.deleteFactor', { ...own, factorId: id })).toMatchObject({ ok: true });
    expect(await admin.call(face, 'auth.deleteFactor', { ...own, factorId: id })).toMatchObject({ message: 'Factor not found' });
  });
});

describe.each(FACES)('where the server has no host name, over %s', (face) => {
  it('passkeys are off', async () => {
    await using plain = await startTestServer({ clock: app.clock });
    const off = { status: 409, message: 'Passkeys are not available' };
    expect(await plain.call(face, 'auth.passkeySignInOptions', {})).toMatchObject(off);
    const ann = await plain.signUp();
    expect(await ann.call(face, 'auth.passkeyOptions', { identityId: ann.id })).toMatchObject(off);
  });
});
