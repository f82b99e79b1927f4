import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectClean, focusedText, launchChromium, tabTo, visitSignedIn, type ConsolePage } from './chromium.js';

const PICTURE = {
  name: 'tea.png',
  mimeType: 'image/png',
  buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64'), // prettier-ignore
};

/** Opens the search over everything, and what it finds first. */
async function find(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.getByRole('searchbox', { name: 'Find pages, records and actions' }).waitFor();
  await page.keyboard.type(text);
  await page.getByRole('list', { name: 'Found' }).getByRole('button', { name: text }).first().waitFor();
  await page.keyboard.press('Enter');
}

describe.skipIf(!HAS_CHROMIUM)('the keyboard alone (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  /** A form that has found an organization for what was typed. */
  async function formThatFound(name: string): Promise<ConsolePage> {
    const admin = await app.signUpAdmin();
    const organization = { name, description: 'Tea', contact_email: 'shop@example.org' };
    await admin.rest('POST', '/organizations', { organization }).expect(201);
    const visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await find(page, 'New invitation');
    await tabTo(page, 'Organization optional');
    await page.keyboard.type(name);
    await page.getByRole('list', { name: 'Found' }).getByRole('button', { name }).waitFor();
    return visitor;
  }

  it('moves an order', async () => {
    const admin = await app.signUpAdmin();
    const buyer = await app.signUp();
    const product = { name: 'Tea', description: 'Leaves', price: { amount: 4, currency: 'EUR' } };
    const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    const order = { identityId: buyer.id, items: [{ productId, quantity: 2 }] };
    const { id } = await admin.rest('POST', '/orders', order).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await find(page, 'Orders');
    await page.getByRole('table').getByRole('row').nth(1).waitFor();
    await tabTo(page, `…${id.slice(-6)}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: `Order ${id.slice(-6)}` }).waitFor();
    await tabTo(page, 'Mark confirmed');
    await page.keyboard.press('Enter');
    await page.getByText('Done: the order is confirmed.').waitFor();
    expect(await admin.rest('GET', `/orders/${id}`).expect(200)).toMatchObject({ status: 'confirmed' });
    await expectClean(visitor);
  });

  it('makes a product with a picture', async () => {
    const admin = await app.signUpAdmin();
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await find(page, 'New product');
    await tabTo(page, 'Name');
    await page.keyboard.type('Keyboard tea');
    await tabTo(page, 'Description');
    await page.keyboard.type('Leaves');
    await tabTo(page, 'New product');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keyboard tea' }).waitFor();
    // Enter would be faster than the browser is told to hand the chooser over
    const choosing = page.waitForEvent('filechooser');
    await tabTo(page, /^Add pictures/);
    await page.keyboard.press('Enter');
    await (await choosing).setFiles(PICTURE);
    await page.getByText('Done: a picture was added.').waitFor();
    const { data } = await admin.rest('GET', '/products?name=Keyboard tea').expect<{ data: { images: object[] }[] }>(200);
    expect(data[0]?.images).toHaveLength(1);
    await expectClean(visitor);
  });

  it('can be typed with before what finds has come', async () => {
    const admin = await app.signUpAdmin();
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/security' });
    const { page } = visitor;
    let goOn = () => {};
    const isTyped = new Promise<void>((resolve) => (goOn = resolve));
    await page.route('**/openapi.json', async (route) => {
      await isTyped;
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox', { name: 'Find pages, records and actions' }).waitFor();
    await page.keyboard.type('New ');
    goOn();
    await page.getByRole('list', { name: 'Found' }).waitFor();
    await page.keyboard.type('pro');
    await page.getByRole('list', { name: 'Found' }).getByRole('button', { name: 'New product' }).waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('New pro');
    await expectClean(visitor);
  });

  it('takes with Enter what was found first, though records are found meanwhile', async () => {
    const admin = await app.signUpAdmin();
    const product = { name: 'New product line', description: 'Leaves', price: { amount: 4, currency: 'EUR' } };
    await admin.rest('POST', '/products', product).expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await page.keyboard.press('Control+k');
    await page.getByRole('searchbox', { name: 'Find pages, records and actions' }).waitFor();
    await page.keyboard.type('New product');
    const found = page.getByRole('list', { name: 'Found' });
    await found.getByRole('button', { name: 'New product line' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New product' }).waitFor();
    await page.keyboard.press('Escape');
    await expectClean(visitor);
  });

  it('invites a member', async () => {
    const admin = await app.signUpAdmin();
    const organization = { name: 'Keyboard shop', description: 'Tea', contact_email: 'shop@example.org' };
    const { id: organizationId } = await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await find(page, 'New invitation');
    await tabTo(page, 'Email');
    await page.keyboard.type('keyboard.guest@example.org');
    await tabTo(page, 'Organization optional');
    await page.keyboard.type('Keyboard');
    await page.getByRole('list', { name: 'Found' }).getByRole('button', { name: 'Keyboard shop' }).waitFor();
    await page.keyboard.press('Enter');
    await tabTo(page, 'Role optional');
    await page.keyboard.type('Member');
    await tabTo(page, 'New invitation');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'keyboard.guest@example.org' }).waitFor();
    const { data } = await admin.rest('GET', '/invitations').expect<{ data: object[] }>(200);
    expect(data).toMatchObject([{ email: 'keyboard.guest@example.org', organizationId, role: 'member' }]);
    await expectClean(visitor);
  });

  it('passes through what a form has found', async () => {
    await using visitor = await formThatFound('Passed shop');
    const { page } = visitor;
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Passed shop');
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Role optional');
    await expectClean(visitor);
  });

  it('stays in a form where a record is chosen and removed', async () => {
    await using visitor = await formThatFound('Focused shop');
    const { page } = visitor;
    await page.keyboard.press('Enter');
    await expect.poll(() => focusedText(page)).toBe('Remove organization');
    await page.keyboard.press('Enter');
    await expect.poll(() => focusedText(page)).toBe('Organization optional');
    await expectClean(visitor);
  });
});
