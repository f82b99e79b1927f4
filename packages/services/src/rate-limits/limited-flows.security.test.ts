import { FACES, OK, PASSWORD, TOO_MANY, fixture, startTestServer } from '@tandem/testing';
import { errorsOf, operationsOf, type Operation } from '@tandem/core';
import { describe, expect, it } from 'vitest';
import { RATE_LIMITS, type RateLimitSettings } from './limits.js';

/** In seconds: no window ends while a test runs. */
const HOUR = 3600;

/** Where accounts are made: it shares the store, and has no limits. */
const plain = fixture(startTestServer);

/** Every limited operation that anybody may call, with its limit and something that it refuses. */
const PUBLIC = [
  ['login', 'auth.login', { email: 'nobody@example.org', password: 'a wrong guess' }],
  ['register', 'auth.register', { email: 'no address', password: PASSWORD }],
  ['mfaVerify', 'auth.mfaVerify', { token: 'x', code: '123456' }],
  ['mfaResend', 'auth.mfaResend', { token: 'x' }],
  ['mfaVerify', 'auth.mfaPasskey', { token: 'x', response: {} }],
  ['passkeyOptions', 'auth.passkeySignInOptions', {}],
  ['passkeyOptions', 'auth.mfaPasskeyOptions', { token: 'x' }],
  ['passkeyVerify', 'auth.passkeySignIn', { response: {} }],
  ['resetLink', 'auth.sendResetPasswordLinkEmail', { email: 'no address' }],
  ['resetPassword', 'auth.resetPassword', { token: 'x', password: PASSWORD }],
  ['refresh', 'auth.refreshToken', { refreshToken: 'x' }],
  ['checkToken', 'auth.checkToken', { token: 'x' }],
  ['onetimeLogin', 'auth.ottLogin', { token: 'x' }],
  ['oauthStart', 'auth.startOauth', { provider: 'none', purpose: 'oauth-login', redirectUrl: 'https://nowhere.example' }],
] as const;

it.each(PUBLIC)('the limit %s of an address holds for %s, on both faces together', async (name, procedure, input) => {
  await using app = await startTestServer({ rateLimits: { [name]: { perAddress: [2, HOUR] } } as RateLimitSettings });
  const [first, second] = [await app.call('rest', procedure, input), await app.call('trpc', procedure, input)];
  expect(second).toEqual(first);
  expect(first).not.toEqual(TOO_MANY);
  for (const face of FACES) expect(await app.call(face, procedure, input)).toEqual(TOO_MANY);
});

it('what is limited says so in the documents, and nothing else does', () => {
  // each operation with a body may say it once: large bodies that come too fast are refused, whatever they are for
  const limitsOf = (one: Operation) => errorsOf(one).filter(({ status }) => status === 429).length - Number(one.hasBody);
  const limited = operationsOf(plain.tandem.router).filter((one) => limitsOf(one) > 0);
  // who asks for addresses to upload to, and uploads nothing, is given so many
  const uploads = [
    'chat.attachmentUploadUrl',
    'chat.channelIconUploadUrl',
    'chat.postedFileUploadUrl',
    'organizations.certificateUploadUrl',
    'organizations.logoUploadUrl',
    'products.imageUploadUrl',
    'profiles.avatarUploadUrl',
  ];
  const flows = PUBLIC.map(([, procedure]) => procedure);
  const signedIn = passwordFlows(ANN).flatMap(([, procedure, , isOwn]) => (isOwn ? [procedure] : []));
  const expected = [
    ...flows,
    ...uploads,
    ...signedIn,
    'auth.addPasskey',
    'auth.confirmTotp',
    'auth.deleteFactor',
    'auth.renewRecoveryCodes',
    'auth.requestExport',
    'auth.sendVerificationEmail',
    'invitations.create',
    'webhooks.redeliver',
    'webhooks.test',
  ];
  expect(limited.map(({ name }) => name).sort()).toEqual(expected.toSorted());
});

const ANN = { id: '01890000-0000-7000-8000-000000000000', email: 'ann@example.org' };

/** Every operation that hashes or compares a password: its limit, an input that comes so far, and whether it is one's own account's. */
const passwordFlows = ({ id: identityId, email }: { id: string; email: string }, reset = 'x') =>
  [
    ['login', 'auth.login', { email, password: 'a wrong guess' }, false],
    ['register', 'auth.register', { email, password: PASSWORD }, false],
    ['resetPassword', 'auth.resetPassword', { token: reset, password: PASSWORD }, false],
    ['passwordProof', 'auth.changePassword', { identityId, password: 'a wrong guess', newPassword: PASSWORD }, true],
    ['passwordProof', 'auth.prove', { identityId, password: 'a wrong guess' }, true],
    ['passwordProof', 'auth.changeEmail', { identityId, password: 'a wrong guess', email: `new-${email}` }, true],
    ['passwordProof', 'auth.linkProvider', { identityId, provider: 'none', redirectUrl: 'https://nowhere.example', password: 'a wrong guess' }, true], // prettier-ignore
    ['passwordProof', 'auth.unlinkProvider', { identityId, provider: 'none', password: 'a wrong guess' }, true],
  ] as const;

