import { HAS_CHROMIUM, PASSWORD, fixture, startTestServer, storeCopies, type Person } from '@tandem/testing';
import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectClean, hold, launchChromium, signedIn, visitSignedIn, type ConsolePage } from './chromium.js';

const product = (name: string) => ({ name, description: 'Leaves', price: { amount: 4, currency: 'EUR' } });
const row = (page: Page, name: string) => page.locator('tr', { hasText: name });
const toast = (page: Page) => page.locator('.toast');
const undo = (page: Page) => toast(page).getByRole('button', { name: 'Undo' });

/** Deletes a record by the menu of its row. */
async function remove(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').locator('button[type=submit]').click();
  await row(page, name).waitFor({ state: 'detached' });
}

/** Opens the form of a record, and saves what is filled in. */
async function edit(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).click();
  await save(page, fields);
}

async function save(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  const dialog = page.getByRole('dialog');
  for (const [label, text] of Object.entries(fields)) {
    const field = dialog.getByLabel(new RegExp(`^${label}`));
    if ((await field.getByRole('option').count()) > 0) await field.selectOption(text);
    else await field.fill(text);
  }
  await dialog.locator('button[type=submit]').click();
  await dialog.waitFor({ state: 'detached' });
}

/** Another tab of the same browser, at a view. */
async function otherTab({ page }: ConsolePage, url: string, { email }: Person): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(url);
  await tab.getByLabel('Email', { exact: true }).fill(email);
  await tab.getByLabel('Password').fill(PASSWORD);
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await signedIn(tab);
  return tab;
}

const isCallOf =
  (procedure: string) =>
  ({ pathname }: URL) =>
    pathname === `/trpc/${procedure}`;

/** Holds the next call of a procedure by each page until all have made theirs. */
async function together(pages: readonly Page[], procedure: string): Promise<void> {
  let missing = pages.length;
  let letGo = () => {};
  const all = new Promise<void>((resolve) => (letGo = resolve));
  const held = async (route: Route) => {
    missing -= 1;
    if (missing === 0) letGo();
    await all;
    await route.continue();
  };
  for (const page of pages) await page.route(isCallOf(procedure), held, { times: 1 });
}

/** Lets the server do the next call of a procedure, and cuts its answer off. */
const loseAnswer = (page: Page, procedure: string) =>
  page.route(
    isCallOf(procedure),
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );

