import {
  FACES,
  PASSWORD,
  RETURN_URL,
  createBrowser,
  newOidcAccount,
  redeem,
  startOidcProvider,
  startTestServer,
  throughProvider,
  type Browser,
  type Face,
  type OidcAccount,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ORIGIN, addPasskey } from '../../test/passkeys.js';
import { useTwoProviders } from '../../test/two-providers.js';

const { app, idp } = useTwoProviders();

/** Begins to link, from a page in this browser. @returns where the browser goes */
async function beginLink(person: Person, browser: Browser, provider = 'acme'): Promise<string> {
  const headers = { ...person.credentials.headers, authorization: `Bearer ${person.accessToken}` };
  const url = `${app.url}/auth/${person.id}/oauth/${provider}`;
  const answer = await browser.send('POST', url, { redirectUrl: RETURN_URL, password: PASSWORD }, headers);
  expect(answer.status).toBe(200);
  return (answer.body as { url: string }).url;
}
async function link(person: Person, account: OidcAccount, provider = 'acme'): Promise<string> {
  const browser = createBrowser(app);
  return browser.goTo(await idp.visit(browser, await beginLink(person, browser, provider), { account }));
}
/** Whom a login through the provider signs in. */
async function signedInBy(account: OidcAccount, provider = 'acme'): Promise<string | undefined> {
  const back = await throughProvider(app, idp, { account }, { provider });
  return back.searchParams.has('onetimeToken') ? (await redeem(app, back)).id : undefined;
}
const linkedOf = (person: Person, of = person) => person.rest('GET', `/auth/${of.id}/oauth`);
const signUpThrough = async (account: OidcAccount, on: TestServer = app): Promise<Person> => {
  const back = await throughProvider(on, idp, { account }, { purpose: 'oauth-signup' });
  const session = await redeem(on, back);
  const credentials = { accessToken: session.accessToken };
  return {
    ...session,
    email: account.email ?? '',
    credentials,
    rest: (method, path, body) => on.rest(method, path, body, credentials),
    call: (face, procedure, input) => on.call(face, procedure, input, credentials),
  };
};

describe('linking', () => {
  it('lets a person sign in by an account too, whatever its email, and shows it', async () => {
    const ann = await app.signUp({ isVerified: true });
    const account = newOidcAccount({ email_verified: false });
    expect(await link(ann, account)).toBe(`${RETURN_URL}?linked=acme`);
    expect(await signedInBy(account)).toBe(ann.id);
    const linked = await linkedOf(ann).expect<object[]>(200);
    expect(linked).toEqual([{ provider: 'acme', linkedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string }]);
    // its own email stays
    expect(await ann.rest('GET', `/identities/${ann.id}`).expect(200)).toMatchObject({ email: ann.email, emailVerified: true });
  });

  it('is allowed for oneself only, not for admins', async () => {
    const [ann, admin] = [await app.signUp({ isVerified: true }), await app.signUpAdmin()];
    for (const face of FACES)
      expect(
        await admin.call(face, 'auth.linkProvider', { identityId: ann.id, provider: 'acme', redirectUrl: RETURN_URL }),
      ).toEqual({ ok: false, status: 403, message: 'Identity ID does not match' });
    await app.rest('POST', `/auth/${ann.id}/oauth/acme`, { redirectUrl: RETURN_URL }).expect(422, 'Missing authorization header');
  });

  it('of an account that is another’s is 409, and changes nothing', async () => {
    const [ann, bob] = [await app.signUp({ isVerified: true }), await app.signUp({ isVerified: true })];
    const account = newOidcAccount();
    await link(bob, account);
    const browser = createBrowser(app);
    const callback = await idp.visit(browser, await beginLink(ann, browser), { account });
    const answer = await browser.send('GET', callback);
    expect([answer.status, answer.body]).toEqual([409, { error: { message: 'Provider account already linked' } }]);
    expect(await signedInBy(account)).toBe(bob.id);
    expect(await linkedOf(ann).expect(200)).toEqual([]);
  });

  it('of a second account of a provider is 409 at once; of another provider it is fine', async () => {
    const ann = await app.signUp({ isVerified: true });
    await link(ann, newOidcAccount());
    await ann
      .rest('POST', `/auth/${ann.id}/oauth/acme`, { redirectUrl: RETURN_URL, password: PASSWORD })
      .expect(409, 'Provider account already linked');
    expect(await link(ann, newOidcAccount(), 'other')).toBe(`${RETURN_URL}?linked=other`);
  });

  it('returns an error if the person refuses', async () => {
    const browser = createBrowser(app);
    const callback = await idp.visit(browser, await beginLink(await app.signUp({ isVerified: true }), browser), { refuse: true });
    expect(await browser.goTo(callback)).toBe(`${RETURN_URL}?error=access_denied`);
  });

  it('needs the provider: 404 for one that is not configured, 503 for one that is away', async () => {
    const ann = await app.signUp({ isVerified: true });
    await ann.rest('POST', `/auth/${ann.id}/oauth/google`, { redirectUrl: RETURN_URL }).expect(404, 'Provider not found');
    const gone = await startOidcProvider();
    await gone.stop();
    await using server = await startTestServer({ providers: { acme: gone.settings }, redirectUrls: [RETURN_URL] });
    const bob = await server.signUp({ isVerified: true });
    const answer = await bob.rest('POST', `/auth/${bob.id}/oauth/acme`, { redirectUrl: RETURN_URL, password: PASSWORD });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  });

  it('works in cookie mode, from an allowed origin', async () => {
    const authModes = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
    await using server = await startTestServer({ authModes, providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] });
    const ann = await server.signUp({ isVerified: true });
    const start = (origin: string) =>
      server.rest('POST', `/auth/${ann.id}/oauth/acme`, { redirectUrl: RETURN_URL, password: PASSWORD }, { headers: { ...ann.credentials.headers, origin } }); // prettier-ignore
    expect((await start('https://evil.example')).status).toBe(403);
    const begun = await start(server.url);
    const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const callback = await idp.visit(createBrowser(server), (begun.body as { url: string }).url, { account: newOidcAccount() });
    const back = await server.rest('GET', callback.slice(server.url.length), undefined, { headers: { cookie } });
    expect(back.headers.get('location')).toBe(`${RETURN_URL}?linked=acme`);
  });
});

