import { FACES, PASSWORD, fixture, newEmail, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { identityModel } from '../identities/identity.model.js';

const app = fixture(startTestServer);

const register = (face: Face, email: unknown, password: unknown = PASSWORD, more: object = {}) =>
  app.call(face, 'auth.register', { email, password, ...more });
const invalid = (...data: string[]) => ({ ok: false, status: 400, message: 'Validation Error', data });
const taken = (email: string) => ({ ok: false, status: 422, message: `unable to register "${email}"` });

describe.each(FACES)('registration over %s', (face) => {
  it('creates a regular identity with an unverified email that can sign in at once', async () => {
    const email = newEmail();
    const outcome = await register(face, email);
    expect(outcome).toEqual({ ok: true, value: { id: expect.any(String) as string, email } });
    const ann = await app.signIn(email);
    const now = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toEqual({
      ok: true,
      value: { id: ann.id, email, emailVerified: false, typeId: 'regular', locked: false, deactivatedAt: null, metadata: {}, createdAt: now, updatedAt: now }, // prettier-ignore
    });
  });

  it('trims and lower-cases the address, and so does the login', async () => {
    const email = newEmail();
    expect(await register(face, `  ${email.toUpperCase()}\n`)).toMatchObject({ ok: true, value: { email } });
    expect(await register(face, email)).toEqual(taken(email));
    expect(await register(face, ` ${email.toUpperCase()}`)).toEqual(taken(email));
    const login = { email: `\t${email.toUpperCase()} `, password: PASSWORD };
    expect(await app.call(face, 'auth.login', login)).toMatchObject({ ok: true });
  });

  it('refuses a malformed address', async () => {
    const notAnAddress = invalid('request body/email must match format "email"');
    for (const email of [
      'ann',
      'ann@',
      '@example.org',
      'a b@example.org',
      'ann@example',
      'ann@example.org, bob@example.org',
      'ann@example.org\nbcc: bob@example.org',
    ])
      // prettier-ignore
      expect(await register(face, email), email).toEqual(notAnAddress);
    expect(await register(face, `${'a'.repeat(60)}@${`${'b'.repeat(60)}.`.repeat(4)}org`)).toEqual(
      invalid('request body/email must NOT have more than 254 characters'),
    );
  });

  it('reports every problem at once, and refuses unknown fields', async () => {
    expect(await app.call(face, 'auth.register', {})).toEqual(
      invalid("request body must have required property 'email'", "request body must have required property 'password'"),
    );
    expect(await register(face, 5, { $ne: null }, { typeId: 'admin', emailVerified: true })).toEqual(
      invalid(
        'request body/email must be string',
        'request body/password must be string',
        "request body must NOT have additional properties: 'typeId'",
        "request body must NOT have additional properties: 'emailVerified'",
      ),
    );
  });

  it.each([
    ['', 'must NOT have fewer than 8 characters'],
    ['short77', 'must NOT have fewer than 8 characters'],
    ['x1'.repeat(37), 'must NOT have more than 72 bytes'],
    ['ü'.repeat(37), 'must NOT have more than 72 bytes'],
    ['with a \0 in it', 'must NOT have null characters'],
  ])('refuses the password %j', async (password, problem) => {
    expect(await register(face, newEmail(), password)).toEqual(invalid(`request body/password ${problem}`));
  });

  it.each(['exactly8', `${'ü'.repeat(35)}$x`, `${'x1'.repeat(35)}$y`, ' spaces count ', `${'😀'.repeat(17)}x$yq`])(
    'takes the password %j as it is',
    async (password) => {
      const email = newEmail();
      expect(await register(face, email, password)).toMatchObject({ ok: true });
      expect(await app.call(face, 'auth.login', { email, password })).toMatchObject({ ok: true });
      const wrong = { ok: false, status: 401, message: 'wrong credentials provided' };
      for (const other of [`${password}x`, password.slice(0, -1), password.toUpperCase() + password, ` ${password}`])
        expect(await app.call(face, 'auth.login', { email, password: other }), other).toEqual(wrong);
    },
  );

  it('creates one identity per address, even if many requests race', async () => {
    const email = newEmail();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => register(face, email)));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array(19).fill(taken(email)));
    expect(await app.storage.model(identityModel).countDocuments({ email })).toBe(1);
  });
});

describe('registration', () => {
  it('creates one identity per address on two instances', async () => {
    await using second = await startTestServer();
    const email = newEmail();
    const body = { email, password: PASSWORD };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? app : second).rest('POST', '/auth/register', body)),
    );
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(19);
    for (const answer of refused)
      expect(answer).toMatchObject({ status: 422, body: { error: { message: taken(email).message } } });
  });

  it('answers 201 over REST', async () => {
    await app.rest('POST', '/auth/register', { email: newEmail(), password: PASSWORD }).expect(201);
  });
});
