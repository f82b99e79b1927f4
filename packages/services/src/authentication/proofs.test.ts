import {
  FACES,
  PASSWORD,
  createPasskey,
  createTotpApp,
  fixture,
  newEmail,
  startTestServer,
  type Face,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const ORIGIN = 'http://localhost:5173';
const MINUTE = 60_000;
const NEEDED = { status: 403, message: 'A fresh proof is needed' };
const OK = { ok: true };
const app = fixture(() => startTestServer({ passkeyRpId: 'localhost', corsOrigins: [ORIGIN] }));

const MISSING = '00000000-0000-7000-8000-000000000000';
const addTotp = (face: Face, person: Person) => person.call(face, 'auth.addTotp', { identityId: person.id });

describe.each(FACES)('a fresh proof over %s', (face) => {
  it('is the sign-in for ten minutes, and needed before anything is looked up', async () => {
    const ann = await app.signUp();
    app.clock.advance(10 * MINUTE - 1000);
    expect(await addTotp(face, ann)).toMatchObject(OK);
    app.clock.advance(1000);
    expect(await addTotp(face, ann)).toMatchObject(NEEDED);
    const own = { identityId: ann.id };
    for (const name of ['passkeyOptions', 'renewRecoveryCodes', 'requestExport', 'erase'])
      expect(await ann.call(face, `auth.${name}`, own)).toMatchObject(NEEDED);
    for (const [name, more] of [
      ['deleteFactor', {}],
      ['confirmTotp', { code: '123456' }],
    ] as const)
      expect(await ann.call(face, `auth.${name}`, { ...own, factorId: MISSING, ...more })).toMatchObject(NEEDED);
    // reading needs none
    expect(await ann.call(face, 'auth.factors', own)).toMatchObject(OK);
  });

  it('is given anew by the password, for ten minutes of this session', async () => {
    const ann = await app.signUp();
    const elsewhere = await app.signIn(ann.email);
    app.clock.advance(11 * MINUTE);
    expect(await ann.call(face, 'auth.prove', { identityId: ann.id, password: PASSWORD })).toMatchObject(OK);
    expect(await addTotp(face, ann)).toMatchObject(OK);
    expect(await addTotp(face, elsewhere)).toMatchObject(NEEDED);
    app.clock.advance(4 * MINUTE);
    // a refresh of the tokens does not prolong it
    const { accessToken } = await app
      .rest('POST', '/auth/token/refresh', { refreshToken: ann.refreshToken })
      .expect<{ accessToken: string }>(200);
    app.clock.advance(6 * MINUTE);
    const later = await app.call(face, 'auth.addTotp', { identityId: ann.id }, { accessToken });
    expect(later).toMatchObject(NEEDED);
  });

  it('is given by a code of an authenticator app, by a recovery code, or by a passkey', async () => {
    const ann = await app.signUp();
    const own = { identityId: ann.id };
    const factors = `/auth/${ann.id}/factors`;
    const { id, secret } = await ann.rest('POST', `${factors}/totp`, {}).expect<{ id: string; secret: string }>(201);
    const code = createTotpApp(secret, app.clock);
    await ann.rest('POST', `${factors}/${id}/confirm`, { code: code() }).expect(204);
    const { codes } = await ann.rest('POST', `${factors}/recovery-codes`).expect<{ codes: string[] }>(201);
    const passkey = createPasskey(ORIGIN);
    const creation = await ann.rest('POST', `${factors}/passkeys/options`).expect<Parameters<typeof passkey.create>[0]>(200);
    await ann.rest('POST', `${factors}/passkeys`, { response: passkey.create(creation) }).expect(201);
    let session = ann;
    const inTurn = async (proof: () => Promise<object>, refusal: object) => {
      app.clock.advance(11 * MINUTE);
      const { accessToken } = await app.rest('POST', '/auth/token/refresh', { refreshToken: session.refreshToken }).expect<Person>(200); // prettier-ignore
      session = { ...session, refreshToken: (await app.rest('POST', '/auth/token/refresh', { refreshToken: session.refreshToken }).expect<Person>(200)).refreshToken }; // prettier-ignore
      const call = (name: string, input: object) => app.call(face, name, { ...own, ...input }, { accessToken });
      const given = await proof();
      expect(await call('auth.renewRecoveryCodes', {})).toMatchObject(NEEDED);
      expect(await call('auth.prove', given)).toMatchObject(OK);
      // each is of use once
      expect(await call('auth.prove', given)).toMatchObject(refusal);
      expect(await call('auth.renewRecoveryCodes', {})).toMatchObject(OK);
    };
    const wrongCode = { status: 400, message: 'Invalid MFA code provided.' };
    await inTurn(() => Promise.resolve({ code: codes[0] }), wrongCode);
    await inTurn(() => Promise.resolve({ code: code() }), wrongCode);
    await inTurn(
      async () => {
        const options = await app.rest('POST', '/auth/passkeys/options').expect<{ challenge: string; rpId: string }>(200);
        return { response: passkey.get(options) };
      },
      { status: 401, message: 'Passkey could not be verified' },
    );
  });

  it('is exactly one of the three; a wrong password counts as a failed login', async () => {
    const ann = await app.signUp();
    const prove = (input: object) => ann.call(face, 'auth.prove', { identityId: ann.id, ...input });
    for (const input of [{}, { password: PASSWORD, code: '123456' }])
      expect(await prove(input)).toMatchObject({ status: 400, message: 'Validation Error' });
    for (let n = 0; n < 5; n++)
      expect(await prove({ password: 'wrong' })).toMatchObject({ status: 400, message: 'Invalid input' });
    expect(await prove({ password: PASSWORD })).toMatchObject({ message: 'This account is locked' });
  });

  it('is needed by an admin who makes a one-time token, or changes the email of another', async () => {
    const [ann, admin] = [await app.signUp(), await app.signUpAdmin()];
    app.clock.advance(11 * MINUTE);
    for (const identityId of [ann.id, admin.id, MISSING])
      expect(await admin.call(face, 'auth.ottGenerate', { identityId })).toMatchObject(NEEDED);
    const change = { identityId: ann.id, email: newEmail() };
    expect(await admin.call(face, 'auth.changeEmail', change)).toMatchObject(NEEDED);
    // one's own password is the proof
    const later = await app.signIn(ann.email);
    app.clock.advance(11 * MINUTE);
    expect(await later.call(face, 'auth.changeEmail', { ...change, password: PASSWORD })).toMatchObject(OK);
  });

  it('is needed by an admin who changes an email or a type, and no key has one', async () => {
    const [ann, admin] = [await app.signUp(), await app.signUpAdmin()];
    const change = (email: string) => admin.call(face, 'identities.patch', { identityId: ann.id, email });
    expect(await change(newEmail())).toMatchObject(OK);
    const { key } = await admin.rest('POST', `/auth/${admin.id}/keys`, { name: 'k', scopes: ['*'] }).expect<{ key: string }>(201);
    const byKey = (input: object) => app.call(face, 'identities.patch', { identityId: ann.id, ...input }, { accessToken: key });
    expect(await byKey({ email: newEmail() })).toMatchObject(NEEDED);
    expect(await byKey({ typeId: 'admin' })).toMatchObject(NEEDED);
    expect(await byKey({ emailVerified: true })).toMatchObject(OK);
    app.clock.advance(11 * MINUTE);
    expect(await change(newEmail())).toMatchObject(NEEDED);
    expect(await admin.call(face, 'identities.patch', { identityId: MISSING, email: newEmail() })).toMatchObject(NEEDED);
    const changeType = () => admin.call(face, 'identities.patch', { identityId: ann.id, typeId: 'admin' });
    expect(await changeType()).toMatchObject(NEEDED);
    expect(await admin.call(face, 'identities.patch', { identityId: ann.id, emailVerified: true })).toMatchObject(OK);
    await admin.rest('POST', `/auth/${admin.id}/proof`, { password: PASSWORD }).expect(204);
    expect(await changeType()).toMatchObject({ value: { typeId: 'admin' } });
  });
});