describe('unlinking', () => {
  it('ends sign-in by the provider, for oneself or by an admin', async () => {
    const admin = await app.signUpAdmin();
    for (const by of ['oneself', 'admin']) {
      const ann = await app.signUp({ isVerified: true });
      const account = newOidcAccount();
      await link(ann, account);
      await (by === 'admin' ? admin : ann).rest('DELETE', `/auth/${ann.id}/oauth/acme`).expect(204);
      expect(await signedInBy(account)).toBeUndefined();
      expect(await linkedOf(admin, ann).expect(200)).toEqual([]);
      await ann.rest('DELETE', `/auth/${ann.id}/oauth/acme`).expect(404, 'Provider account not linked');
      await app.rest('POST', '/auth/login', { email: ann.email, password: PASSWORD }).expect(200);
    }
  });

  it('leaves a passkey as another way to sign in, where the server has passkeys', async () => {
    const settings = { clock: app.clock, providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] };
    await using server = await startTestServer({ ...settings, passkeyRpId: 'localhost', corsOrigins: [ORIGIN] });
    const ann = await signUpThrough(newOidcAccount(), server);
    const path = `/auth/${ann.id}/oauth/acme`;
    await ann.rest('DELETE', path).expect(409);
    const { passkey } = await addPasskey(ann);
    await app.rest('DELETE', path, {}, ann.credentials).expect(409);
    await ann.rest('DELETE', path).expect(204);
    const options = await server.rest('POST', '/auth/passkeys/options').expect<{ challenge: string; rpId: string }>(200);
    await server.rest('POST', '/auth/passkeys/verify', { response: passkey.get(options) }).expect(200);
  });

  it('of the only way to sign in is 409, until there is another', async () => {
    const account = newOidcAccount();
    const ann = await signUpThrough(account);
    await ann.rest('DELETE', `/auth/${ann.id}/oauth/acme`).expect(409, 'Provider account is the only way to sign in');
    const another = newOidcAccount();
    await link(ann, another, 'other');
    await ann.rest('DELETE', `/auth/${ann.id}/oauth/acme`).expect(204);
    // the session has ended with the provider that it came by
    await ann.rest('GET', `/auth/${ann.id}/oauth`).expect(401);
    const { id, accessToken } = await redeem(app, await throughProvider(app, idp, { account: another }, { provider: 'other' }));
    expect(id).toBe(ann.id);
    await app.rest('DELETE', `/auth/${id}/oauth/other`, undefined, { accessToken }).expect(409);
  });

  it('and listing are for oneself and admins; of a missing identity 404 for admins', async () => {
    const [ann, bob, admin] = [
      await app.signUp({ isVerified: true }),
      await app.signUp({ isVerified: true }),
      await app.signUpAdmin(),
    ];
    const refused = 'Identity is not authorized to access this resource';
    await bob.rest('DELETE', `/auth/${ann.id}/oauth/acme`).expect(403, refused);
    await linkedOf(bob, ann).expect(403, refused);
    const nobody = crypto.randomUUID();
    await admin.rest('GET', `/auth/${nobody}/oauth`).expect(404, 'Identity not found');
    await admin.rest('DELETE', `/auth/${nobody}/oauth/acme`).expect(404, 'Identity not found');
  });
});

