import {
  FACES,
  PASSWORD,
  RETURN_URL,
  createBrowser,
  newOidcAccount,
  redeem,
  throughProvider,
  type Face,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { useTwoProviders } from '../../test/two-providers.js';
import { oauthStateModel } from './oauth-state.model.js';

const { app, idp } = useTwoProviders();

const begin = (face: Face, person: Pick<Person, 'id' | 'call'>, more: object = {}) =>
  person.call(face, 'auth.linkProvider', { identityId: person.id, provider: 'acme', redirectUrl: RETURN_URL, ...more });

describe.each(FACES)('a stolen session over %s', (face) => {
  it('cannot create a permanent way to sign in: linking takes the password, and guesses count as failed logins', async () => {
    const ann = await app.signUp({ isVerified: true });
    const begun = () => app.storage.model(oauthStateModel).countDocuments({ identityId: ann.id });
    const missing = { ok: false, status: 400, message: 'Validation Error', data: ["request body must have required property 'password'"] }; // prettier-ignore
    expect(await begin(face, ann)).toEqual(missing);
    for (let guess = 0; guess < 5; guess++)
      expect(await begin(face, ann, { password: `guess ${guess}` })).toEqual({
        ok: false,
        status: 400,
        message: 'Invalid input',
      });
    expect(await begin(face, ann, { password: PASSWORD })).toMatchObject({ status: 401, message: 'This account is locked' });
    expect(await begun()).toBe(0);
    app.clock.advance(60_000);
    expect(await begin(face, ann, { password: PASSWORD })).toMatchObject({ ok: true });
    expect(await begun()).toBe(1);
  });

  it('of somebody who has no password has none to give', async () => {
    const back = await throughProvider(app, idp, { account: newOidcAccount() }, { purpose: 'oauth-signup', provider: 'other' });
    const { id, accessToken } = await redeem(app, back);
    const call: Person['call'] = (on, procedure, input) => app.call(on, procedure, input, { accessToken });
    expect(await begin(face, { id, call })).toMatchObject({ ok: true });
    // then the sign-in is the proof, for a while
    app.clock.advance(11 * 60_000);
    expect(await begin(face, { id, call })).toMatchObject({ status: 403, message: 'A fresh proof is needed' });
  });
});

it('a link is reported by mail', async () => {
  const ann = await app.signUp({ isVerified: true });
  const browser = createBrowser(app);
  const headers = { authorization: `Bearer ${ann.accessToken}` };
  const { body } = await browser.send('POST', `${app.url}/auth/${ann.id}/oauth/acme`, { redirectUrl: RETURN_URL, password: PASSWORD }, headers); // prettier-ignore
  await browser.goTo(await idp.visit(browser, (body as { url: string }).url, { account: newOidcAccount() }));
  const { subject, text } = await app.mail.next(ann.email);
  expect([subject, text.includes('through acme too')]).toEqual(['A new way to sign in to your account', true]);
});
