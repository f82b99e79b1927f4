import { FACES, NEW_PASSWORD, PASSWORD, fixture, sendRaw, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const MALFORMED = { status: 422, message: 'Incorrect authorization of token header' };
const BAD_FINGERPRINT = { status: 422, message: 'Incorrect format of x-nb-fingerprint header' };
const WRONG_DEVICE = { status: 401, message: 'Token fails security check' };
const WRONG_TYPE = { status: 401, message: 'Invalid token' };

const app = fixture(startTestServer);
const withMfa = fixture(() => startTestServer({ mfaEnabled: true }));
const ann = fixture(() => app.signUp());

const PATHS = {
  resetPassword: '/auth/reset-password',
  ottLogin: '/auth/ott/login',
  mfaVerify: '/auth/mfa/verify',
  checkToken: '/auth/token/check',
  refreshToken: '/auth/token/refresh',
  logout: '/auth/logout',
} as const;

/** Calls a procedure with exactly these headers. */
async function post(face: Face, name: keyof typeof PATHS, input: object, headers: readonly string[], on = app) {
  const path = face === 'rest' ? PATHS[name] : `/trpc/auth.${name}`;
  const { status, body } = await sendRaw(on.url + path, { method: 'POST', headers, body: JSON.stringify(input) });
  return { status, message: (body as { error?: { message: string } } | undefined)?.error?.message };
}
const isDone = { status: expect.toBeOneOf([200, 204]) as number, message: undefined };
const onetime = async (target: 'login' | 'reset-password', person = ann) =>
  (await app.tandem.services.onetimeTokens.create({ identityId: person.id, target, email: person.email })).token;
const twice = (value: string) => ['x-nb-fingerprint', value, 'X-NB-Fingerprint', value];

describe.each(FACES)('over %s', (face) => {
  it('a password is reset by one bearer word alone, and what is refused uses nothing up', async () => {
    const bob = await app.signUp();
    const [token, other] = [await onetime('reset-password', bob), await onetime('login', bob)];
    const reset = (headers: readonly string[], input: object = { password: NEW_PASSWORD }) =>
      post(face, 'resetPassword', input, headers);
    const values = [
      `Bearer ${token} ${token}`,
      `Bearer ${token}, Bearer ${other}`,
      `Bearer ${token},${token}`,
      `Bearer  ${token}`,
      `bearer ${token}`,
      `Basic ${token}`,
      token,
      'Bearer',
      '',
    ];
    for (const value of values) expect(await reset(['authorization', value]), value).toEqual(MALFORMED);
    const word = `Bearer ${token}`;
    for (const second of [word, `Bearer ${other}`, 'Bearer x', ''])
      expect(await reset(['authorization', word, 'Authorization', second]), second).toEqual(MALFORMED);
    expect(await reset(['authorization', `Bearer ${other}`])).toEqual(WRONG_TYPE);
    // the body is what counts where it names a token: a client may send its access token with everything
    expect(await reset(['authorization', word], { password: NEW_PASSWORD, token: other })).toEqual(WRONG_TYPE);
    expect(await reset(['authorization', word])).toEqual(isDone);
  });

  it('a fingerprint given twice or too long is refused by all that reads one, and nothing is used up', async () => {
    const [token, bob] = [await onetime('login'), await app.signUp()];
    const bad = [twice('device 1'), ['x-nb-fingerprint', 'f'.repeat(513)]];
    for (const headers of bad) {
      expect(await post(face, 'ottLogin', { token }, headers)).toEqual(BAD_FINGERPRINT);
      expect(await post(face, 'ottLogin', { token, fingerprint: 'device 1' }, headers)).toEqual(BAD_FINGERPRINT);
      expect(await post(face, 'mfaVerify', { token, code: '123456' }, headers)).toEqual(BAD_FINGERPRINT);
      expect(await post(face, 'checkToken', { token }, headers)).toEqual(BAD_FINGERPRINT);
      expect(await post(face, 'refreshToken', { refreshToken: bob.refreshToken }, headers)).toEqual(BAD_FINGERPRINT);
    }
    expect(await post(face, 'refreshToken', { refreshToken: bob.refreshToken }, [])).toEqual(isDone);
    expect(await post(face, 'ottLogin', { token }, [])).toEqual(isDone);
  });

  it('a one-time token signs in one device: a body and a header that name two are refused', async () => {
    const token = await onetime('login');
    const login = (fingerprint: string, header: string) =>
      post(face, 'ottLogin', { token, fingerprint }, ['x-nb-fingerprint', header]);
    for (const header of ['device 2', '', 'device 1, device 2']) expect(await login('device 1', header)).toEqual(WRONG_DEVICE);
    expect(await login(' device 1 ', 'device 1')).toEqual(isDone);
  });

  it('a logout takes one bearer word, and ends nothing for two', async () => {
    const bob = await app.signUp();
    const word = `Bearer ${bob.accessToken}`;
    for (const headers of [
      ['authorization', word, 'authorization', word],
      ['authorization', `${word}, ${word}`],
    ])
      expect(await post(face, 'logout', {}, headers)).toEqual(MALFORMED);
    expect(await bob.call(face, 'identities.get', { identityId: bob.id })).toMatchObject({ ok: true });
  });

  it('the device of the first step stays that of the second, whatever its header says', async () => {
    const { token } = await withMfa
      .rest('POST', '/auth/login', { email: ann.email, password: PASSWORD, fingerprint: 'device 1' })
      .expect<{ token: string }>(200);
    const { code = '' } = await withMfa.mail.next(ann.email);
    const verify = (headers: readonly string[]) => post(face, 'mfaVerify', { token, code }, headers, withMfa);
    for (const header of ['device 2', '', 'device 1, device 2'])
      expect(await verify(['x-nb-fingerprint', header])).toEqual(WRONG_DEVICE);
    expect(await verify(['x-nb-fingerprint', 'device 1'])).toEqual(isDone);
  });

  it('no answer may be kept by a cache: it has tokens, or personal data', async () => {
    const input = encodeURIComponent(JSON.stringify({ identityId: ann.id }));
    const read = face === 'rest' ? `/identities/${ann.id}` : `/trpc/identities.get?input=${input}`;
    const write = face === 'rest' ? '/auth/login' : '/trpc/auth.login';
    const body = JSON.stringify({ email: ann.email, password: PASSWORD });
    const answers = [
      await sendRaw(app.url + read, { headers: ['authorization', `Bearer ${ann.accessToken}`] }),
      await sendRaw(app.url + read, { headers: [] }),
      await sendRaw(app.url + write, { method: 'POST', headers: [], body }),
      await sendRaw(app.url + write, { method: 'POST', headers: [], body: '{' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 200, 400]);
    for (const { headers } of answers) expect(headers['cache-control']).toBe('no-store');
    // a tag names a version, and nothing that the record holds
    expect(answers.map(({ headers }) => headers.etag)).toEqual([`"${ann.id}.1"`, undefined, undefined, undefined]);
  });
});
