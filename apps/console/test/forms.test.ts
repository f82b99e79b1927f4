import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DESKTOP, expectClean, hold, launchChromium, visitSignedIn, type ConsolePage } from './chromium.js';

const product = (name: string) => ({ name, description: 'Leaves', price: { amount: 4, currency: 'EUR' } });
const dialogOf = (page: Page) => page.getByRole('dialog');
const submitOf = (page: Page) => dialogOf(page).locator('button[type=submit]');

async function begin(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'New product' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Description').fill('Leaves');
}

describe.skipIf(!HAS_CHROMIUM)('a form (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  const admin = fixture(() => app.signUpAdmin());
  const visit = (path: string, options?: BrowserContextOptions) => visitSignedIn(browser, app, { person: admin, path, options });

  /** Opens the form of a new product, and writes another description there. */
  async function editing({ open, page }: ConsolePage, name: string): Promise<string> {
    const { id } = await admin.rest('POST', '/products', product(name)).expect<{ id: string }>(201);
    await open(`/products/${id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Description').fill('Mine');
    return id;
  }

  it('that is sent again after its answers were lost creates once', async () => {
    await using visitor = await visit('/products');
    const { page } = visitor;
    visitor.allow('Failed to load resource');
    let lost = 0;
    await page.route('**/trpc/products.create', async (route) => {
      await route.fetch();
      lost += 1;
      await route.abort();
    });
    await begin(page, 'Made once');
    await submitOf(page).click();
    await dialogOf(page).getByRole('alert').waitFor();
    expect(lost).toBe(2);
    await page.unroute('**/trpc/products.create');
    await submitOf(page).click();
    await page.getByRole('heading', { name: 'Made once' }).waitFor();
    const { data } = await admin.rest('GET', '/products?name=Made once').expect<{ data: object[] }>(200);
    expect(data).toHaveLength(1);
    await expectClean(visitor);
  });

  it('that was closed before its answer came leaves the next one as it is', async () => {
    await using visitor = await visit('/products');
    const { page } = visitor;
    const letGo = await hold(page, 'products.create');
    await begin(page, 'Left alone');
    const sent = page.waitForRequest('**/trpc/products.create');
    await submitOf(page).click();
    await sent;
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
    await begin(page, 'Typed meanwhile');
    letGo();
    await page.getByRole('row', { name: /Left alone/ }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Typed meanwhile');
    await expectClean(visitor);
  });

  it.each([
    ['en-GB', { '1,500': 1500, '12,345.5': 12_345.5, '12,5': 12.5, '0,25': 0.25 }],
    ['en-DE', { '1.500': 1500, '12.345,5': 12_345.5, '12,5': 12.5, '1,500': 1.5 }],
  ])('takes numbers as readers of %s write them', async (locale, numbers) => {
    await using visitor = await visit('/products', { ...DESKTOP, locale });
    const { page } = visitor;
    for (const [typed, amount] of Object.entries(numbers)) {
      const name = `For ${typed} in ${locale}`;
      await begin(page, name);
      await page.getByLabel('Amount').fill(typed);
      await page.getByLabel('Currency').selectOption('USD');
      await submitOf(page).click();
      await page.getByRole('heading', { name }).waitFor();
      const { data } = await admin.rest('GET', `/products?name=${name}`).expect<{ data: object[] }>(200);
      expect(data).toMatchObject([{ price: { amount } }]);
      await page.goBack();
    }
    await expectClean(visitor);
  });

  it('waits for the file that is chosen last', async () => {
    await using visitor = await visit('/');
    const { page } = visitor;
    const { id: organizationId } = await admin
      .rest('POST', '/organizations', {
        organization: { name: 'Tea house', description: 'Of all sorts', contact_email: admin.email },
      })
      .expect<{ id: string }>(201);
    await visitor.open(`/organizations/${organizationId}`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit everything', exact: true }).click();
    const letGo = await hold(page, 'organizations.logoUploadUrl*');
    const file = (name: string) => ({ name, mimeType: 'image/svg+xml', buffer: Buffer.from(`<svg id="${name}"/>`) });
    const logo = dialogOf(page).getByLabel(/^Logo/);
    await logo.setInputFiles(file('first.svg'));
    await dialogOf(page).getByText('Uploading').waitFor();
    expect(await submitOf(page).getAttribute('aria-disabled')).toBe('true');
    letGo();
    await dialogOf(page).getByText('Uploaded.').waitFor();
    await submitOf(page).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    const stored = async () =>
      (await admin.rest('GET', `/organizations/${organizationId}`).expect<{ logo: object | null }>(200)).logo;
    await expect.poll(stored).not.toBeNull();
    await expectClean(visitor);
  });

  it('says that there is none where a field that may have none is left empty: an organization moves to the top', async () => {
    const make = async (name: string, more: object) => {
      const organization = { name, description: 'Tea', contact_email: admin.email };
      return (await admin.rest('POST', '/organizations', { organization, ...more }).expect<{ id: string }>(201)).id;
    };
    const parentId = await make('Head office', {});
    const id = await make('Branch office', { parentId });
    const parentOf = async () =>
      (await admin.rest('GET', `/organizations/${id}`).expect<{ parentId: string | null }>(200)).parentId;
    expect(await parentOf()).toBe(parentId);
    await using visitor = await visit(`/organizations/${id}`);
    const { page } = visitor;
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Move', exact: true }).click();
    // what is offered for the field lies above the button
    await submitOf(page).press('Enter');
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(await parentOf()).toBeNull();
    await expectClean(visitor);
  });

  it('shows the difference again to who was too late twice', async () => {
    await using visitor = await visit('/');
    const { page } = visitor;
    const id = await editing(visitor, 'Contested');
    visitor.allow('412');
    const change = (description: string) => admin.rest('PATCH', `/products/${id}`, { description }).expect(200);
    await change('Theirs');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialogOf(page).getByText('Theirs').waitFor();
    await change('Theirs again');
    await page.getByRole('button', { name: 'Save mine' }).click();
    await dialogOf(page).getByText('Theirs again').waitFor();
    await page.getByRole('button', { name: 'Save mine' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(await admin.rest('GET', `/products/${id}`).expect(200)).toMatchObject({ description: 'Mine' });
    await expectClean(visitor);
  });

  it('shows its secret to who has closed it before the answer, when no other form is open', async () => {
    await using visitor = await visit('/account?tab=keys');
    const { page } = visitor;
    const closed = async (name: string) => {
      const letGo = await hold(page, 'auth.createKey*');
      await page.getByRole('button', { name: 'New API key' }).click();
      await page.getByLabel('Name', { exact: true }).fill(name);
      await page.getByLabel('Scopes').fill('products.*');
      const sent = page.waitForRequest('**/trpc/auth.createKey*');
      await submitOf(page).click();
      await sent;
      await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
      await dialogOf(page).waitFor({ state: 'detached' });
      return letGo;
    };
    const seen = async () => {
      await dialogOf(page).getByText(/^tdm_/).waitFor();
      await dialogOf(page).getByRole('button', { name: 'Close' }).last().click();
      await dialogOf(page).waitFor({ state: 'detached' });
    };
    (await closed('First'))();
    await seen();
    const letGo = await closed('Second');
    await page.getByRole('button', { name: 'New API key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Third');
    letGo();
    await page.getByRole('row', { name: /Second/ }).waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Third');
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
    await seen();
    await expectClean(visitor);
  });

  it('that was too late, and whose record cannot be read, shows the difference on another try', async () => {
    await using visitor = await visit('/');
    const { page } = visitor;
    const id = await editing(visitor, 'Unread');
    visitor.allow('412');
    visitor.allow('Failed to load resource');
    await admin.rest('PATCH', `/products/${id}`, { description: 'Theirs' }).expect(200);
    await page.route('**/trpc/products.get*', (route) => route.abort());
    await page.getByRole('button', { name: 'Save' }).click();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await page.unroute('**/trpc/products.get*');
    await again.click();
    await dialogOf(page).getByText('Theirs').waitFor();
    await page.getByRole('button', { name: 'Save mine' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(await admin.rest('GET', `/products/${id}`).expect(200)).toMatchObject({ description: 'Mine' });
    await expectClean(visitor);
  });

  it('that was too late is said to be, where its view was left', async () => {
    await using visitor = await visit('/');
    const { page } = visitor;
    const id = await editing(visitor, 'Left behind');
    visitor.allow('412');
    await admin.rest('PATCH', `/products/${id}`, { description: 'Theirs' }).expect(200);
    const letGo = await hold(page, 'products.patch');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Organizations' }).click();
    await page.getByRole('heading', { name: 'Organizations' }).waitFor();
    letGo();
    await page.getByText('Precondition Failed').waitFor();
    expect(await dialogOf(page).count()).toBe(0);
    await expectClean(visitor);
  });
});
