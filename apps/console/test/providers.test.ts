import {
  HAS_CHROMIUM,
  PASSWORD,
  fixture,
  newOidcAccount,
  startOidcProvider,
  startTestServer,
  type OidcAccount,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import {
  DESKTOP,
  PHONE,
  offences,
  visit,
  expectClean,
  launchChromium,
  notCalled,
  signedIn,
  visitSignedIn,
  type ConsolePage,
} from './chromium.js';
import { REACHED } from './reached.js';

const NAMES = ['google', 'my-company'];
const LISTED = 'https://app.example.org/welcome';

describe.skipIf(!HAS_CHROMIUM)('signing in through a provider (skipped where there is no chromium)', () => {
  const idp = fixture(() => startOidcProvider({ names: NAMES }));
  const settings = () => ({
    providers: { google: idp.settings, 'my-company': idp.settings, github: { clientId: 'a', clientSecret: 'b' } },
    redirectUrls: [LISTED],
  });
  const app = fixture(() => startTestServer(settings()));
  const browser = fixture(launchChromium);

  /** Chooses on the provider's page, where the browser is. */
  async function choose(visitor: ConsolePage, choice: { account: OidcAccount } | { refuse: true }): Promise<void> {
    const { page } = visitor;
    // its page has no icon
    visitor.allow('404');
    await page.getByText('Who are you').waitFor();
    const answer = await page.request.post(page.url(), { data: choice, maxRedirects: 0 });
    await page.goto(answer.headers()['location'] ?? '');
  }
  const go = ({ page }: ConsolePage, name: string) => page.getByRole('link', { name }).click();

  it.each([
    ['a desktop', DESKTOP],
    ['a phone', PHONE],
  ])('is offered with each configured one, by its own name, on %s', async (_, viewport) => {
    await using visitor = await visit(browser, app, viewport);
    const { page } = visitor;
    for (const [path, does] of [
      ['/', 'Continue'],
      ['/sign-up', 'Sign up'],
    ] as const) {
      await visitor.open(path);
      const links = page.getByRole('navigation', { name: 'Other ways' }).getByRole('link');
      await links.first().waitFor();
      expect(await links.allTextContents()).toEqual(['Google', 'My Company', 'GitHub'].map((name) => `${does} with ${name}`));
      expect(await offences(page)).toEqual([]);
    }
    await expectClean(visitor);
  });

  it('is not offered where there is none', async () => {
    await using plain = await startTestServer();
    await using visitor = await visit(browser, plain);
    await visitor.open('/');
    await visitor.page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await visitor.page.getByRole('navigation', { name: 'Other ways' }).count()).toBe(0);
  });

  it.each(['bearer', 'cookie'] as const)(
    'begins with an account, and opens the requested page later, in %s mode',
    async (mode) => {
      await using server = await startTestServer({ ...settings(), clock: app.clock, authModes: { default: mode } });
      const account = newOidcAccount();
      await using visitor = await visit(browser, server);
      // the end of a session may overtake what is under way
      for (const text of ['HTTP Authentication failed', '401', '422']) visitor.allow(text);
      const { page } = visitor;
      await visitor.open('/sessions');
      await go(visitor, 'Continue with Google');
      await choose(visitor, { account });
      await page.getByText('No account signs in by it yet.').waitFor();
      expect(page.url()).toBe(`${server.url}/console/returned`);
      await go(visitor, 'Sign up with Google');
      await choose(visitor, { account });
      await signedIn(page);
      // a stream may be opening just then
      visitor.allow('closed before the connection is established');
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await visitor.open('/sessions');
      await go(visitor, 'Continue with Google');
      await choose(visitor, { account });
      await page.getByText('this device').waitFor();
      expect(page.url()).toBe(`${server.url}/console/sessions`);
      await expectClean(visitor);
    },
  );

  it('asks for the second step, too', async () => {
    await using withMfa = await startTestServer({ ...settings(), clock: app.clock, mfaEnabled: true });
    const account = newOidcAccount();
    await using visitor = await visit(browser, withMfa);
    await visitor.open('/sign-up');
    await go(visitor, 'Sign up with My Company');
    await choose(visitor, { account });
    const { code = '' } = await withMfa.mail.next(account.email ?? '');
    await visitor.page.getByLabel('Code').fill(code);
    await visitor.page.getByRole('button', { name: 'Go on' }).click();
    await signedIn(visitor.page);
    await expectClean(visitor);
  });

  it('says so where a person did not agree, and takes a token once', async () => {
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    visitor.allow('401');
    await visitor.open('/');
    await go(visitor, 'Continue with Google');
    await choose(visitor, { refuse: true });
    await page.getByText('You did not agree there').waitFor();
    await page.getByRole('link', { name: 'Another way' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await visitor.open('/returned?onetimeToken=forged');
    await page.getByRole('alert').getByText('no longer valid').waitFor();
    expect(page.url()).toBe(`${app.url}/console/returned`);
    await expectClean(visitor);
  });

  it('is linked and unlinked on the account’s page', async () => {
    const ann = await app.signUp({ isVerified: true });
    const account = newOidcAccount({ email: ann.email });
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: '/account?tab=providers' });
    const { page } = visitor;
    const begin = async () => {
      await page.getByRole('button', { name: 'Link My Company' }).click();
      await page.getByLabel('Password').fill(PASSWORD);
      expect(await offences(page)).toEqual([]);
      await page.getByRole('button', { name: 'Go there' }).click();
    };
    await begin();
    await choose(visitor, { refuse: true });
    await page.getByText('You did not agree there').waitFor();
    await page.getByRole('link', { name: 'Back to your account' }).click();
    await begin();
    await choose(visitor, { account });
    const row = page.getByRole('row', { name: /my-company/ });
    await row.waitFor();
    await row.getByRole('button', { name: /^Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Unlink provider' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink provider' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await ann.rest('GET', `/auth/${ann.id}/oauth`).expect(200)).toEqual([]);
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED.providers)).toEqual([]));
});
