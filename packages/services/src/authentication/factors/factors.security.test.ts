import { randomBytes } from 'node:crypto';
import {
  FACES,
  PASSWORD,
  TEST_SECRETS,
  createPasskey,
  createTestClock,
  createTotpApp,
  isCommand,
  startStoreProxy,
  startTestServer,
  type Deviation,
  type Outcome,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { Secret } from 'otpauth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORIGIN, addPasskey } from '../../../test/passkeys.js';
import { identityModel } from '../../identities/identity.model.js';
import { createSealedSecrets } from './sealed-secrets.js';

const MINUTE = 60_000;
const WRONG_CODE = 'Invalid MFA code provided.';
const REFUSED = 'Passkey could not be verified';
const LOCKED = 'This account is locked';

/** Two instances over one clock and database. */
let app: TestServer;
let second: TestServer;
const settings = { passkeyRpId: 'localhost', corsOrigins: [ORIGIN] };
beforeAll(async () => {
  app = await startTestServer(settings);
  second = await startTestServer({ ...settings, clock: app.clock });
});
afterAll(() => Promise.all([app.close(), second.close()]));

const said = (outcome: Outcome) => (outcome.ok ? 'ok' : outcome.message);
const count = (list: string[], text: string) => list.filter((one) => one === text).length;
const instance = (n: number) => (n % 2 === 0 ? app : second);

async function withApp(person: Person): Promise<ReturnType<typeof createTotpApp>> {
  const { id, secret } = await person
    .rest('POST', `/auth/${person.id}/factors/totp`, {})
    .expect<{ id: string; secret: string }>(201);
  const code = createTotpApp(secret, app.clock);
  await person.rest('POST', `/auth/${person.id}/factors/${id}/confirm`, { code: code() }).expect(204);
  return code;
}

const passkeyOf = async (person: Person) => (await addPasskey(person)).passkey;
async function challenge({ email }: Person): Promise<string> {
  return (await app.rest('POST', '/auth/login', { email, password: PASSWORD }).expect<{ token: string }>(200)).token;
}
const signInOptions = () => app.rest('POST', '/auth/passkeys/options').expect<{ challenge: string; rpId: string }>(200);

describe.each(FACES)('one code over %s', (face) => {
  it('of an authenticator app, given 20 times at once on two instances, signs in once', async () => {
    const ann = await app.signUp();
    const code = await withApp(ann);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => challenge(ann)));
    const given = code(1);
    const all = await Promise.all(tokens.map(async (token, n) => said(await instance(n).call(face, 'auth.mfaVerify', { token, code: given })))); // prettier-ignore
    expect(count(all, 'ok')).toBe(1);
    expect(count(all, WRONG_CODE) + count(all, LOCKED)).toBe(19);
  });

  it('of recovery, given 20 times at once on two instances, signs in once', async () => {
    const ann = await app.signUp();
    await withApp(ann);
    const { codes } = await ann.rest('POST', `/auth/${ann.id}/factors/recovery-codes`).expect<{ codes: string[] }>(201);
    const tokens = await Promise.all(Array.from({ length: 20 }, () => challenge(ann)));
    const all = await Promise.all(tokens.map(async (token, n) => said(await instance(n).call(face, 'auth.mfaVerify', { token, code: codes[3] })))); // prettier-ignore
    expect(count(all, 'ok')).toBe(1);
  });

  it('of a passkey, given 20 times at once on two instances, signs in once', async () => {
    const passkey = await passkeyOf(await app.signUp());
    const response = passkey.get(await signInOptions());
    const all = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => said(await instance(n).call(face, 'auth.passkeySignIn', { response }))),
    );
    expect(count(all, 'ok')).toBe(1);
    expect(count(all, REFUSED)).toBe(19);
  });

  it('confirms an authenticator app once', async () => {
    const ann = await app.signUp();
    const add = `/auth/${ann.id}/factors/totp`;
    const { id, secret } = await ann.rest('POST', add, {}).expect<{ id: string; secret: string }>(201);
    const code = createTotpApp(secret, app.clock)();
    const confirm = async () => said(await ann.call(face, 'auth.confirmTotp', { identityId: ann.id, factorId: id, code }));
    const all = await Promise.all(Array.from({ length: 5 }, confirm));
    expect(count(all, 'ok')).toBe(1);
    expect(count(all, 'Factor not found')).toBe(4);
  });

  it('guessed: five are compared, then the account is locked, whichever way they are given', async () => {
    const ann = await app.signUp();
    const code = await withApp(ann);
    const token = await challenge(ann);
    const guess = async (n: number) => {
      const wrong = String((Number(code(1)) + 1 + n) % 1_000_000).padStart(6, '0');
      if (n % 2 === 0) return said(await instance(n).call(face, 'auth.mfaVerify', { token, code: wrong }));
      return said(await ann.call(face, 'auth.prove', { identityId: ann.id, code: wrong }));
    };
    const all = await Promise.all(Array.from({ length: 16 }, (_, n) => guess(n)));
    expect(count(all, WRONG_CODE)).toBe(5);
    expect(said(await app.call(face, 'auth.mfaVerify', { token, code: code(1) }))).toBe(LOCKED);
    expect(said(await ann.call(face, 'auth.prove', { identityId: ann.id, code: code(1) }))).toBe(LOCKED);
    app.clock.advance(MINUTE);
    expect(said(await app.call(face, 'auth.mfaVerify', { token: await challenge(ann), code: code(1) }))).toBe('ok');
  });
});

