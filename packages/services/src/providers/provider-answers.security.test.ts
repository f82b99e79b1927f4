import { newOidcAccount, throughProvider, visitProvider } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
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

  const alterations: [string, (token: string) => unknown][] = [
    ['without a signature', (token) => `${token.split('.').slice(0, 2).join('.')}.`],
    ['with another signature', (token) => `${token.slice(0, -8)}AAAAAAAA`],
    ['of another account', (token) => withClaims(token, { sub: 'somebody else' })],
    ['of another client', (token) => withClaims(token, { aud: 'another' })],
    ['of another issuer', (token) => withClaims(token, { iss: 'https://evil.example' })],
    ['that has expired', (token) => withClaims(token, { exp: 1 })],
    ['with the algorithm none', (token) => `${encode({ alg: 'none' })}.${token.split('.')[1]}.`],
    ['that is none', () => 'garbage'],
    ['that is missing', () => undefined],
    ['without an account', (token) => withClaims(token, { sub: undefined })],
  ];
  it.each(alterations)('%s is refused', async (_, alter) => {
    const account = await newPerson();
    idp.tamper.tokens = (answer) => {
      const altered = alter(answer.id_token as string);
      if (altered === undefined) delete answer.id_token;
      else answer.id_token = altered;
    };
    expect(said(await throughProvider(app, idp, { account }))).toEqual(FAILED);
  });
});

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
/** The same token with other claims, and so with a signature that is not of them. */
function withClaims(token: string, claims: object): string {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const said = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  return [header, encode({ ...said, ...claims }), signature].join('.');
}
