import { FACES, PASSWORD, fixture, startTestServer, type Credentials, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { identityModel } from '../identities/identity.model.js';
import { sessionModel } from './sessions/session.model.js';

const FINGERPRINT = 'the fingerprint of a device';
const HIDDEN_FIELDS = ['passwordHash', 'sessionEpoch', 'fingerprintHash', 'rotations', '$2b$', '__v', '"_id"', 'deletedAt'];

const app = fixture(() => startTestServer({ logLevel: 'trace' }));

/** Everything that is answered, each with the procedure that did. */
const answered: { procedure: string; text: string }[] = [];
async function call(face: Face, procedure: string, input: object, credentials: Credentials = {}) {
  const outcome = await app.call(face, procedure, { ...input }, credentials);
  answered.push({ procedure, text: JSON.stringify(outcome) });
  return outcome;
}
const hashOf = async (email: string) =>
  (await app.storage.model(identityModel).findOne({ email }).select('+passwordHash').setOptions({ deleted: 'include' }).lean())
    ?.passwordHash ?? '';

/** A life of an account, with what goes wrong in one. */
async function live(face: Face) {
  const email = `${crypto.randomUUID()}@example.org`;
  const admin = await app.signUpAdmin();
  await call(face, 'auth.register', { email, password: PASSWORD });
  await call(face, 'auth.register', { email, password: PASSWORD });
  await call(face, 'auth.register', { email, password: PASSWORD.slice(0, 5), [`x`]: PASSWORD.length });
  await Promise.all([1, 2, 3].map(() => call(face, 'auth.register', { email: `twice-${email}`, password: PASSWORD })));
  for (const password of [`${PASSWORD}?`, 'a wrong guess']) await call(face, 'auth.login', { email, password });
  const outcome = await call(face, 'auth.login', { email, password: PASSWORD, fingerprint: FINGERPRINT });
  const { id, accessToken, refreshToken } = (outcome as { value: Record<'id' | 'accessToken' | 'refreshToken', string> }).value;
  const mine = { accessToken, fingerprint: FINGERPRINT };
  const hash = await hashOf(email);

  await call(face, 'identities.get', { identityId: id }, mine);
  await call(face, 'identities.get', { identityId: id }, { accessToken });
  await call(face, 'identities.get', { identityId: id }, { accessToken: refreshToken });
  await call(face, 'identities.get', { identityId: id }, { accessToken: `${accessToken}A` });
  await call(face, 'identities.list', { page: 1, limit: 50 }, admin.credentials);
  await call(face, 'identities.patch', { identityId: id, email: admin.email }, admin.credentials);
  await call(face, 'identities.patch', { identityId: id, emailVerified: true }, admin.credentials);
  await call(face, 'identities.patch', { identityId: id, email, typeId: 'guest' }, admin.credentials);
  await call(face, 'auth.checkToken', { token: accessToken }, { fingerprint: FINGERPRINT });
  await call(face, 'auth.checkToken', { token: refreshToken });
  const renewed = await call(face, 'auth.refreshToken', { refreshToken }, { fingerprint: FINGERPRINT });
  app.clock.advance(11_000);
  await call(face, 'auth.refreshToken', { refreshToken }, { fingerprint: FINGERPRINT });
  await call(face, 'identities.lock', { identityId: id }, admin.credentials);
  await call(face, 'auth.login', { email, password: PASSWORD });
  await call(face, 'identities.unlock', { identityId: id }, admin.credentials);
  await call(face, 'identities.delete', { identityId: id }, admin.credentials);
  await call(face, 'identities.restore', { identityId: id }, admin.credentials);
  await call(face, 'auth.logout', { refreshToken }, { accessToken });
  const second = (renewed as { value: Record<'accessToken' | 'refreshToken', string> }).value;
  return { email, hash, tokens: [accessToken, refreshToken, second.accessToken, second.refreshToken] };
}

/** Logs failures that quote what they failed on, as the store's do. */
async function logQuotingFailures(email: string): Promise<void> {
  const { collection } = app.storage.model(identityModel);
  const record = await collection.findOne({ email });
  const duplicate = await collection.insertOne({ ...record }).catch((error: unknown) => error);
  expect(String(duplicate)).toContain('E11000');
  const text = `cannot write { passwordHash: ${JSON.stringify(record?.passwordHash)} } of ${email}`;
  for (const err of [duplicate, new TypeError(text, { cause: duplicate })])
    app.tandem.facts.log.error({ err }, 'unexpected failure');
}

describe.each(FACES)('a whole life of an account over %s', (face) => {
  it('leaves no secret in any answer, and nothing personal in any log line', async () => {
    const { email, hash, tokens } = await live(face);
    await logQuotingFailures(email);
    expect(hash).toMatch(/^\$2b\$04\$/);

    for (const { procedure, text } of answered) {
      const handsOutTokens = ['auth.login', 'auth.refreshToken'].includes(procedure);
      for (const secret of [PASSWORD, hash, FINGERPRINT, ...HIDDEN_FIELDS, ...(handsOutTokens ? [] : tokens)])
        expect(text.includes(secret), `${procedure} answers ${secret}`).toBe(false);
    }
    const logs = app.logs();
    expect(logs).toContain('unexpected failure');
    expect(logs).toContain('a refresh token was reused');
    for (const secret of [PASSWORD, 'a wrong guess', hash, '$2b$', FINGERPRINT, email, '@example.org', ...tokens])
      expect(logs.includes(secret), `the log has ${secret}`).toBe(false);
    for (const token of tokens) expect(logs.includes(token.slice(-43)), 'the log has a piece of a token').toBe(false);
  });
});

describe('the store', () => {
  it('keeps passwords as hashes and no token', async () => {
    const ann = await app.signUp({ fingerprint: FINGERPRINT });
    const records = [
      ...(await app.storage.model(identityModel).collection.find().toArray()),
      ...(await app.storage.model(sessionModel).collection.find().toArray()),
    ];
    const text = JSON.stringify(records);
    for (const secret of [PASSWORD, FINGERPRINT, ann.accessToken, ann.refreshToken]) expect(text.includes(secret)).toBe(false);
  });
});
