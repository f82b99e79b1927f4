import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { PHONE, expectClean, launchChromium, offences, visitSignedIn } from './chromium.js';

const product = (name: string) => ({ name, description: 'Leaves', price: { amount: 4, currency: 'EUR' } });
const row = (page: Page, name: string) => page.locator('tr', { hasText: name });
const toast = (page: Page) => page.locator('.toast');

/** Holds the next call of a procedure. @returns what lets it go: to the server, or to fail as during an outage */
async function hold(page: Page, procedure: string): Promise<(isGood: boolean) => void> {
  let decide = (_isGood: boolean) => {};
  const decided = new Promise<boolean>((resolve) => (decide = resolve));
  const isIts = ({ pathname }: URL) => pathname === `/trpc/${procedure}`;
  await page.route(isIts, async (route) => ((await decided) ? route.continue() : route.abort()), { times: 1 });
  return decide;
}

async function chooseAction(page: Page, of: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${of}` }).click();
  await page.getByRole('menuitem', { name: action, exact: true }).click();
  await page.getByRole('dialog').locator('button[type=submit]').click();
}

describe.skipIf(!HAS_CHROMIUM)('changes from lists (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('a deleted row is gone at once, is back with the reason after a failure, and comes back by Undo', async () => {
    const admin = await app.signUpAdmin();
    for (const name of ['Green tea', 'Black tea']) await admin.rest('POST', '/products', product(name)).expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    visitor.allow('net::ERR_FAILED');
    await row(page, 'Green tea').waitFor();
    const letGo = await hold(page, 'products.delete');
    await chooseAction(page, 'Green tea', 'Delete');
    await row(page, 'Green tea').waitFor({ state: 'detached' });
    await row(page, 'Black tea').waitFor();
    letGo(false);
    await row(page, 'Green tea').waitFor();
    await page.getByRole('alert').getByText('Not done. The server cannot be reached.').waitFor();
    expect(await offences(page)).toEqual([]);

    await toast(page).getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('dialog').locator('button[type=submit]').click();
    await row(page, 'Green tea').waitFor({ state: 'detached' });
    await toast(page).getByRole('button', { name: 'Undo' }).click();
    await row(page, 'Green tea').waitFor();
    await toast(page).getByText('Undone.').waitFor();
    await expectClean(visitor);
  });

  it('rows that are edited together have their new values at once, and by Undo the former, but for what others changed since', async () => {
    const admin = await app.signUpAdmin();
    const ids = [];
    for (const name of ['White tea', 'Red tea'])
      ids.push((await admin.rest('POST', '/products', product(name)).expect<{ id: string }>(201)).id);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products', options: PHONE });
    const { page } = visitor;
    const edit = async (name: string) => {
      for (const old of ['White tea', 'Red tea']) await page.getByRole('checkbox', { name: `Choose ${old}` }).check();
      await page.getByRole('button', { name: 'Patch', exact: true }).click();
      await page.getByRole('dialog').getByLabel(/^Name/).fill(name);
      await page.getByRole('dialog').locator('button[type=submit]').click();
    };
    await row(page, 'Red tea').waitFor();
    const letGo = await hold(page, 'products.patchMany');
    await edit('Same tea');
    await expect.poll(() => row(page, 'Same tea').count()).toBe(2);
    letGo(true);
    await toast(page).getByText('Done: patch.').waitFor();

    await toast(page).getByRole('button', { name: 'Undo' }).click();
    await row(page, 'White tea').waitFor();
    await row(page, 'Red tea').waitFor();
    await toast(page).getByText('Undone.').waitFor();

    await edit('Other tea');
    const undo = toast(page).getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    await admin.rest('PATCH', `/products/${ids[1]}`, { name: 'Rooibos' }).expect(200);
    await undo.click();
    await toast(page).getByText('Not done. Somebody else has changed 1 record since: it stays as it is.').waitFor();
    await row(page, 'White tea').waitFor();
    await row(page, 'Rooibos').waitFor();
    expect(await admin.rest('GET', `/products/${ids[1]}`).expect(200)).toMatchObject({ name: 'Rooibos' });
    await expectClean(visitor);
  });

  it('an edited record has its former values by Undo, in the version that the edit has left', async () => {
    const admin = await app.signUpAdmin();
    const { id } = await admin.rest('POST', '/products', product('Mint tea')).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/products/${id}` });
    const { page } = visitor;
    visitor.allow('412');
    const edit = async (name: string) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name }).waitFor();
    };
    await page.getByRole('heading', { name: 'Mint tea' }).waitFor();
    const letGo = await hold(page, 'products.patch');
    await edit('Sage tea');
    letGo(true);
    await toast(page).getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { name: 'Mint tea' }).waitFor();
    await toast(page).getByText('Undone.').waitFor();
    await edit('Thyme tea');
    const undo = toast(page).getByRole('button', { name: 'Undo' });
    await undo.waitFor();
    await admin.rest('PATCH', `/products/${id}`, { description: 'Herbs' }).expect(200);
    await undo.click();
    await toast(page)
      .getByText(/^Not done\. Somebody else/)
      .waitFor();
    expect(await admin.rest('GET', `/products/${id}`).expect(200)).toMatchObject({ name: 'Thyme tea', description: 'Herbs' });
    await expectClean(visitor);
  });

  it('an identity that is locked says so at once, and is unlocked by Undo', async () => {
    const admin = await app.signUpAdmin();
    const ann = await app.signUp({ email: 'changes.ann@example.org' });
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/identities' });
    const { page } = visitor;
    const locked = row(page, ann.email).locator('[data-label=Locked]');
    await locked.getByText('no').waitFor();
    const letGo = await hold(page, 'identities.lock');
    await chooseAction(page, ann.email, 'Lock');
    await locked.getByText('yes').waitFor();
    letGo(true);
    await toast(page).getByRole('button', { name: 'Undo' }).click();
    await locked.getByText('no').waitFor();
    await toast(page).getByText('Undone.').waitFor();
    await app.signIn(ann.email);
    await expectClean(visitor);
  });
});
