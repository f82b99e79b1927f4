import { createTokens } from '@tandem/core';
import {
  FACES,
  NEW_PASSWORD,
  PASSWORD,
  TEST_SECRETS,
  UNUSABLE,
  UNVERIFIED,
  WRONG_TYPE,
  fixture,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ONETIME_TARGETS, type OnetimeTarget } from '../onetime-tokens/onetime-targets.js';

const NOT_RESTORABLE = { ok: false, status: 409, message: 'One-time token cannot be restored' };
const DONE = { ok: true };
const NOBODY = '01890000-0000-7000-8000-000000000000';

const app = fixture(startTestServer);
const withMfa = fixture(() => startTestServer({ mfaEnabled: true }));
const admin = fixture(() => app.signUpAdmin());
/** Makes tokens that the server would not: with the right keys, expired, or of an identity that has changed since. */
const forge = fixture(() =>
  createTokens({
    signSecrets: [TEST_SECRETS.authSignSecret],
    encSecrets: [TEST_SECRETS.authEncSecret],
    clock: app.clock,
  }),
);

type Type = 'access' | 'refresh' | OnetimeTarget;
const TYPES: readonly Type[] = ['access', 'refresh', ...ONETIME_TARGETS];
const isOnetime = (type: Type): type is OnetimeTarget => type !== 'access' && type !== 'refresh';

/** A token, with what its own place needs beside it. */
interface Given {
  type: Type;
  token: string;
  code?: string;
}
/** What has become of a token: it counts, it has expired, it was used up or invalidated, or its identity has changed. */
type Fate = 'live' | 'expired' | 'ended' | 'invalidated' | 'void';

/** A place that takes a token: the type it takes, and how it is called. */
interface Place {
  takes: Type;
  call(face: Face, given: Given): Promise<Outcome>;
}
const withToken = (takes: Type, procedure: string, more: (given: Given) => object = () => ({})): Place => ({
  takes,
  call: (face, given) => app.call(face, procedure, { token: given.token, ...more(given) }),
});
/** Of those of one type the first does its work and uses a one-time token up. */
const PLACES: Record<string, Place> = {
  'the Authorization header': {
    takes: 'access',
    call: (face, { token }) => app.call(face, 'auth.deactivate', { identityId: NOBODY }, { accessToken: token }),
  },
  'refresh, in the body': {
    takes: 'refresh',
    call: (face, { token }) => app.call(face, 'auth.refreshToken', { refreshToken: token }),
  },
  'refresh, in the cookie': {
    takes: 'refresh',
    call: (face, { token }) => app.call(face, 'auth.refreshToken', {}, { headers: { cookie: `refreshToken=${token}` } }),
  },
  'ott/login': withToken('login', 'auth.ottLogin'),
  'confirm-email': withToken('confirm-email', 'auth.confirmEmail'),
  'confirm-new-email': withToken('change-email', 'auth.confirmNewEmail'),
  'reset-password, in the body': withToken('reset-password', 'auth.resetPassword', () => ({ password: NEW_PASSWORD })),
  'reset-password, in the header': {
    takes: 'reset-password',
    call: (face, { token }) => app.call(face, 'auth.resetPassword', { password: NEW_PASSWORD }, { accessToken: token }),
  },
  'mfa/verify': withToken('mfa-challenge', 'auth.mfaVerify', ({ code = '123456' }) => ({ code })),
  'mfa/resend': withToken('mfa-challenge', 'auth.mfaResend'),
  register: withToken('invitation', 'auth.register', () => ({ password: PASSWORD })),
  'invitations/accept': {
    takes: 'invitation',
    call: (face, { token }) => admin.call(face, 'invitations.accept', { token }),
  },
};

/** What a place answers to a token that it does not take, or that does not count. */
function refusal(place: Place, type: Type, fate: Fate): object {
  if (place.takes === 'refresh') return UNUSABLE;
  const isSameKind = isOnetime(place.takes) ? isOnetime(type) : type === place.takes;
  // an expired token of another kind is of another kind first; an expired one-time token is of no target any more
  if (!isSameKind) return WRONG_TYPE;
  if (fate === 'expired' || type === place.takes) return UNVERIFIED;
  return WRONG_TYPE;
}

/** A live token of somebody's own. */
async function issue(type: Type): Promise<Given & { owner: Person }> {
  const owner = await app.signUp();
  const { onetimeTokens } = app.tandem.services;
  if (type === 'access') return { type, token: owner.accessToken, owner };
  if (type === 'refresh') return { type, token: owner.refreshToken, owner };
  if (type === 'mfa-challenge') {
    const credentials = { email: owner.email, password: PASSWORD };
    const { token } = await withMfa.rest('POST', '/auth/login', credentials).expect<{ token: string }>(200);
    return { type, token, code: (await app.mail.next(owner.email)).code ?? '', owner };
  }
  const email = `new-${owner.email}`;
  if (type === 'invitation') {
    await admin.rest('POST', '/invitations', { email }).expect(201);
    return { type, token: (await app.mail.next(email)).token ?? '', owner };
  }
  const address = type === 'change-email' ? email : owner.email;
  const { token } = await onetimeTokens.create({ identityId: owner.id, target: type, email: address });
  return { type, token, owner };
}