describe('forged answers of passkeys', () => {
  const flip = (bytes: Buffer) => {
    const copy = Buffer.from(bytes);
    const at = copy.length - 1 - ((randomBytes(1)[0] as number) % 20);
    copy[at] = (copy[at] as number) ^ 1;
    return copy;
  };

  it('1,000 of them, of every kind: none is accepted', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [own, others] = [await passkeyOf(ann), await passkeyOf(bob)];
    const token = await challenge(bob);
    const spent = await signInOptions();
    await app.rest('POST', '/auth/passkeys/verify', { response: own.get(spent, { counter: 1000 }) }).expect(200);
    const ofStep = await app.rest('POST', '/auth/mfa/passkey/options', { token }).expect<{ challenge: string }>(200);
    const forged: [string, () => Deviation][] = [
      ['of another origin', () => ({ origin: `http://localhost:${1 + Math.floor(Math.random() * 65_000)}` })],
      ['of a page that only begins alike', () => ({ origin: `${ORIGIN}.example.org` })],
      ['for another relying party', () => ({ rpId: 'example.org' })],
      ['to a challenge that nobody made', () => ({ challenge: randomBytes(40).toString('base64url') })],
      ['to a challenge that was answered', () => ({ challenge: spent.challenge })],
      ['to the challenge of another purpose', () => ({ challenge: ofStep.challenge })],
      ['with a changed signature', () => ({ signature: flip })],
      ['without a signature', () => ({ signature: () => Buffer.from([0]) })],
      ['in the name of another credential', () => ({ credentialId: others.credentialId })],
      ['with a credential that nobody has', () => ({ credentialId: randomBytes(32).toString('base64url') })],
      ['for another person', () => ({ userHandle: Buffer.from(bob.id).toString('base64url') })],
      ['with a counter that went back', () => ({ counter: 1 + Math.floor(Math.random() * 900) })],
      ['with the counter of the last use', () => ({ counter: 1000 })],
      ['without a counter, where it had one', () => ({ counter: 0 })],
      ['without having verified its user', () => ({ isVerified: false })],
      ['without a user', () => ({ isPresent: false })],
      ['of a registration', () => ({ type: 'webauthn.create' })],
    ];
    let counter = 2000;
    const answers: string[] = [];
    for (let n = 0; n < 1000; n += 20) {
      const batch = Array.from({ length: 20 }, async (_, at) => {
        const [kind, deviation] = forged[(n + at) % forged.length] as (typeof forged)[number];
        const response = own.get(await signInOptions(), { counter: ++counter, ...deviation() });
        return `${kind}: ${said(await instance(at).call('rest', 'auth.passkeySignIn', { response }))}`;
      });
      answers.push(...(await Promise.all(batch)));
    }
    expect(new Set(answers)).toEqual(new Set(forged.map(([kind]) => `${kind}: ${REFUSED}`)));
    // it was the deviation that was refused, each time
    await app
      .rest('POST', '/auth/passkeys/verify', { response: own.get(await signInOptions(), { counter: ++counter }) })
      .expect(200);
  });

  it('an answer is accepted once, also by a machine whose clock is behind that of the store', async () => {
    const clock = { ...createTestClock(), inStore: () => '$$NOW' };
    clock.advance(-6 * MINUTE);
    await using slow = await startTestServer({ ...settings, clock });
    // as of passkeys that are synchronized
    const uncounted = { counter: 0 };
    const { passkey } = await addPasskey(await slow.signUp(), 'Phone', uncounted);
    const options = await slow.rest('POST', '/auth/passkeys/options').expect<{ challenge: string; rpId: string }>(200);
    const response = passkey.get(options, uncounted);
    await slow.rest('POST', '/auth/passkeys/verify', { response }).expect(200);
    await slow.storage.sweep();
    await slow.rest('POST', '/auth/passkeys/verify', { response }).expect(401, REFUSED);
  });

  it('a challenge of another type, or none, is refused like a wrong one', async () => {
    const passkey = await passkeyOf(await app.signUp());
    const answer = passkey.get(await signInOptions());
    for (const challenge of [5, null, {}, undefined, '\u0000', 'ü', 'x'.repeat(10_000)]) {
      const data = JSON.stringify({ type: 'webauthn.get', challenge, origin: ORIGIN, crossOrigin: false });
      const response = { ...answer, response: { ...answer.response, clientDataJSON: Buffer.from(data).toString('base64url') } };
      await app.rest('POST', '/auth/passkeys/verify', { response }).expect(401, REFUSED);
    }
    for (const field of ['clientDataJSON', 'authenticatorData', 'signature'])
      for (const text of ['!', 'bnVsbA', 'e30', '\u0000']) {
        const response = { ...answer, response: { ...answer.response, [field]: text } };
        await app.rest('POST', '/auth/passkeys/verify', { response }).expect(401, REFUSED);
      }
  });

  it('a challenge lives five minutes, and for its purpose, person and session alone', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [own, others] = [await passkeyOf(ann), await passkeyOf(bob)];
    const options = await signInOptions();
    app.clock.advance(5 * MINUTE);
    await app.rest('POST', '/auth/passkeys/verify', { response: own.get(options) }).expect(401);
    // a second step is answered by the person's own passkey, to the options of that step
    const token = await challenge(ann);
    const ofStep = await app
      .rest('POST', '/auth/mfa/passkey/options', { token })
      .expect<{ challenge: string; rpId: string }>(200);
    const finish = (response: object) => app.rest('POST', '/auth/mfa/passkey', { token, response });
    await finish(others.get(ofStep)).expect(401);
    await finish(own.get(await signInOptions())).expect(401);
    const again = await app.rest('POST', '/auth/mfa/passkey/options', { token }).expect<{ challenge: string; rpId: string }>(200);
    await finish(own.get(again)).expect(200);
    // a new passkey is made in the session that asked for the options
    const made = await bob.rest('POST', `/auth/${bob.id}/factors/passkeys/options`).expect<never>(200);
    const add = (person: Person, response: object) => person.rest('POST', `/auth/${person.id}/factors/passkeys`, { response });
    await add(ann, createPasskey(ORIGIN).create(made)).expect(401);
    await add(bob, createPasskey(ORIGIN).create(made, { isVerified: false })).expect(401);
    await add(bob, createPasskey(ORIGIN).create(made)).expect(401);
  });
});

