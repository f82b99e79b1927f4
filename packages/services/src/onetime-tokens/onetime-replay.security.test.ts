import {
  FACES,
  NEW_PASSWORD,
  PASSWORD,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnetimeProofs } from '../authentication/onetime-proofs.js';
import { sessionModel } from '../authentication/sessions/session.model.js';
import { identityModel } from '../identities/identity.model.js';

/** Two instances with a second step for sign-in, and two without, over one clock. */
let app: TestServer;
let second: TestServer;
let mfa: readonly [TestServer, TestServer];
let admin: Person;
beforeAll(async () => {
  app = await startTestServer();
  const { clock } = app;
  second = await startTestServer({ clock });
  mfa = [await startTestServer({ clock, mfaEnabled: true }), await startTestServer({ clock, mfaEnabled: true })];
  admin = await app.signUpAdmin();
});
afterAll(() => Promise.all([app, second, ...mfa].map((server) => server.close())));

const sessionsOf = (identityId: string) => app.storage.model(sessionModel).countDocuments({ identityId });
const identitiesOf = (email: string) => app.storage.model(identityModel).countDocuments({ email });
const create = async (
  identityId: string,
  target: 'login' | 'confirm-email' | 'change-email' | 'reset-password',
  email?: string,
) => (await app.tandem.services.onetimeTokens.create({ identityId, target, ...(email !== undefined && { email }) })).token;
/** Twenty calls at once, on two instances in turn. */
const twenty = (
  call: (on: TestServer, n: number) => Promise<Outcome>,
  instances: readonly [TestServer, TestServer] = [app, second],
) => Promise.all(Array.from({ length: 20 }, (_, n) => call(instances[n % 2] as TestServer, n)));
const succeeded = (outcomes: Outcome[]) => outcomes.filter(({ ok }) => ok).length;

