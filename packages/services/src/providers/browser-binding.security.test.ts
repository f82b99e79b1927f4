import {
  FACES,
  RETURN_URL,
  createBrowser,
  fixture,
  newOidcAccount,
  redeem,
  startOidcProvider,
  startTestServer,
  throughProvider,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { onetimeTokenModel } from '../onetime-tokens/onetime-token.model.js';

const ELSEWHERE = { ok: false, status: 401, message: 'Token fails security check' };

const idp = fixture(startOidcProvider);
const app = fixture(() => startTestServer({ providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] }));

/** A visit up to the return address, in a browser of its own. */
async function cameBack({ fp }: { fp?: string } = {}) {
  const browser = createBrowser(app);
  const account = newOidcAccount();
  const visit = { purpose: 'oauth-signup', browser, ...(fp !== undefined && { fp }) } as const;
  const back = await throughProvider(app, idp, { account }, visit);
  const cookies = browser.cookiesFor(`${app.url}/auth/ott/login`).split('; ');
  // cookies know no ports: those of the provider on loopback are sent too
  const cookie = cookies.find((one) => one.startsWith('ott-')) ?? '';
  return { browser, back, cookie, token: back.searchParams.get('onetimeToken') ?? '' };
}

describe.each(FACES)('the one-time token of a provider over %s', (face) => {
  const logIn = (token: string, cookie?: string, fingerprint?: string) =>
    app.call(face, 'auth.ottLogin', { token, ...(fingerprint !== undefined && { fingerprint }) }, cookie === undefined ? {} : { headers: { cookie } }); // prettier-ignore

  it('signs in only the browser that returned, and is not used by another', async () => {
    const { token, cookie } = await cameBack();
    const ofAnother = (await cameBack()).cookie;
    for (const wrong of [undefined, '', ofAnother, cookie.replace(/=.*/, '='), cookie.replace(/.$/, '')])
      expect(await logIn(token, wrong)).toEqual(ELSEWHERE);
    // a fingerprint of one's own does not take the place of the browser
    expect(await logIn(token, undefined, 'device of an attacker')).toEqual(ELSEWHERE);
    expect(await logIn(token, cookie)).toMatchObject({ ok: true });
  });

  it('is bound to the fingerprint instead if one was given at the start', async () => {
    const { token, cookie } = await cameBack({ fp: 'device 1' });
    expect(cookie).toBe('');
    for (const wrong of ['device 2', undefined]) expect(await logIn(token, undefined, wrong)).toEqual(ELSEWHERE);
    expect(await logIn(token, undefined, 'device 1')).toMatchObject({ ok: true });
  });

  it('of an admin is bound to no browser', async () => {
    const [ann, admin] = [await app.signUp(), await app.signUpAdmin()];
    const made = (await admin.call(face, 'auth.ottGenerate', { identityId: ann.id })) as { value: { onetimeToken: string } };
    expect(await logIn(made.value.onetimeToken)).toMatchObject({ ok: true, value: { id: ann.id } });
  });
});

it('the cookie lives as long as the token, no script reads it, and the store has its hash alone', async () => {
  const browser = createBrowser(app);
  const begun = await browser.goTo(`${app.url}/auth/oauth/acme?purpose=oauth-signup&redirectUrl=${RETURN_URL}`);
  const callback = await idp.visit(browser, begun, { account: newOidcAccount() });
  const set = (await browser.send('GET', callback)).headers.getSetCookie().find((cookie) => cookie.startsWith('ott-')) ?? '';
  expect(set).toMatch(/^ott-[\w-]{16}=[\w-]{43}; Max-Age=300; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/);
  const stored = JSON.stringify(await app.storage.model(onetimeTokenModel).collection.find().toArray());
  expect(stored).not.toContain(/=([\w-]{43});/.exec(set)?.[1]);
});

it('two authorizations of one browser do not interfere', async () => {
  const browser = createBrowser(app);
  const account = newOidcAccount();
  const visit = () => throughProvider(app, idp, { account }, { purpose: 'oauth-signup', browser });
  const [first, second] = [await visit(), await visit()];
  const signedIn = [await redeem(app, first), await redeem(app, second)];
  expect(signedIn[0]?.id).toBe(signedIn[1]?.id);
});
