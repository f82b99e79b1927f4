import {
  HAS_CHROMIUM,
  PASSWORD,
  PATIENCE,
  createTotpApp,
  fixture,
  freePort,
  startTestServer,
  type Person,
  type TestServer,
} from '@tandem/testing';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PHONE, offences, visit, expectClean, launchChromium, notCalled, type ConsolePage } from './chromium.js';
import { REACHED } from './reached.js';

const MINUTE = 60_000;

/** Gives a page an authenticator of its own, as a phone or laptop has one. */
async function withAuthenticator(page: Page): Promise<void> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

describe.skipIf(!HAS_CHROMIUM)('second factors (skipped where there is no chromium)', () => {
  const browser = fixture(launchChromium);
  /** Two ports of one host: where people sign in, and another front end of the same product. */
  let app: TestServer;
  let second: TestServer;
  beforeAll(async () => {
    const [one, two] = [await freePort(), await freePort()];
    const origins = [`http://localhost:${one}`, `http://localhost:${two}`];
    app = await startTestServer({ port: one, publicUrl: origins[0], corsOrigins: origins });
    second = await startTestServer({ port: two, publicUrl: origins[1], corsOrigins: origins, clock: app.clock });
  });
  afterAll(() => Promise.all([app?.close(), second?.close()]));

  const at = (server: TestServer) => ({ url: server.url.replace('127.0.0.1', 'localhost') });
  const signedIn = ({ page }: ConsolePage) => page.getByRole('heading', { name: 'Security' }).waitFor();
  async function open(visitor: ConsolePage, { email }: Pick<Person, 'email'>): Promise<void> {
    // the end of a session may overtake what is under way
    for (const text of ['HTTP Authentication failed', '401', '422']) visitor.allow(text);
    await visitor.open('/security');
    await visitor.signIn(email);
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  /** Adds an authenticator app in the page. */
  async function addApp(page: Page): Promise<ReturnType<typeof createTotpApp>> {
    await button(page, 'Add an authenticator app').click();
    await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
    const secret = ((await page.locator('code.secret').textContent()) ?? '').replaceAll(' ', '');
    const code = createTotpApp(secret, app.clock);
    await page.getByLabel('The code that the app shows').fill(code());
    await button(page, 'Add').click();
    await page.getByText('Your authenticator app was added.').waitFor();
    return code;
  }
  async function addPasskey(page: Page): Promise<void> {
    await button(page, 'Add a passkey').click();
    await page.getByText('Your passkey was added.').waitFor();
  }
  async function printCodes(page: Page): Promise<string[]> {
    await button(page, 'Make recovery codes').click();
    const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    await codes.first().waitFor();
    const texts = await codes.allTextContents();
    await button(page, 'I have them').click();
    return texts;
  }

  it('a passkey is added, signs in without password and as a second step, also at another port, and is removed', async () => {
    const ann = await app.signUp();
    await using visitor = await visit(browser, at(app));
    const { page } = visitor;
    await withAuthenticator(page);
    await open(visitor, ann);
    await signedIn(visitor);
    await page.getByText('Your password alone signs you in.').waitFor();
    expect(await offences(page)).toEqual([]);
    await addPasskey(page);
    const factors = page.getByRole('list', { name: 'Your factors' }).getByRole('listitem');
    await expect.poll(() => factors.count(), PATIENCE).toBe(1);

    await button(page, 'Sign out').click();
    await button(page, 'Sign in with a passkey').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();

    await button(page, 'Sign out').click();
    await visitor.signIn(ann.email);
    await page.getByRole('heading', { name: 'Your passkey, please' }).waitFor();
    expect(await offences(page)).toEqual([]);
    await button(page, 'Go on').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();

    await page.goto(`${at(second).url}/console/security`);
    await button(page, 'Sign in with a passkey').click();
    await signedIn(visitor);
    await page.getByRole('button', { name: /^Remove / }).click();
    await button(page, 'Remove').click();
    await page.getByText(/was removed\.$/).waitFor();
    await page.getByText('You have none yet').waitFor();
    await app.signIn(ann.email);
    await expectClean(visitor);
  });

  it('a phone’s app is added by its QR code and asked for; when it is lost, a recovery code signs in', async () => {
    const ann = await app.signUp();
    await using visitor = await visit(browser, at(app), PHONE);
    const { page } = visitor;
    visitor.allow('400');
    await open(visitor, ann);
    await signedIn(visitor);
    const code = await addApp(page);
    const [recovery = ''] = await printCodes(page);
    await page.getByText('10 of 10 left').waitFor();
    expect(await offences(page)).toEqual([]);

    await button(page, 'Sign out').click();
    await visitor.signIn(ann.email);
    await page.getByLabel('The code that your authenticator app shows').fill(code());
    await button(page, 'Go on').click();
    await page.getByText('That code is wrong, or was used already.').waitFor();
    await page.getByLabel('The code that your authenticator app shows').fill(code(1));
    await button(page, 'Go on').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();

    await button(page, 'Sign out').click();
    await visitor.signIn(ann.email);
    await button(page, 'Use a recovery code').click();
    await page.getByLabel('One of your recovery codes').fill(recovery);
    await button(page, 'Go on').click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    await page.getByText('9 of 10 left').waitFor();
    await expectClean(visitor);
  });

  it('a second device is added on it, after its owner has proved themselves there', async () => {
    const ann = await app.signUp();
    await using first = await visit(browser, at(app));
    await withAuthenticator(first.page);
    await open(first, ann);
    await signedIn(first);
    await addPasskey(first.page);
    const code = await addApp(first.page);

    await using laptop = await visit(browser, at(second));
    const { page } = laptop;
    for (const text of ['403', '400']) laptop.allow(text);
    await withAuthenticator(page);
    await open(laptop, ann);
    await page.getByLabel('The code that your authenticator app shows').fill(code(1));
    await button(page, 'Go on').click();
    await signedIn(laptop);
    app.clock.advance(11 * MINUTE);
    await button(page, 'Add a passkey').click();
    await page.getByRole('dialog', { name: 'Is it still you?' }).waitFor();
    expect(await offences(page)).toEqual([]);
    await page.getByLabel('Password').fill('a wrong guess');
    await button(page, 'Go on').click();
    await page.getByText('That password is wrong.').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await button(page, 'Go on').click();
    await page.getByText('Your passkey was added.').waitFor();
    const factors = page.getByRole('list', { name: 'Your factors' }).getByRole('listitem');
    await expect.poll(() => factors.count(), PATIENCE).toBe(3);
    await expectClean(laptop);
  });

  it('nothing changes when the person gives up', async () => {
    const ann = await app.signUp();
    await using visitor = await visit(browser, at(app));
    visitor.allow('403');
    const { page } = visitor;
    await open(visitor, ann);
    await signedIn(visitor);
    app.clock.advance(11 * MINUTE);
    await button(page, 'Add an authenticator app').click();
    await page.getByRole('dialog').waitFor();
    await button(page, 'Cancel').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('You have none yet').waitFor();
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED.security)).toEqual([]));
});