describe.each(FACES)('of twenty at once on two instances, over %s,', (face: Face) => {
  it('one signs in with a login token', async () => {
    const ann = await app.signUp();
    const token = await create(ann.id, 'login');
    expect(succeeded(await twenty((on) => on.call(face, 'auth.ottLogin', { token })))).toBe(1);
    expect(await sessionsOf(ann.id)).toBe(2);
  });

  it('one gets a challenge for a login token where there is a second step', async () => {
    const ann = await app.signUp();
    const token = await create(ann.id, 'login');
    expect(succeeded(await twenty((on) => on.call(face, 'auth.ottLogin', { token }), mfa))).toBe(1);
    expect(await sessionsOf(ann.id)).toBe(1);
  });

  it('one signs in with the code of a challenge', async () => {
    const ann = await app.signUp();
    const { token } = await mfa[0]
      .rest('POST', '/auth/login', { email: ann.email, password: PASSWORD })
      .expect<{ token: string }>(200);
    const { code } = await app.mail.next(ann.email);
    expect(succeeded(await twenty((on) => on.call(face, 'auth.mfaVerify', { token, code }), mfa))).toBe(1);
    expect(await sessionsOf(ann.id)).toBe(2);
    // right codes are no failures
    expect(await app.call(face, 'auth.login', { email: ann.email, password: PASSWORD })).toMatchObject({ ok: true });
  });

  it('one verifies an address', async () => {
    const ann = await app.signUp();
    const token = await create(ann.id, 'confirm-email', ann.email);
    expect(succeeded(await twenty((on) => on.call(face, 'auth.confirmEmail', { token })))).toBe(1);
  });

  it('one changes an address', async () => {
    const ann = await app.signUp();
    const token = await create(ann.id, 'change-email', `new-${ann.email}`);
    expect(succeeded(await twenty((on) => on.call(face, 'auth.confirmNewEmail', { token })))).toBe(1);
    expect(await identitiesOf(`new-${ann.email}`)).toBe(1);
  });

  it('one resets a password, whether its token comes in the body or in the header', async () => {
    const ann = await app.signUp();
    const token = await create(ann.id, 'reset-password', ann.email);
    const reset = (on: TestServer, n: number) =>
      n % 4 < 2
        ? on.call(face, 'auth.resetPassword', { token, password: `${NEW_PASSWORD} ${n}` })
        : on.call(face, 'auth.resetPassword', { password: `${NEW_PASSWORD} ${n}` }, { accessToken: token });
    const outcomes = await twenty(reset);
    expect(succeeded(outcomes)).toBe(1);
    const password = `${NEW_PASSWORD} ${outcomes.findIndex(({ ok }) => ok)}`;
    expect(await app.call(face, 'auth.login', { email: ann.email, password })).toMatchObject({ ok: true });
  });

  it('one registers by an invitation', async () => {
    const email = `${crypto.randomUUID()}@example.org`;
    await admin.rest('POST', '/invitations', { email }).expect(201);
    const { token } = await app.mail.next(email);
    expect(succeeded(await twenty((on) => on.call(face, 'auth.register', { token, password: PASSWORD })))).toBe(1);
    expect(await identitiesOf(email)).toBe(1);
  });

  it('none uses a token a second time that is invalidated and restored meanwhile', async () => {
    for (let round = 0; round < 3; round++) {
      const ann = await app.signUp();
      const token = await create(ann.id, 'login');
      const outcomes = await twenty(async (on, n) => {
        if (n % 4 === 1) await on.call(face, 'auth.ottInvalidate', { token }, admin.credentials);
        if (n % 4 === 2) await on.call(face, 'auth.ottRestore', { token }, admin.credentials);
        return on.call(face, 'auth.ottLogin', { token });
      });
      expect(succeeded(outcomes)).toBeLessThanOrEqual(1);
      await app.call(face, 'auth.ottRestore', { token }, admin.credentials);
      const late = await app.call(face, 'auth.ottLogin', { token });
      expect(succeeded([...outcomes, late])).toBe(1);
    }
  });

  it.each<[string, (person: Person) => Promise<unknown>]>([
    ['locked', ({ id }) => admin.rest('POST', `/identities/${id}/lock`).expect(204)],
    ['deactivated', ({ id }) => admin.rest('POST', '/auth/deactivate', { identityId: id }).expect(204)],
    ['deleted', ({ id }) => admin.rest('DELETE', `/identities/${id}`).expect(204)],
    [
      'given a new password',
      ({ id }) => admin.rest('PATCH', `/auth/${id}/change-password`, { newPassword: NEW_PASSWORD }).expect(204),
    ],
  ])('none has a session that counts of an identity that is %s at that moment', async (_, act) => {
    const ann = await app.signUp();
    const tokens = await Promise.all(Array.from({ length: 5 }, () => create(ann.id, 'login')));
    const logins = twenty((on, n) => on.call(face, 'auth.ottLogin', { token: tokens[n % 5] }));
    const [outcomes] = await Promise.all([logins, act(ann)]);
    for (const outcome of outcomes.filter(({ ok }) => ok)) {
      const { accessToken, refreshToken } = (outcome as { value: Record<'accessToken' | 'refreshToken', string> }).value;
      expect(await app.call(face, 'identities.get', { identityId: ann.id }, { accessToken })).toMatchObject({ status: 401 });
      expect(await app.call(face, 'auth.refreshToken', { refreshToken })).toMatchObject({ status: 422 });
    }
    for (const token of tokens)
      expect(await app.call(face, 'auth.ottLogin', { token })).toMatchObject({
        status: 401,
        message: 'token could not be verified',
      });
  });
});

it('a token is void for a caller that reads it before a change and the credentials after it', async () => {
  const { onetimeTokens, identities } = app.tandem.services;
  const ann = await app.signUp();
  const token = await create(ann.id, 'login');
  const credentialsOf: typeof identities.credentialsOf = async (by) => {
    await admin.rest('PATCH', `/auth/${ann.id}/change-password`, { newPassword: NEW_PASSWORD }).expect(204);
    return identities.credentialsOf(by);
  };
  const proof = createOnetimeProofs({ onetimeTokens, identities: { credentialsOf } }).read(token, 'login');
  await expect(proof).rejects.toThrow('token could not be verified');
});
