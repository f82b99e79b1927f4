import { HAS_CHROMIUM, fixture, startTestServer, type Person } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DESKTOP, expectClean, launchChromium, visitSignedIn } from './chromium.js';

const row = (page: Page, name: string) => page.locator('tr', { hasText: name });
const toast = (page: Page) => page.locator('.toast');
const submit = (page: Page) => page.getByRole('dialog').locator('button[type=submit]').click();
const choose = (page: Page, name: string) => page.getByRole('checkbox', { name: `Choose ${name}` }).check();

describe.skipIf(!HAS_CHROMIUM)('lists in a part of their records (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  const admin = fixture(() => app.signUpAdmin());
  const found = async (by: Person, name: string): Promise<string> => {
    const organization = { name, description: '', contact_email: 'a@example.org' };
    return (await by.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
  };

  it('stay in it when they are filtered, and when something is done with several of its rows', async () => {
    const { id } = await admin.rest('POST', '/categories', { name: 'Tea', description: '' }).expect<{ id: string }>(201);
    const make = (name: string, categoryIds: string[]) =>
      admin.rest('POST', '/products', { name, description: '', categoryIds }).expect(201);
    for (const name of ['Tea mug', 'Tea pot']) await make(name, [id]);
    await make('Beer mug', []);
    const filter = encodeURIComponent("contains(tolower(name), 'mug')");
    const path = `/categories/${id}?tab=products&filter=${filter}`;
    await using visitor = await visitSignedIn(browser, app, { person: admin, path });
    const { page } = visitor;
    await row(page, 'Tea mug').waitFor();
    expect(await row(page, 'Beer mug').count()).toBe(0);
    await choose(page, 'Tea mug');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await submit(page);
    await toast(page).getByRole('button', { name: 'Undo' }).waitFor();
    const { data } = await admin.rest('GET', '/products').expect<{ data: { name: string }[] }>(200);
    expect(data.map(({ name }) => name).toSorted()).toEqual(['Beer mug', 'Tea pot']);
    await expectClean(visitor);
  });

  it('say how many of several rows were deleted', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [own, other] = [await found(ann, 'Own house'), await found(bob, 'Other house')];
    const members = [{ identityId: ann.id, role: 'member' }];
    await bob.rest('PATCH', `/organizations/${other}/members`, members).expect(204);
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: '/organizations' });
    const { page } = visitor;
    visitor.allow('403');
    for (const name of ['Own house', 'Other house']) await choose(page, name);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: 'Delete' }).click();
    await toast(page)
      .getByText(/^Deleted 1 of 2\./)
      .waitFor();
    await row(page, 'Other house').waitFor();
    await ann.rest('GET', `/organizations/${own}`).expect(403);
    await ann.rest('GET', `/organizations/${other}`).expect(200);
    await expectClean(visitor);
  });

  it('give an address back as verified as it was', async () => {
    const bob = await app.signUp({ isVerified: true });
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/identities/${bob.id}` });
    const { page } = visitor;
    const read = () => admin.rest('GET', `/identities/${bob.id}`).expect<object>(200);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel(/^Email(?! verified)/).fill('typo@example.org');
    await submit(page);
    await toast(page).getByRole('button', { name: 'Undo' }).click();
    await toast(page).getByText('Undone.').waitFor();
    expect(await read()).toMatchObject({ email: bob.email, emailVerified: true });
    await expectClean(visitor);
  });

  it('begin a day of a filter where the reader is', async () => {
    const options = { ...DESKTOP, timezoneId: 'Asia/Tokyo' };
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products', options });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByLabel('Field').selectOption('Created');
    await page.getByLabel('Value').fill('2026-11-26');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText(/Created from 26 Nov 2026, 00:00/).waitFor();
    expect(new URL(page.url()).searchParams.get('filter')).toContain('2026-11-25T15:00:00.000Z');
    await expectClean(visitor);
  });

  it('keep what narrows them when they are shown in another way, or narrowed further', async () => {
    for (const name of ['Glass bowl', 'Glass dish', 'Glass jar'])
      await admin.rest('POST', '/products', { name, description: '' }).expect(201);
    const filter = "name eq 'Glass bowl' or name eq 'Glass dish'";
    const path = `/products?filter=${encodeURIComponent(filter)}&order=name`;
    await using visitor = await visitSignedIn(browser, app, { person: admin, path });
    const { page } = visitor;
    const inAddress = (name: string) => new URL(page.url()).searchParams.get(name);
    await row(page, 'Glass bowl').waitFor();
    await page.getByRole('button', { name: 'Grid' }).click();
    await expect.poll(() => inAddress('view')).toBe('grid');
    expect([inAddress('filter'), inAddress('order')]).toEqual([filter, 'name']);
    await page.getByRole('button', { name: 'Table' }).click();
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Field', { exact: true }).selectOption('name');
    await page.getByLabel('Value', { exact: true }).fill('Glass dish');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await expect.poll(() => inAddress('filter')).toBe(`(${filter}) and name eq 'Glass dish'`);
    await row(page, 'Glass bowl').waitFor({ state: 'detached' });
    await row(page, 'Glass dish').waitFor();
    await expectClean(visitor);
  });

  it('measure amounts of each currency apart', async () => {
    for (const [amount, currency] of [
      [1000, 'JPY'],
      [10, 'EUR'],
      [20, 'EUR'],
    ] as const) {
      const product = { name: `In ${currency}`, description: '', price: { amount, currency } };
      const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
      await admin.rest('POST', '/orders', { identityId: admin.id, items: [{ productId, quantity: 1 }] }).expect(201);
    }
    const path = `/orders?group=status&measure=${encodeURIComponent('sum total')}`;
    await using visitor = await visitSignedIn(browser, app, { person: admin, path });
    const { page } = visitor;
    const rowIn = (caption: string) => page.getByRole('table', { name: caption, exact: true }).locator('tbody tr');
    await rowIn('Sum total by Status, EUR').getByText('30', { exact: true }).waitFor();
    expect(await rowIn('Sum total by Status, EUR').allInnerTexts()).toEqual([expect.stringMatching(/^pending\s+30$/)]);
    expect(await rowIn('Sum total by Status, JPY').allInnerTexts()).toEqual([expect.stringMatching(/^pending\s+1,000$/)]);
    await page.getByLabel('Group by').selectOption('Currency');
    await rowIn('Sum total by Currency, JPY').waitFor();
    await visitor.open(`/products?group=organizationId&measure=${encodeURIComponent('average price.amount')}`);
    await rowIn('Average price amount by Organization, EUR').getByText('15', { exact: true }).waitFor();
    await page.getByLabel('Show', { exact: true }).selectOption('Number');
    await rowIn('Number by Organization').waitFor();
    await expectClean(visitor);
  });

  it('ask for a value where a condition needs one, and for whether there is one', async () => {
    const make = (url: string) => admin.rest('POST', '/webhooks', { url, types: ['order.*'] }).expect(201);
    await make('https://example.org/asked');
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/webhooks' });
    const { page } = visitor;
    const filter = () => new URL(page.url()).searchParams.get('filter');
    const value = page.getByLabel('Value', { exact: true });
    const begin = async (field: string, condition: string) => {
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByLabel('Field', { exact: true }).selectOption(field);
      await page.getByLabel('Condition', { exact: true }).selectOption(condition);
    };
    const add = () => page.getByRole('button', { name: 'Add', exact: true }).click();
    await begin('Disabled', 'has no value');
    expect(await value.count()).toBe(0);
    await add();
    await page.getByText('Disabled has no value').waitFor();
    expect(filter()).toBe('disabledAt eq null');
    await row(page, 'https://example.org/asked').waitFor();
    await page.getByRole('button', { name: 'Remove the filter Disabled' }).click();
    await begin('Disabled', 'has a value');
    await add();
    await expect.poll(filter).toBe('disabledAt ne null');
    await row(page, 'https://example.org/asked').waitFor({ state: 'detached' });

    await visitor.open('/products');
    await begin('Name', 'contains');
    const fields = await page.getByLabel('Field', { exact: true }).getByRole('option').allInnerTexts();
    expect(fields.filter((text) => /metadata/i.test(text))).toEqual([]);
    for (const typed of ['', ' ']) {
      await value.fill(typed);
      await add();
      expect(await page.evaluate('document.activeElement.validity.valid')).toBe(false);
    }
    expect(filter() ?? '').toBe('');
    await value.fill('null');
    await add();
    await expect.poll(filter).toBe("contains(tolower(name), 'null')");
    await expectClean(visitor);
  });
});