describe('the audit trail', () => {
  it('has who linked and who unlinked what', async () => {
    const [ann, admin] = [await app.signUp({ isVerified: true }), await app.signUpAdmin()];
    await link(ann, newOidcAccount());
    await admin.rest('DELETE', `/auth/${ann.id}/oauth/acme`).expect(204);
    await app.tandem.services.audit.settle();
    for (const [type, actorId] of [
      ['provider.linked', ann.id],
      ['provider.unlinked', admin.id],
    ]) {
      const { data } = await admin.rest('GET', `/auth/events?type=${type}&identityId=${ann.id}`).expect<{ data: object[] }>(200);
      expect(data).toMatchObject([{ type, identityId: ann.id, actorId, details: { provider: 'acme' } }]);
    }
  });
});

describe('a link of a session', () => {
  const endings: [string, (ann: Person, admin: Person) => Promise<unknown>][] = [
    ['logged out', (ann) => ann.rest('POST', '/auth/logout').expect(204)],
    ['revoked', (ann) => ann.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204)],
    ['locked', (ann, admin) => admin.rest('POST', `/identities/${ann.id}/lock`).expect(204)],
    ['deleted', (ann, admin) => admin.rest('DELETE', `/identities/${ann.id}`).expect(204)],
  ];
  it.each(endings)('that is %s before the person comes back links nothing', async (_, end) => {
    const [ann, admin] = [await app.signUp({ isVerified: true }), await app.signUpAdmin()];
    const account = newOidcAccount();
    const browser = createBrowser(app);
    const callback = await idp.visit(browser, await beginLink(ann, browser), { account });
    await end(ann, admin);
    expect(await browser.goTo(callback)).toBe(`${RETURN_URL}?error=signed_out`);
    expect(await signedInBy(account)).toBeUndefined();
  });
});

describe('a link that somebody else began', () => {
  it('cannot be completed in the victim’s browser, and gives the attacker no access', async () => {
    const [attacker, account] = [await app.signUp({ isVerified: true }), newOidcAccount()];
    const url = await beginLink(attacker, createBrowser(app));
    const victim = createBrowser(app);
    const answer = await victim.send('GET', await idp.visit(victim, url, { account }));
    expect(answer.status).toBe(401);
    expect(await signedInBy(account)).toBeUndefined();
  });
});

describe.each(FACES)('the procedures over %s', (face: Face) => {
  it('link, list and unlink', async () => {
    const ann = await app.signUp({ isVerified: true });
    const given = { identityId: ann.id, provider: 'acme' };
    expect(await ann.call(face, 'auth.linkProvider', { ...given, redirectUrl: RETURN_URL, password: PASSWORD })).toEqual({
      ok: true,
      value: { url: expect.stringContaining(`${idp.settings.issuer}/auth?`) as string },
    });
    await link(ann, newOidcAccount());
    expect(await ann.call(face, 'auth.listProviders', { identityId: ann.id })).toMatchObject({
      ok: true,
      value: [{ provider: 'acme' }],
    });
    expect(await ann.call(face, 'auth.unlinkProvider', given)).toMatchObject({ ok: true });
    expect(await ann.call(face, 'auth.unlinkProvider', given)).toEqual({
      ok: false,
      status: 404,
      message: 'Provider account not linked',
    });
  });
});