it('a passkey used while its account is locked and unlocked gets a session that has ended', async () => {
  const [ann, admin] = [await app.signUp(), await app.signUpAdmin()];
  const passkey = await passkeyOf(ann);
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using stalling = await startTestServer({ ...settings, mongodbUri: proxy.uri, clock: app.clock });
  const { reached, release } = proxy.hold(isCommand('identities.update'));
  const response = passkey.get(await signInOptions());
  const signingIn = stalling.rest('POST', '/auth/passkeys/verify', { response }).expect<{ accessToken: string }>(200);
  await reached;
  await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
  await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
  release();
  const { accessToken } = await signingIn;
  await app.rest('GET', `/identities/${ann.id}`, undefined, { accessToken }).expect(401);
});

it('a passkey that is refused as a proof counts as a failed login', async () => {
  const [ann, bob] = [await app.signUp(), await app.signUp()];
  const others = await passkeyOf(bob);
  const prove = async (response: object) => said(await ann.call('rest', 'auth.prove', { identityId: ann.id, response }));
  for (let n = 0; n < 5; n++) expect(await prove(others.get(await signInOptions()))).toBe(REFUSED);
  expect(await prove(others.get(await signInOptions()))).toBe(LOCKED);
});

describe('a factor', () => {
  it('is not added by a session that has ended', async () => {
    const ann = await app.signUp();
    const { identities, sessions } = app.tandem.services;
    const { identity } = await sessions.verifyAccess(ann.accessToken);
    const session = await sessions.refOf(identity.sessionId, ann.id);
    if (!session) throw new Error('no session');
    await identities.endSessions(ann.id);
    const factor = { id: 'f', key: 'c', type: 'passkey', name: '', createdAt: new Date(), lastUsedAt: null, publicKey: '', counter: 0, transports: [] } as const; // prettier-ignore
    await expect(identities.factors.add(ann.id, { ...factor, transports: [] }, session)).rejects.toThrow(
      'token could not be verified',
    );
    await expect(identities.factors.setRecoveryCodes(ann.id, ['hash'], session)).rejects.toThrow('token could not be verified');
  });

  it('has no secret in the store, in a log or in an answer', async () => {
    const ann = await app.signUp();
    const { secret, id } = await ann.rest('POST', `/auth/${ann.id}/factors/totp`, {}).expect<{ secret: string; id: string }>(201);
    await ann.rest('POST', `/auth/${ann.id}/factors/${id}/confirm`, { code: createTotpApp(secret, app.clock)() }).expect(204);
    const { codes } = await ann.rest('POST', `/auth/${ann.id}/factors/recovery-codes`).expect<{ codes: string[] }>(201);
    const stored = JSON.stringify(await app.storage.model(identityModel).collection.findOne({ _id: ann.id } as object));
    expect(stored).toContain('sealedBy');
    const bytes = Buffer.from(Secret.fromBase32(secret).buffer);
    const shown = JSON.stringify([
      await ann.rest('GET', `/identities/${ann.id}`).expect(200),
      await ann.rest('GET', `/auth/${ann.id}/factors`).expect(200),
      await ann.rest('GET', `/auth/${ann.id}/events`).expect(200),
    ]);
    const secrets = [secret, ...['base64', 'base64url', 'hex'].map((encoding) => bytes.toString(encoding as 'hex')), ...codes];
    for (const text of [...secrets, ...codes.map((code) => code.replaceAll('-', ''))])
      expect([stored, app.logs(), shown].map((where) => where.includes(text))).toEqual([false, false, false]);
    expect(shown).not.toMatch(/recoveryCodes"|sealedBy|publicKey/);
  });

  it('is sealed for one person, and sealed anew by the first secret when it is used', async () => {
    const ann = await app.signUp();
    const code = await withApp(ann);
    const { authEncSecret, authSignSecret } = TEST_SECRETS;
    const authSecrets = { authEncSecret: ['n'.repeat(32), ...[authEncSecret].flat()], authSignSecret };
    await using rotated = await startTestServer({ ...settings, authSecrets, clock: app.clock });
    const { factors } = rotated.tandem.services;
    const before = await factors.countSealedBefore();
    const { token } = await rotated
      .rest('POST', '/auth/login', { email: ann.email, password: PASSWORD })
      .expect<{ token: string }>(200);
    await rotated.rest('POST', '/auth/mfa/verify', { token, code: code(1) }).expect(200);
    expect(await factors.countSealedBefore()).toBe(before - 1);
    const secrets = createSealedSecrets(['s'.repeat(32)]);
    const sealed = secrets.seal(Buffer.from('secret'), ann.id);
    expect(secrets.open(sealed, ann.id).toString()).toBe('secret');
    expect(() => secrets.open(sealed, 'another')).toThrow('unable to authenticate data');
    expect(() => createSealedSecrets(['t'.repeat(32)]).open(sealed, ann.id)).toThrow('is not among authEncSecret');
  });
});
