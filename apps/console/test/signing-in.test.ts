import { HAS_CHROMIUM, PASSWORD, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { PHONE, visit, expectClean, launchChromium, notCalled, signedIn } from './chromium.js';
import { REACHED } from './reached.js';

describe.skipIf(!HAS_CHROMIUM)('signing in (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('opens the requested page, and survives a reload but not the tab', async () => {
    const { email } = await app.signUp();
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    await visitor.open('/sessions');
    await visitor.signIn(email);
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(page.url()).toBe(`${app.url}/console/sessions`);
    expect(await page.getByText(email).isVisible()).toBe(true);
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    expect(kept).toBe('[{},{},""]');
    const other = await page.context().newPage();
    await other.goto(`${app.url}/console/sessions`);
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectClean(visitor);
  });

  it('survives the way to another page though the browser leaves no time to hide this one', async () => {
    const { email } = await app.signUp();
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    await page.addInitScript("addEventListener('pagehide', (event) => event.stopImmediatePropagation())");
    await visitor.open('/sessions');
    await visitor.signIn(email);
    await page.getByText('this device').waitFor();
    await page.goto(`${app.url}/docs`);
    await visitor.open('/sessions');
    await page.getByText('this device').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await expectClean(visitor);
  });

  it('leaves no tokens in the storage of a page that stays, nor after the next page has taken them', async () => {
    const { email } = await app.signUp();
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    await visitor.open('/sessions');
    await visitor.signIn(email);
    await page.getByText('this device').waitFor();
    // as a link to a mail program does
    expect(await page.evaluate("dispatchEvent(new Event('beforeunload')), sessionStorage.length")).toBe(1);
    await expect.poll(() => page.evaluate('sessionStorage.length'), { timeout: 10_000 }).toBe(0);
    const late = "dispatchEvent(new Event('beforeunload')), sessionStorage.clear(), dispatchEvent(new Event('pagehide'))";
    expect(await page.evaluate(`${late}, sessionStorage.length`)).toBe(0);
    await expectClean(visitor);
  });

  it('says what is wrong, and then accepts the right password', async () => {
    const { email } = await app.signUp();
    await using visitor = await visit(browser, app, PHONE);
    const { page } = visitor;
    visitor.allow('401');
    await visitor.open('/');
    await visitor.signIn(email, 'something else');
    await page.getByRole('alert').getByText('The email or the password is wrong.').waitFor();
    await visitor.signIn(email);
    await signedIn(page);
    await expectClean(visitor);
  });

  it('asks for the code of the second step, and sends another', async () => {
    const { email } = await app.signUp();
    await using withMfa = await startTestServer({ mfaEnabled: true });
    await using visitor = await visit(browser, withMfa);
    const { page } = visitor;
    visitor.allow('400');
    await visitor.open('/sessions');
    await visitor.signIn(email);
    const { code: first = '' } = await withMfa.mail.next(email);
    const wrong = first === '111111' ? '222222' : '111111';
    await page.getByLabel('Code').fill(wrong);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByText('That code is wrong, or was used already.').waitFor();
    withMfa.clock.advance(31_000);
    await page.getByRole('button', { name: 'Send another code' }).click();
    const { code = '' } = await withMfa.mail.next(email);
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
    await expectClean(visitor);
  });

  it('works with tokens in cookies, for all tabs', async () => {
    await using withCookies = await startTestServer({ authModes: { default: 'cookie' } });
    const { email } = await app.signUp();
    await using visitor = await visit(browser, withCookies);
    const { page } = visitor;
    await visitor.open('/sessions');
    await visitor.signIn(email);
    await page.getByText('this device').waitFor();
    const other = await page.context().newPage();
    await other.goto(`${withCookies.url}/console/sessions`);
    await other.getByText('this device').waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectClean(visitor);
  });

  it('ends here as soon as it ends at the server, and says so', async () => {
    const { id, email } = await app.signUp();
    const admin = await app.signUpAdmin();
    await using visitor = await visit(browser, app);
    for (const text of ['401', '422', 'HTTP Authentication failed']) visitor.allow(text);
    await visitor.open('/sessions');
    await visitor.signIn(email);
    await visitor.page.getByText('this device').waitFor();
    await admin.rest('POST', `/identities/${id}/lock`).expect(204);
    await visitor.page.getByText('Your session has ended.').waitFor();
    await expectClean(visitor);
  });

  it('starts with an account: created here, its address confirmed by the mail’s link', async () => {
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    await visitor.open('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    // both pages have these fields
    await page.getByRole('heading', { name: 'Create an account' }).waitFor();
    const email = 'newcomer@example.org';
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await signedIn(page);
    const { link = '', token = '' } = await app.mail.next(email);
    await page.goto(link);
    await page.getByRole('button', { name: 'Confirm email address' }).waitFor();
    expect(page.url()).toBe(`${app.url}/console/confirm-email`);
    expect(token).not.toBe('');
    await page.getByRole('button', { name: 'Confirm email address' }).click();
    await page.getByText('Your email address is confirmed.').waitFor();
    await expectClean(visitor);
  });

  it('gets a new password by the mail’s link, also after a reload', async () => {
    const { email } = await app.signUp();
    await using visitor = await visit(browser, app, PHONE);
    const { page } = visitor;
    await visitor.open('/');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByRole('heading', { name: 'Reset your password' }).waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Send a link' }).click();
    await page.getByText('a link is on its way').waitFor();
    const { link = '' } = await app.mail.next(email);
    await page.goto(link);
    await page.getByLabel('New password').waitFor();
    expect(page.url()).toBe(`${app.url}/console/reset-password`);
    await page.reload();
    await page.getByLabel('New password').fill('another password of the tests');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('link', { name: 'Continue to Tandem' }).click();
    await visitor.signIn(email, 'another password of the tests');
    await signedIn(page);
    await visitor.open('/reset-password');
    await page.getByText('The link is incomplete.').waitFor();
    await expectClean(visitor);
  });

  it('joins an organization by an invitation’s link, with a new or existing account', async () => {
    const owner = await app.signUp({ isVerified: true });
    const { email: known } = await app.signUp();
    const organization = { name: `Harbour ${owner.id}`, description: 'Tea', contact_email: owner.email };
    const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    for (const email of ['invited@example.org', known])
      await owner.rest('POST', '/invitations', { email, organizationId, role: 'member' }).expect(201);

    await using visitor = await visit(browser, app);
    const { page } = visitor;
    await page.goto((await app.mail.next('invited@example.org')).link ?? '');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await signedIn(page);
    expect(await page.locator('.email').getAttribute('title')).toBe('invited@example.org');

    await using second = await visit(browser, app);
    await second.page.goto((await app.mail.next(known)).link ?? '');
    await second.page.getByRole('button', { name: 'I have an account' }).click();
    await second.signIn(known);
    await second.page.getByRole('button', { name: 'Accept invitation' }).click();
    await second.page.getByText('You have accepted the invitation.').waitFor();
    await expectClean(visitor);
    await expectClean(second);
  });

  it('ends also where the server cannot be told, unless it alone can remove the cookies: it says which', async () => {
    const { email } = await app.signUp();
    for (const mode of ['bearer', 'cookie'] as const) {
      await using leaving = await startTestServer({ authModes: { default: mode } });
      await using visitor = await visit(browser, leaving);
      const { page } = visitor;
      visitor.allow('ERR_CONNECTION_REFUSED');
      await visitor.open('/sessions');
      await visitor.signIn(email);
      await page.getByText('this device').waitFor();
      await leaving.close();
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      if (mode === 'bearer') {
        await page.getByText('the server could not be reached to end the session').waitFor();
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        continue;
      }
      await page.getByRole('alert').getByText('You are still signed in.').waitFor();
      await using back = await startTestServer({ authModes: { default: mode }, port: Number(new URL(leaving.url).port) });
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(back.url).toBe(leaving.url);
      expect(await page.context().cookies()).toEqual([]);
    }
  });

  it('with a second step sends the mail that confirms the address, and sends it again on request', async () => {
    await using withMfa = await startTestServer({ mfaEnabled: true });
    await using visitor = await visit(browser, withMfa);
    const { page } = visitor;
    const email = 'careful@example.org';
    const nextLink = async () => (await withMfa.mail.next(email, ({ link }) => link !== undefined)).link ?? '';
    await visitor.open('/sign-up');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByLabel('Code').fill((await withMfa.mail.next(email, ({ code }) => code !== undefined)).code ?? '');
    await page.getByRole('button', { name: 'Go on' }).click();
    expect(await nextLink()).toContain('/confirm-email?');
    // both streams are open: the clock lets their tickets expire
    for (const view of ['Notifications', 'Chat']) {
      await page.getByRole('link', { name: view, exact: true }).click();
      await page.getByText('Live', { exact: true }).waitFor();
    }
    withMfa.clock.advance(61_000);
    await page.getByRole('button', { name: 'Mail me the link' }).click();
    await page.getByText(`The link is on its way to ${email}.`).waitFor();
    await page.goto(await nextLink());
    await page.getByRole('button', { name: 'Confirm email address' }).click();
    await page.getByRole('link', { name: 'Continue to Tandem' }).click();
    await signedIn(page);
    expect(await page.getByRole('button', { name: 'Mail me the link' }).count()).toBe(0);
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED['signing-in'])).toEqual([]));
});
