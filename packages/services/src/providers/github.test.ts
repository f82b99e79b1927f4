import {
  RETURN_URL,
  fixture,
  newGitHubAccount,
  redeem,
  startGitHubServer,
  startOf,
  startTestServer,
  throughProvider,
  visitProvider,
  type GitHubAccount,
} from '@tandem/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { FAILED, changed, said } from '../../test/two-providers.js';

const github = fixture(startGitHubServer);
const app = fixture(() => startTestServer({ providers: { github: github.settings }, redirectUrls: [RETURN_URL] }));
afterEach(() => {
  delete github.tamper.tokens;
});

const signUp = (account: GitHubAccount, { withoutEmails = false } = {}) =>
  throughProvider(app, github, { account, withoutEmails }, { provider: 'github', purpose: 'oauth-signup' });
const logIn = (account: GitHubAccount) => throughProvider(app, github, { account }, { provider: 'github' });
const address = (email: string, primary: boolean, verified = true) => ({ email, primary, verified, visibility: null });

describe('github', () => {
  it('is known without any address', async () => {
    await using server = await startTestServer({
      providers: { github: { clientId: 'a', clientSecret: 'b' } },
      redirectUrls: [RETURN_URL],
    });
    const answer = await server.rest('GET', startOf(server, { provider: 'github' }).slice(server.url.length));
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.origin + location.pathname).toBe('https://github.com/login/oauth/authorize');
    expect(location.searchParams.get('scope')).toBe('user:email');
  });

  it('is asked as its documentation says, with the secret in the body, and for addresses at a sign-up alone', async () => {
    const account = newGitHubAccount();
    const before = github.asked.length;
    await signUp(account);
    const asked = github.asked.slice(before);
    expect(asked.map(({ path }) => path).toSorted()).toEqual(['/user', '/user/emails']);
    for (const { headers } of asked)
      expect(headers).toMatchObject({
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        'user-agent': expect.stringMatching(/./) as string,
        authorization: expect.stringMatching(/^bearer gho_\w+$/i) as string,
      });
    expect(github.tokenRequests.at(-1)).toMatchObject({ client_id: 'tandem', client_secret: github.settings.clientSecret });
    await logIn(account);
    expect(github.asked.slice(before + 2).map(({ path }) => path)).toEqual(['/user']);
  });

  it('gives the primary address, whether it is private or not, and never the one of the profile', async () => {
    const account = newGitHubAccount();
    const { id, accessToken } = await redeem(app, await signUp(account));
    const shown = await app.rest('GET', `/identities/${id}`, undefined, { accessToken }).expect(200);
    expect(shown).toMatchObject({ email: account.emails.find(({ primary }) => primary)?.email, emailVerified: true });
  });

  it('gives it also to a person with more addresses than are on a page', async () => {
    const others = Array.from({ length: 60 }, () => address(`${crypto.randomUUID()}@example.org`, false));
    const account = newGitHubAccount({ emails: [...others, address(`${crypto.randomUUID()}@example.org`, true)] });
    expect(said(await signUp(account))).toHaveProperty('onetimeToken');
  });

  it('signs nobody up by an address that is verified but not the primary one, or primary and not verified', async () => {
    const [one, two] = [address(`${crypto.randomUUID()}@example.org`, true, false), address(`${crypto.randomUUID()}@example.org`, false)]; // prettier-ignore
    expect(said(await signUp(newGitHubAccount({ emails: [one, two] })))).toEqual({ error: 'email_not_verified' });
    expect(said(await signUp(newGitHubAccount({ emails: [two] })))).toEqual({ error: 'email_missing' });
    expect(said(await signUp(newGitHubAccount({ emails: [] })))).toEqual({ error: 'email_missing' });
    const truthy = { ...one, verified: 'true' as never };
    expect(said(await signUp(newGitHubAccount({ emails: [truthy] })))).toEqual({ error: 'email_not_verified' });
  });

  it('signs nobody up who did not let their addresses be read; in, it does', async () => {
    const account = newGitHubAccount();
    expect(said(await signUp(account, { withoutEmails: true }))).toEqual({ error: 'email_missing' });
    await signUp(account);
    const back = await throughProvider(app, github, { account, withoutEmails: true }, { provider: 'github' });
    expect(said(back)).toHaveProperty('onetimeToken');
  });

  it('knows people by their number: a name that became somebody else’s signs nobody in, a new name does', async () => {
    const account = newGitHubAccount({ login: 'mona' });
    const { id } = await redeem(app, await signUp(account));
    expect(said(await logIn(newGitHubAccount({ login: 'mona' })))).toEqual({ error: 'identity_not_found' });
    expect((await redeem(app, await logIn({ ...account, login: 'mona-lisa' }))).id).toBe(id);
  });

  it('is not believed with an account that has no number', async () => {
    for (const id of [undefined, null, '583231', 1.5, 2 ** 60, {}])
      expect(said(await signUp(newGitHubAccount({ id: id as never })))).toEqual(FAILED);
  });

  it('is not believed where the callback names another issuer; without one it is', async () => {
    const account = newGitHubAccount();
    await signUp(account);
    async function comeBackFrom(issuer: string | undefined) {
      const { browser, callback } = await visitProvider(app, github, { account }, { provider: 'github' });
      expect(new URL(callback).searchParams.get('iss')).toMatch(/^http:.*\/login\/oauth$/);
      const url = changed(callback, (query) => (issuer === undefined ? query.delete('iss') : query.set('iss', issuer)));
      return said(await browser.goTo(url));
    }
    expect(await comeBackFrom('https://evil.example')).toEqual(FAILED);
    expect(await comeBackFrom(undefined)).toHaveProperty('onetimeToken');
  });

  it('fails with the status 200, and that is a failure', async () => {
    const account = newGitHubAccount();
    for (const answer of [{ error: 'bad_verification_code' }, { error: 'incorrect_client_credentials', access_token: '' }]) {
      github.tamper.tokens = (given) => {
        for (const key of Object.keys(given)) delete given[key];
        Object.assign(given, answer, { error_description: 'The code passed is incorrect or expired.' });
      };
      expect(said(await signUp(account))).toEqual(FAILED);
    }
    expect(app.logs()).not.toContain('incorrect or expired');
  });

  it('may be an enterprise’s own server, with its own accounts', async () => {
    await using own = await startGitHubServer({ name: 'hub' });
    const providers = { github: github.settings, hub: own.settings };
    await using server = await startTestServer({ clock: app.clock, providers, redirectUrls: [RETURN_URL] });
    const account = newGitHubAccount();
    await throughProvider(server, own, { account }, { provider: 'hub', purpose: 'oauth-signup' });
    expect(said(await throughProvider(server, own, { account }, { provider: 'hub' }))).toHaveProperty('onetimeToken');
    expect(said(await throughProvider(server, github, { account }, { provider: 'github' }))).toEqual({ error: 'identity_not_found' }); // prettier-ignore
  });
});