describe.skipIf(!HAS_CHROMIUM)('undoing (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('gives a record the metadata that it had: what was changed, removed and added', async () => {
    const admin = await app.signUpAdmin();
    const metadata = { shelf: 'A', season: 'spring', rank: 1 };
    const { id } = await admin.rest('POST', '/products', { ...product('Mint'), metadata }).expect<{ id: string }>(201);
    const now = async () => (await admin.rest('GET', `/products/${id}`).expect<{ metadata: object }>(200)).metadata;
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/products/${id}` });
    const { page } = visitor;
    await edit(page, { Metadata: JSON.stringify({ shelf: 'B', rank: 1, fresh: true }) });
    await undo(page).waitFor();
    expect(await now()).toEqual({ shelf: 'B', rank: 1, fresh: true });
    await undo(page).click();
    await toast(page).getByText('Undone.').waitFor();
    expect(await now()).toEqual(metadata);
    await expectClean(visitor);
  });

  it.each([{ city: 'Berlin' }, {}, null])('gives an organization the address that it had: %j', async (address) => {
    const admin = await app.signUpAdmin();
    const organization = { name: 'Undone house', description: 'Tea', contact_email: admin.email };
    const { id } = await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    await admin.rest('PATCH', `/admin/organizations/${id}`, { address }).expect(200);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/organizations/${id}` });
    const { page } = visitor;
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Edit everything', exact: true }).click();
    await save(page, { City: 'Bonn', Country: 'DE' });
    await undo(page).waitFor();
    const now = () => admin.rest('GET', `/organizations/${id}`).expect<{ address: object | null }>(200);
    expect((await now()).address).toEqual({ city: 'Bonn', country: 'DE' });
    await undo(page).click();
    await toast(page).getByText('Undone.').waitFor();
    expect((await now()).address).toEqual(address);
    await expectClean(visitor);
  });

  it('works where records have no versions', async () => {
    const admin = await app.signUpAdmin();
    const { id } = await admin.rest('POST', '/products', product('Anise')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await page.route('**/trpc/products.*', async (route) => {
      const response = await route.fetch();
      const { etag, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    await visitor.open(`/products/${id}`);
    await edit(page, { Name: 'Cumin' });
    await undo(page).click();
    await toast(page).getByText('Undone.').waitFor();
    expect(await admin.rest('GET', `/products/${id}`).expect(200)).toMatchObject({ name: 'Anise' });
    await expectClean(visitor);
  });

  it('is not offered for a value that the server alone can give', async () => {
    const admin = await app.signUpAdmin();
    const asked = { url: 'https://example.org/hooks', types: ['order.*'] };
    const { id: of } = await admin.rest('POST', '/webhooks', asked).expect<{ id: string }>(201);
    const disabled = () => ({ slot: 1000, disabledAt: new Date() });
    const [id] = await storeCopies({ mongodbUri: app.mongodbUri, of, count: 1 }, 'webhooks', disabled);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/webhooks/${id}` });
    const { page } = visitor;
    await edit(page, { Disabled: '' });
    await toast(page).getByText('Done: save.').waitFor();
    expect(await undo(page).count()).toBe(0);
    expect(await admin.rest('GET', `/webhooks/${id}`).expect(200)).toMatchObject({ disabledAt: null });
    await expectClean(visitor);
  });

  it('is not offered for the state of an order, which goes one way; for its metadata it is', async () => {
    const admin = await app.signUpAdmin();
    const { id: productId } = await admin.rest('POST', '/products', product('Sage')).expect<{ id: string }>(201);
    const order = { identityId: admin.id, items: [{ productId, quantity: 1 }] };
    const { id } = await admin.rest('POST', '/orders', order).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/orders/${id}` });
    const { page } = visitor;
    await edit(page, { Status: 'confirmed' });
    await toast(page).getByText('Done: save.').waitFor();
    expect(await undo(page).count()).toBe(0);
    await edit(page, { Metadata: '{"erp": "E1"}' });
    await undo(page).click();
    await toast(page).getByText('Undone.').waitFor();
    expect(await admin.rest('GET', `/orders/${id}`).expect(200)).toMatchObject({ status: 'confirmed', metadata: {} });
    await expectClean(visitor);
  });

  it('is offered for an edit that follows another before the page has read the record again', async () => {
    const admin = await app.signUpAdmin();
    const { id } = await admin.rest('POST', '/products', product('Dill')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/products/${id}` });
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Dill' }).waitFor();
    const letGo = await hold(page, 'products.get*');
    await edit(page, { Name: 'Fennel' });
    await undo(page).waitFor();
    await toast(page).getByRole('button', { name: 'Close' }).click();
    await edit(page, { Description: 'Seeds' });
    await undo(page).waitFor();
    letGo();
    await undo(page).click();
    await toast(page).getByText('Undone.').waitFor();
    const now = await admin.rest('GET', `/products/${id}`).expect(200);
    expect(now).toMatchObject({ name: 'Fennel', description: 'Leaves' });
    await expectClean(visitor);
  });

  it('in two tabs at once restores a record once, and the tab that comes second says the same', async () => {
    const admin = await app.signUpAdmin();
    const { id } = await admin.rest('POST', '/products', product('Twice tea')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    visitor.allow('404');
    await row(page, 'Twice tea').waitFor();
    await remove(page, 'Twice tea');
    await undo(page).waitFor();
    const trash = await otherTab(visitor, `${app.url}/console/trash`, admin);
    await trash.getByRole('button', { name: 'Restore Twice tea' }).click();
    await together([page, trash], 'products.restore');
    await Promise.all([undo(page).click(), trash.getByRole('dialog').locator('button[type=submit]').click()]);
    await toast(page).getByText('Undone.').waitFor();
    await row(page, 'Twice tea').waitFor();
    await admin.rest('GET', `/products/${id}`).expect(200);
    await expectClean(visitor);
  });

  it('in two tabs at once gives an edited record its former values, whichever comes first', async () => {
    const admin = await app.signUpAdmin();
    const { id } = await admin.rest('POST', '/products', product('Lime')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/products/${id}` });
    const { page } = visitor;
    visitor.allow('412');
    await edit(page, { Name: 'Lemon' });
    await undo(page).waitFor();
    const tab = await otherTab(visitor, `${app.url}/console/products/${id}`, admin);
    await tab.getByRole('heading', { name: 'Lemon' }).waitFor();
    await together([page, tab], 'products.patch');
    await Promise.all([undo(page).click(), edit(tab, { Name: 'Lime' })]);
    await toast(page).getByText('Undone.').waitFor();
    for (const one of [page, tab]) await one.getByRole('heading', { level: 1, name: 'Lime' }).waitFor();
    expect(await admin.rest('GET', `/products/${id}`).expect(200)).toMatchObject({ name: 'Lime' });
    await expectClean(visitor);
  });

  it('whose answer gets lost can be tried again, and is seen to be done', async () => {
    const admin = await app.signUpAdmin();
    const { id } = await admin.rest('POST', '/products', product('Lost tea')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    for (const text of ['net::ERR_FAILED', '404', '412']) visitor.allow(text);
    await row(page, 'Lost tea').waitFor();
    await remove(page, 'Lost tea');
    await undo(page).waitFor();
    const again = toast(page).getByRole('button', { name: 'Try again' });
    await loseAnswer(page, 'products.restore');
    await undo(page).click();
    await again.waitFor();
    await row(page, 'Lost tea').waitFor();
    await again.click();
    await toast(page).getByText('Undone.').waitFor();

    await visitor.open(`/products/${id}`);
    await edit(page, { Name: 'Found tea' });
    await undo(page).waitFor();
    await loseAnswer(page, 'products.patch');
    await undo(page).click();
    await again.click();
    await toast(page).getByText('Undone.').waitFor();
    expect(await admin.rest('GET', `/products/${id}`).expect(200)).toMatchObject({ name: 'Lost tea' });
    await expectClean(visitor);
  });
});