describe('what hashes or compares a password', () => {
  it('is in the table, with limits of an account and of an address', () => {
    const takePasswords = operationsOf(plain.tandem.router).filter(({ textKinds }) =>
      Object.keys(textKinds).some((key) => /password/i.test(key)),
    );
    const flows = passwordFlows(ANN);
    expect(takePasswords.map(({ name }) => name).sort()).toEqual(flows.map(([, procedure]) => procedure).toSorted());
    for (const [name] of flows)
      expect(Object.keys(RATE_LIMITS[name])).toEqual(expect.arrayContaining(['perAddress', 'perAccount']));
  });

  describe.each(FACES)('over %s', (face) => {
    it.each(['perAddress', 'perAccount'] as const)('is refused beyond its limit %s', async (kind) => {
      const rateLimits = Object.fromEntries(passwordFlows(ANN).map(([name]) => [name, { [kind]: [1, HOUR] }]));
      const ann = await plain.signUp();
      // only then a provider may be linked
      await plain.tandem.services.identities.verifyEmail(ann.id, ann.email);
      await plain.rest('POST', '/auth/send-reset-password-link-email', { email: ann.email }).expect(204);
      const { token } = await plain.mail.next(ann.email, (mail) => mail.token !== undefined);
      for (const [, procedure, input, isOwn] of passwordFlows(ann, token)) {
        await using limited = await startTestServer({ rateLimits, redirectUrls: ['https://nowhere.example'] });
        const call = () => limited.call(face, procedure, { ...input }, isOwn ? ann.credentials : {});
        expect(await call(), procedure).not.toEqual(TOO_MANY);
        expect(await call(), procedure).toEqual(TOO_MANY);
      }
    });
  });
});

describe.each(FACES)('of an account, over %s,', (face) => {
  it('reset links are limited alike whether somebody has the address or not, and only some leave', async () => {
    await using app = await startTestServer({ rateLimits: { resetLink: { perAccount: [3, HOUR] } } });
    const { email } = await plain.signUp();
    for (const one of [email, `nobody-${email}`]) {
      const outcomes = [];
      for (let n = 0; n < 5; n++) outcomes.push(await app.call(face, 'auth.sendResetPasswordLinkEmail', { email: one }));
      expect(outcomes).toEqual([OK, OK, OK, TOO_MANY, TOO_MANY]);
    }
    await app.tandem.services.mails.work();
    // the second and third were asked within a minute of the first
    expect(app.mail.count(email)).toBe(1);
  });

  it('reset links that others ask for use up nobody’s', async () => {
    await using app = await startTestServer({ trustProxy: 1, rateLimits: { resetLink: { perAccount: [1, HOUR] } } });
    const { email } = await plain.signUp();
    const ask = (ip: string) =>
      app.call(face, 'auth.sendResetPasswordLinkEmail', { email }, { headers: { 'x-forwarded-for': ip } });
    expect([await ask('198.51.100.7'), await ask('198.51.100.8'), await ask('203.0.113.7')]).toEqual([OK, TOO_MANY, OK]);
    app.clock.advance(60_000);
    expect(await ask('203.0.114.7')).toEqual(OK);
    await app.tandem.services.mails.work();
    expect(app.mail.count(email)).toBe(2);
  });

  it('a mail that verifies or changes an email is sent once a minute', async () => {
    await using app = await startTestServer();
    const ann = await app.signUp();
    const other = `other-${ann.email}`;
    const ask = async () => {
      const verify = { identityId: ann.id };
      const change = { identityId: ann.id, email: other, password: PASSWORD };
      const asked = [
        await ann.call(face, 'auth.sendVerificationEmail', verify),
        await ann.call(face, 'auth.changeEmail', change),
      ];
      await app.tandem.services.mails.work();
      return asked;
    };
    expect([...(await ask()), ...(await ask())]).toEqual([OK, OK, OK, OK]);
    // to verify, and the notice of the change
    expect([app.mail.count(ann.email), app.mail.count(other)]).toEqual([2, 1]);
    app.clock.advance(60_000);
    await ask();
    expect([app.mail.count(ann.email), app.mail.count(other)]).toEqual([4, 2]);
  });

  it('MFA codes are limited over all challenges of an identity, and of nobody else', async () => {
    const rateLimits = { mfaVerify: { perAccount: [2, HOUR] }, mfaResend: { perAccount: [1, HOUR] } } as const;
    await using app = await startTestServer({ mfaEnabled: true, rateLimits });
    const [ann, bob] = [await plain.signUp(), await plain.signUp()];
    const challenge = async (email: string) =>
      (await app.rest('POST', '/auth/login', { email, password: PASSWORD }).expect<{ token: string }>(200)).token;
    const status = async (procedure: string, input: object) => {
      const outcome = await app.call(face, procedure, { ...input });
      return outcome.ok ? 200 : outcome.status;
    };
    const [first, second, ofBob] = [await challenge(ann.email), await challenge(ann.email), await challenge(bob.email)];
    const verify = (token: string) => status('auth.mfaVerify', { token, code: 'wrong' });
    expect([await verify(first), await verify(second), await verify(second)]).toEqual([400, 400, 429]);
    expect(await verify(ofBob)).toBe(400);

    app.clock.advance(31_000);
    const resend = (token: string) => status('auth.mfaResend', { token });
    expect([await resend(first), await resend(second), await resend(ofBob)]).toEqual([200, 429, 200]);
  });

  it('mails that verify or change an email are limited together', async () => {
    await using app = await startTestServer({ rateLimits: { accountMails: { perAccount: [2, HOUR] } } });
    const [ann, bob] = [await plain.signUp(), await plain.signUp()];
    const send = (person: typeof ann) =>
      app.call(face, 'auth.sendVerificationEmail', { identityId: person.id }, person.credentials);
    const change = { identityId: ann.id, email: `new-${ann.email}`, password: PASSWORD };
    expect(await send(ann)).toEqual(OK);
    expect(await app.call(face, 'auth.changeEmail', change, ann.credentials)).toEqual(OK);
    expect(await app.call(face, 'auth.changeEmail', change, ann.credentials)).toEqual(TOO_MANY);
    expect(await send(ann)).toEqual(TOO_MANY);
    expect(await send(bob)).toEqual(OK);
  });
});
