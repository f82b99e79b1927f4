import { FACES, TEST_SECRETS, fixture, sendRaw, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';

const MISSING = { status: 422, message: 'Missing authorization header' };
const MALFORMED = { status: 422, message: 'Incorrect authorization of token header' };
const BAD_FINGERPRINT = { status: 422, message: 'Incorrect format of x-nb-fingerprint header' };
const UNVERIFIED = { status: 401, message: 'token could not be verified' };
const WRONG_DEVICE = { status: 401, message: 'Token fails security check' };
const WRONG_TYPE = { status: 401, message: 'Invalid token' };
const PASSED = { status: 200, message: undefined };

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const fingerprinted = fixture(() => app.signUp({ fingerprint: 'device 1' }));

/** Reads a person's identity with exactly these headers. */
async function ask(face: Face, person: Person, headers: readonly string[], server = app) {
  const input = encodeURIComponent(JSON.stringify({ identityId: person.id }));
  const path = face === 'rest' ? `/identities/${person.id}` : `/trpc/identities.get?input=${input}`;
  const { status, body } = await sendRaw(server.url + path, { headers });
  return { status, message: (body as { error?: { message: string } }).error?.message };
}
const bearer = (token: string) => ['authorization', `Bearer ${token}`];

describe.each(FACES)('an authenticated request over %s', (face) => {
  it('answers 422, not 401, without the header', async () => {
    expect(await ask(face, ann, [])).toEqual(MISSING);
    expect(await ask(face, ann, ['x-nb-fingerprint', 'f'])).toEqual(MISSING);
  });

  it('answers 422 to a header that is not Bearer and one word', async () => {
    const { accessToken } = ann;
    const values = ['', 'Bearer', 'Bearer ', accessToken, `Basic ${accessToken}`, `bearer ${accessToken}`, `Bearer ${accessToken} more`, `Bearer  ${accessToken}`, `Bearer ${accessToken}, Bearer x`, `Bearer ${accessToken},x`, `Token Bearer ${accessToken}`]; // prettier-ignore
    for (const value of values) expect(await ask(face, ann, ['authorization', value]), value).toEqual(MALFORMED);
  });

  it('answers 422 to a repeated header, whatever its values', async () => {
    const good = bearer(ann.accessToken);
    expect(await ask(face, ann, [...good, ...good])).toEqual(MALFORMED);
    expect(await ask(face, ann, [...good, 'Authorization', 'Bearer x'])).toEqual(MALFORMED);
  });

  it('answers 422 to a fingerprint that is repeated or longer than 512 characters, before it reads the token', async () => {
    for (const token of [fingerprinted.accessToken, 'garbage']) {
      const twice = ['x-nb-fingerprint', 'device 1', 'X-NB-Fingerprint', 'device 1'];
      expect(await ask(face, fingerprinted, [...bearer(token), ...twice])).toEqual(BAD_FINGERPRINT);
      expect(await ask(face, fingerprinted, [...bearer(token), 'x-nb-fingerprint', 'f'.repeat(513)])).toEqual(BAD_FINGERPRINT);
    }
    const longest = await app.signUp({ fingerprint: 'f'.repeat(512) });
    expect(await ask(face, longest, [...bearer(longest.accessToken), 'x-nb-fingerprint', 'f'.repeat(512)])).toEqual(PASSED);
  });

  it('accepts only the fingerprint of the login, and none if none was given', async () => {
    const token = bearer(fingerprinted.accessToken);
    expect(await ask(face, fingerprinted, [...token, 'x-nb-fingerprint', 'device 1'])).toEqual(PASSED);
    expect(await ask(face, fingerprinted, [...token, 'x-nb-fingerprint', '  device 1 '])).toEqual(PASSED);
    expect(await ask(face, fingerprinted, [...token, 'x-nb-fingerprint', 'device 2'])).toEqual(WRONG_DEVICE);
    expect(await ask(face, fingerprinted, token)).toEqual(WRONG_DEVICE);
    expect(await ask(face, ann, [...bearer(ann.accessToken), 'x-nb-fingerprint', 'device 1'])).toEqual(WRONG_DEVICE);
    expect(await ask(face, ann, [...bearer(ann.accessToken), 'x-nb-fingerprint', ''])).toEqual(WRONG_DEVICE);
    expect(await ask(face, ann, bearer(ann.accessToken))).toEqual(PASSED);
  });

  it('accepts a fingerprint given with spaces around it, which no header can carry', async () => {
    const spaced = await app.signIn(ann.email, { fingerprint: ' device 3\t' });
    expect(await ask(face, spaced, [...bearer(spaced.accessToken), 'x-nb-fingerprint', 'device 3'])).toEqual(PASSED);
  });

  it('answers Invalid token to a refresh token', async () => {
    expect(await ask(face, ann, bearer(ann.refreshToken))).toEqual(WRONG_TYPE);
  });

  it('answers 401 to garbage, cut and spliced tokens', async () => {
    const [mine, other] = [ann.accessToken.split('.'), fingerprinted.accessToken.split('.')];
    const spliced = [...mine.slice(0, 3), ...other.slice(3)].join('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    const payload = Buffer.from(JSON.stringify({ sub: ann.id, type: 'access' })).toString('base64url');
    const forged = ['garbage', 'null', 'undefined', '....', ann.accessToken.slice(0, -1), ann.accessToken.slice(1), `${ann.accessToken}A`, spliced, `${header}.${payload}.`, 'x'.repeat(8000)]; // prettier-ignore
    for (const token of forged) expect(await ask(face, ann, bearer(token)), token).toEqual(UNVERIFIED);
  });

  it('answers 401 to a token of an identity that never existed', async () => {
    const { sessions } = app.tandem.services;
    const nobody = '01890000-0000-7000-8000-000000000000';
    const { accessToken } = await sessions.start(nobody, 0, { ip: '', userAgent: '', fingerprintHash: undefined });
    expect(await ask(face, ann, bearer(accessToken))).toEqual(UNVERIFIED);
  });

  it('answers 403 only to known callers, and 400 only to permitted ones', async () => {
    const call = (headers: Record<string, string>, identityId: string) =>
      app.call(face, 'identities.get', { identityId, foo: 1 }, { headers });
    const known = { authorization: `Bearer ${ann.accessToken}` };
    expect(await call({}, 'no-uuid')).toEqual({ ok: false, ...MISSING });
    expect(await call({ authorization: 'Bearer garbage' }, 'no-uuid')).toEqual({ ok: false, ...UNVERIFIED });
    expect(await call(known, 'no-uuid')).toMatchObject({ status: 403 });
    expect(await call(known, ann.id)).toMatchObject({ status: 400, data: ["query parameter 'foo' is not allowed"] });
  });
});

describe('a token', () => {
  it('is refused once expired, to the second', async () => {
    await using own = await startTestServer();
    const bob = await own.signUp();
    const { expiresAt } = await own
      .rest('POST', '/auth/token/check', { token: bob.accessToken })
      .expect<{ expiresAt: string }>(200);
    const left = Date.parse(expiresAt) - own.clock.now().getTime();
    expect(left).toBeGreaterThan(14 * 60_000);
    expect(left).toBeLessThanOrEqual(15 * 60_000);
    own.clock.advance(left);
    for (const face of FACES) expect(await ask(face, bob, bearer(bob.accessToken), own)).toEqual(UNVERIFIED);
  });

  it('with other secrets is refused; a token of a rotated secret is accepted, and new ones use the new secret', async () => {
    const [oldSecret, newSecret] = [TEST_SECRETS.authSignSecret, 'n'.repeat(32)];
    const secrets = (authSignSecret: string | string[]) => ({ authSecrets: { ...TEST_SECRETS, authSignSecret } });
    await using rotated = await startTestServer(secrets([newSecret, oldSecret]));
    await using other = await startTestServer(secrets(newSecret));
    const afterRotation = await rotated.signIn(ann.email);
    for (const face of FACES) {
      expect(await ask(face, ann, bearer(ann.accessToken), rotated)).toEqual(PASSED);
      expect(await ask(face, ann, bearer(ann.accessToken), other)).toEqual(UNVERIFIED);
      expect(await ask(face, ann, bearer(afterRotation.accessToken), other)).toEqual(PASSED);
      expect(await ask(face, ann, bearer(afterRotation.accessToken))).toEqual(UNVERIFIED);
    }
  });

  it('of a secret between commas is refused, since a text is one secret', async () => {
    const authSignSecret = `${'n'.repeat(32)},${TEST_SECRETS.authSignSecret}`;
    await using other = await startTestServer({ authSecrets: { ...TEST_SECRETS, authSignSecret } });
    for (const face of FACES) expect(await ask(face, ann, bearer(ann.accessToken), other)).toEqual(UNVERIFIED);
  });

  it('is looked up once for a tRPC batch of many calls', async () => {
    const verify = vi.spyOn(app.tandem.facts, 'verifyAccess');
    const calls = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [n, { identityId: ann.id }]));
    const path = `/trpc/${Array(5).fill('identities.get').join(',')}?batch=1&input=${encodeURIComponent(JSON.stringify(calls))}`;
    const { status } = await sendRaw(app.url + path, { headers: bearer(ann.accessToken) });
    expect([status, verify.mock.calls.length]).toEqual([200, 1]);
    verify.mockRestore();
  });
});