describe.each(FACES)('over %s', (face) => {
  const check = (token: string, target?: OnetimeTarget) =>
    app.call(face, 'auth.checkToken', { token, ...(target !== undefined && { target }) });

  it.each(TYPES)('a token of the type %s does its own work alone, and no other place uses it up', async (type) => {
    const given = await issue(type);
    const { token, owner } = given;
    for (const [name, place] of Object.entries(PLACES).filter(([, { takes }]) => takes !== type))
      expect(await place.call(face, given), name).toEqual(refusal(place, type, 'live'));
    const shown = type === 'access' ? { identityId: owner.id } : { target: type };
    expect(await check(token)).toMatchObject(type === 'refresh' ? WRONG_TYPE : { ok: true, value: shown });
    for (const target of isOnetime(type) ? ONETIME_TARGETS.filter((one) => one !== type) : [])
      expect(await check(token, target), target).toEqual(WRONG_TYPE);
    for (const procedure of ['auth.ottInvalidate', 'auth.ottRestore'])
      expect(await admin.call(face, procedure, { token }), procedure).toEqual(isOnetime(type) ? DONE : WRONG_TYPE);
    const logouts = [
      { takes: 'access', outcome: () => app.call(face, 'auth.logout', {}, { accessToken: token }), answer: WRONG_TYPE },
      { takes: 'refresh', outcome: () => app.call(face, 'auth.logout', { refreshToken: token }), answer: DONE },
    ];
    for (const { outcome, answer } of logouts.filter(({ takes }) => takes !== type)) expect(await outcome()).toEqual(answer);
    expect(await owner.call(face, 'identities.get', { identityId: owner.id })).toMatchObject(DONE);

    const own = Object.values(PLACES).filter(({ takes }) => takes === type);
    expect(await own[0]?.call(face, given)).toMatchObject(type === 'access' ? { status: 403 } : DONE);
    // a session's tokens go on; a one-time token does nothing twice, here or elsewhere
    for (const { call } of own)
      expect(await call(face, given)).toMatchObject(isOnetime(type) ? UNVERIFIED : type === 'access' ? { status: 403 } : DONE);
  });

  /** Makes a token and lets this become of it. */
  async function kill(type: Type, fate: Exclude<Fate, 'live'>): Promise<Given> {
    const owner = await app.signUp();
    const expiresAt = new Date(app.clock.now().getTime() + (fate === 'expired' ? -1000 : 60_000));
    const { sid } = await forge.verify('access', owner.accessToken);
    const subject = type === 'invitation' ? { invitationId: NOBODY } : { identityId: owner.id };
    const made = isOnetime(type)
      ? await app.tandem.services.onetimeTokens.create({ ...subject, target: type, email: owner.email, lifetimeMs: 60_000 })
      : undefined;
    const token =
      made && fate !== 'expired'
        ? made.token
        : await (async () => {
            const claims = {
              sub: owner.id,
              expiresAt,
              ...(sid !== undefined && { sid }),
              ...(made && { jti: made.jti }),
              ...(isOnetime(type) && { target: type }),
            };
            return forge.issue(isOnetime(type) ? 'onetime' : type, claims);
          })();
    if (fate === 'void') await admin.rest('POST', `/identities/${owner.id}/lock`).expect(204);
    if (fate === 'invalidated') await admin.rest('POST', '/auth/ott/invalidate', { token }).expect(204);
    if (fate === 'ended' && !isOnetime(type)) await owner.rest('POST', '/auth/logout').expect(204);
    if (fate === 'ended' && made)
      await app.tandem.services.onetimeTokens.markUsed((await app.tandem.services.onetimeTokens.read(token)).id);
    return { type, token };
  }

  const deaths = TYPES.flatMap((type) =>
    (['expired', 'ended', 'invalidated', 'void'] as const)
      // a session cannot be invalidated, and an invitation is of no identity that could change
      .filter((fate) => (isOnetime(type) ? type !== 'invitation' || fate !== 'void' : fate !== 'invalidated'))
      .map((fate) => [type, fate] as const),
  );
  it.each(deaths)('a token of the type %s that is %s does nothing anywhere', async (type, fate) => {
    const given = await kill(type, fate);
    for (const [name, place] of Object.entries(PLACES))
      expect(await place.call(face, given), name).toEqual(refusal(place, type, fate));
    expect(await check(given.token)).toEqual(type === 'refresh' ? WRONG_TYPE : UNVERIFIED);
    const restored = { expired: UNVERIFIED, ended: NOT_RESTORABLE, void: NOT_RESTORABLE, invalidated: DONE };
    expect(await admin.call(face, 'auth.ottRestore', { token: given.token })).toEqual(
      isOnetime(type) ? restored[fate] : WRONG_TYPE,
    );
    const after = fate === 'invalidated' ? DONE : UNVERIFIED;
    expect(await check(given.token)).toMatchObject(type === 'refresh' ? WRONG_TYPE : after);
  });
});
