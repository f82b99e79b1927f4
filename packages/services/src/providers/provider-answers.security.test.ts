import { newOidcAccount, throughProvider, visitProvider } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ALTERATIONS } from '../../test/id-tokens.js';
import { FAILED, changed, said, useTwoProviders } from '../../test/two-providers.js';

const { app, idp } = useTwoProviders();

const newPerson = async () => {
  const account = newOidcAccount();
  await throughProvider(app, idp, { account }, { purpose: 'oauth-signup' });
  return account;
};

describe('a code', () => {
  it('of somebody else’s visit, put into one’s own callback, is refused: PKCE binds it', async () => {
    const victim = await visitProvider(app, idp, { account: await newPerson() });
    const thief = await visitProvider(app, idp, { refuse: true });
    const stolen = new URL(victim.callback).searchParams.get('code') ?? '';
    const injected = changed(thief.callback, (given) => {
      given.delete('error');
      given.delete('error_description');
      given.set('code', stolen);
    });
    expect(said(await thief.browser.goTo(injected))).toEqual(FAILED);
    expect(idp.tokenRequests.at(-1)).toMatchObject({ code: stolen, code_verifier: expect.any(String) as string });
  });

  it('for which the provider was given another challenge is refused', async () => {
    idp.tamper.authorization = (given) => given.set('code_challenge', 'x'.repeat(43));
    expect(said(await throughProvider(app, idp, { account: await newPerson() }))).toEqual(FAILED);
  });

  it('that is forged is refused', async () => {
    const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
    expect(said(await browser.goTo(changed(callback, (given) => given.set('code', 'forged'))))).toEqual(FAILED);
  });
});

describe('an ID token', () => {
  it('with another nonce than that of the visit is refused', async () => {
    const account = await newPerson();
    idp.tamper.authorization = (given) => given.set('nonce', 'another');
    expect(said(await throughProvider(app, idp, { account }))).toEqual(FAILED);
    idp.tamper.authorization = (given) => given.delete('nonce');
    expect(said(await throughProvider(app, idp, { account }))).toEqual(FAILED);
  });

  it.each(ALTERATIONS)('%s is refused', async (_, alter) => {
    const account = await newPerson();
    idp.tamper.tokens = (answer) => {
      const altered = alter(answer.id_token as string);
      if (altered === undefined) delete answer.id_token;
      else answer.id_token = altered;
    };
    expect(said(await throughProvider(app, idp, { account }))).toEqual(FAILED);
  });
});
