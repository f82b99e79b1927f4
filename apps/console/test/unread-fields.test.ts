import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectClean, focusedText, launchChromium, visitSignedIn } from './chromium.js';

const dialogOf = (page: Page) => page.getByRole('dialog');
const submit = (page: Page) => dialogOf(page).locator('button[type=submit]').click();
const problemIn = (page: Page, text: string) =>
  dialogOf(page).locator('.field', { has: page.locator('.problem', { hasText: text }) });

describe.skipIf(!HAS_CHROMIUM)('what a form cannot read (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  const admin = fixture(() => app.signUpAdmin());
  const visit = (path: string) => visitSignedIn(browser, app, { person: admin, path });

  it('is a time without its parts: no key that never expires is made of it', async () => {
    await using visitor = await visit('/account?tab=keys');
    const { page } = visitor;
    await page.getByRole('button', { name: 'New API key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Short-lived');
    await page.getByLabel('Scopes').fill('products.*');
    const expiry = page.getByLabel(/^Expires/);
    await expiry.focus();
    await page.keyboard.type('3112');
    await submit(page);
    await problemIn(page, 'This time is incomplete').waitFor();
    expect(await focusedText(page)).toContain('Expires');
    const { data } = await admin.rest('GET', `/auth/${admin.id}/keys`).expect<{ data: object[] }>(200);
    expect(data).toEqual([]);
    await expiry.fill('2999-12-31T10:00');
    await submit(page);
    await dialogOf(page).getByText(/^tdm_/).waitFor();
    await expectClean(visitor);
  });

  it('is a name for which nothing was chosen: the field is not emptied', async () => {
    const { id: parent } = await admin
      .rest('POST', '/categories', { name: 'Goods', description: '' })
      .expect<{ id: string }>(201);
    const books = await admin.rest('POST', '/categories', { name: 'Books', description: '' }).expect<{ id: string }>(201);
    const { id } = await admin
      .rest('POST', '/categories', { name: 'Novels', description: '', parent })
      .expect<{ id: string }>(201);
    await using visitor = await visit(`/categories/${id}`);
    const { page } = visitor;
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('button', { name: 'Remove category' }).click();
    await page.getByLabel(/^Parent/).fill('Books');
    await page.keyboard.press('Tab');
    await submit(page);
    await problemIn(page, 'Choose one that was found.').waitFor();
    expect(await focusedText(page)).toContain('Parent');
    expect(await admin.rest('GET', `/categories/${id}`).expect(200)).toMatchObject({ parent });
    await dialogOf(page).getByRole('list', { name: 'Found' }).getByRole('button', { name: 'Books' }).click();
    await problemIn(page, 'Choose one that was found.').waitFor({ state: 'detached' });
    await submit(page);
    await dialogOf(page).waitFor({ state: 'detached' });
    const read = () => admin.rest('GET', `/categories/${id}`).expect<{ parent: string }>(200);
    await expect.poll(async () => (await read()).parent).toBe(books.id);
    await expectClean(visitor);
  });

  it('is never taken by Enter for a record of another name', async () => {
    const owner = await app.signUp();
    const make = (name: string) =>
      owner.rest('POST', '/organizations', { organization: { name, description: '', contact_email: owner.email } }).expect(201);
    await make('茶の店');
    for (let count = 1; count <= 9; count++) await make(`Shop ${String(count)}`);
    for (const person of [owner, admin]) {
      await using visitor = await visitSignedIn(browser, app, { person, path: '/products' });
      const { page } = visitor;
      await page.getByRole('button', { name: 'New product' }).click();
      const shop = page.getByLabel(/^Organization/);
      const found = dialogOf(page).getByRole('list', { name: 'Found' }).getByRole('button');
      await shop.focus();
      await expect.poll(() => found.count()).toBe(8);
      await shop.fill('zz');
      await expect.poll(() => found.count()).toBe(0);
      await shop.fill('茶');
      await expect.poll(() => found.allTextContents()).toEqual(['茶の店']);
      // the Enter of an input method takes a word of it alone
      const ofMethod = "new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true })";
      await page.evaluate(`document.activeElement.dispatchEvent(${ofMethod})`);
      expect(await shop.inputValue()).toBe('茶');
      await page.keyboard.press('Enter');
      await dialogOf(page).getByRole('button', { name: 'Remove organization' }).waitFor();
      await dialogOf(page).getByText('茶の店').waitFor();
      await expectClean(visitor);
    }
  });

  it('is said at its field, also within another', async () => {
    await admin.rest('POST', '/products', { name: 'Mug', description: '' }).expect(201);
    await using visitor = await visit('/products');
    const { page } = visitor;
    await page.getByRole('checkbox', { name: 'Choose Mug' }).check();
    await page.getByRole('button', { name: 'Patch', exact: true }).click();
    await dialogOf(page)
      .getByLabel(/^Metadata/)
      .fill('{ "colour": ');
    await submit(page);
    await problemIn(page, 'This is no JSON.')
      .getByLabel(/^Metadata/)
      .waitFor();
    expect(await focusedText(page)).toContain('Metadata');
    await dialogOf(page)
      .getByLabel(/^Metadata/)
      .fill('{ "colour": "red" }');
    await submit(page);
    await dialogOf(page).waitFor({ state: 'detached' });
    const read = () => admin.rest('GET', '/products?name=Mug').expect<{ data: object[] }>(200);
    await expect.poll(async () => (await read()).data).toMatchObject([{ metadata: { colour: 'red' } }]);
    await visitor.open('/account?tab=keys');
    await page.getByRole('button', { name: 'New API key' }).click();
    await page.getByLabel(/^Expires/).fill('12026-01-01T10:00');
    await submit(page);
    await problemIn(page, 'This time is incomplete').waitFor();
    await expectClean(visitor);
  });
});
