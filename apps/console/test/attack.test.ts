import { HAS_CHROMIUM, PASSWORD, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { PHONE, expectClean, hold, launchChromium, offences, signedIn, visitSignedIn } from './chromium.js';

const product = (name: string, description = 'Leaves') => ({ name, description, price: { amount: 4, currency: 'EUR' } });

/** Names that would do something if they were not shown as they are. */
const HOSTILE = [
  '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  '\u202Egnp.dia\u202D right to left',
  '\u200B\u200B',
  'عربي and 日本語',
  'longwithoutend'.repeat(700),
  "'; $where: sleep(1000) //",
];

describe.skipIf(!HAS_CHROMIUM)('the console under attack (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const other = fixture(() => startTestServer({ clock: app.clock }));
  const browser = fixture(launchChromium);

  it('shows hostile names as they are, in lists, records, the search and forms', async () => {
    const admin = await app.signUpAdmin();
    const ids: string[] = [];
    for (const name of HOSTILE) {
      const made = await admin.rest('POST', '/products', product(name.slice(0, 200), name)).expect<{ id: string }>(201);
      ids.push(made.id);
    }
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products', options: PHONE });
    const { page } = visitor;
    await page.getByRole('row').nth(HOSTILE.length).waitFor();
    expect(await offences(page), 'list').toEqual([]);
    await expectClean(visitor);
    for (const id of ids) {
      await visitor.open(`/products/${id}`);
      await page.getByRole('article').getByText('Created').waitFor();
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/\S/);
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('dialog').waitFor();
      expect(await offences(page), id).toEqual([]);
      await expectClean(visitor);
      await page.keyboard.press('Escape');
    }
    expect(await page.title()).not.toMatch(/^[12]$/);
  });

  it('keeps what is typed while the server is away, and saves it but once when it is back, however far away', async () => {
    const admin = await app.signUpAdmin();
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    await page.getByRole('button', { name: 'New product' }).click();
    await page.getByLabel('Name', { exact: true }).pressSequentially('Typed without haste');
    await page.getByLabel('Description').fill('Leaves');
    visitor.allow('Failed to load resource');
    visitor.allow('WebSocket');
    await page.context().setOffline(true);
    await page.getByRole('dialog').getByRole('button', { name: 'New product' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed without haste');
    await page.context().setOffline(false);
    const letGo = await hold(page, 'products.create');
    const sent = page.waitForRequest('**/trpc/products.create');
    const save = page.getByRole('dialog').locator('button[type=submit]');
    await save.click();
    await sent;
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed without haste');
    await save.click({ force: true });
    letGo();
    await page.getByRole('heading', { name: 'Typed without haste' }).waitFor();
    const { data } = await admin.rest('GET', '/products?name=Typed without haste').expect<{ data: object[] }>(200);
    expect(data).toHaveLength(1);
    await expectClean(visitor);
  });

  it('shows the difference to the second of two who edit a record on two instances', async () => {
    const [ann, bob] = [await app.signUpAdmin(), await app.signUpAdmin()];
    const { id } = await ann.rest('POST', '/products', product('Shared')).expect<{ id: string }>(201);
    await using first = await visitSignedIn(browser, app, { person: ann, path: `/products/${id}` });
    await using second = await visitSignedIn(browser, other, { person: bob, path: `/products/${id}` });
    for (const { page } of [first, second]) await page.getByRole('button', { name: 'Edit' }).click();
    await second.page.getByLabel('Description').fill('From Bob');
    await first.page.getByLabel('Description').fill('From Ann');
    await first.page.getByRole('button', { name: 'Save' }).click();
    await first.page.getByText('Done: save.').waitFor();
    second.allow('412');
    await second.page.getByRole('button', { name: 'Save' }).click();
    const difference = second.page.getByRole('dialog', { name: 'Somebody else has changed it meanwhile' });
    await difference.getByText('From Ann').waitFor();
    await difference.getByText('From Bob').waitFor();
    await difference.getByRole('button', { name: 'Save mine' }).click();
    await difference.waitFor({ state: 'detached' });
    expect(await ann.rest('GET', `/products/${id}`).expect(200)).toMatchObject({ description: 'From Bob' });
    await expectClean(first);
    await expectClean(second);
  });

  it('shows nothing of a person in a tab whose cookies are another person’s by now', async () => {
    await using withCookies = await startTestServer({ authModes: { default: 'cookie' } });
    const [ann, bob] = [await withCookies.signUp(), await withCookies.signUp()];
    await using visitor = await visitSignedIn(browser, withCookies, { person: ann, path: '/' });
    const { page } = visitor;
    const tab = await page.context().newPage();
    await tab.goto(`${withCookies.url}/console/`);
    await tab.getByRole('button', { name: 'Sign out', exact: true }).click();
    await tab.getByLabel('Email', { exact: true }).fill(bob.email);
    await tab.getByLabel('Password').fill(PASSWORD);
    await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await signedIn(tab);
    await page.locator('.email', { hasText: bob.email }).waitFor();
    expect(await page.getByText(ann.email).count()).toBe(0);
    visitor.allow('401');
    await expectClean(visitor);
  });
});
