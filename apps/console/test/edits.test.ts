import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { channelOfAnnAndBob } from './chat-people.js';
import { expectClean, launchChromium, turnTo, visitSignedIn } from './chromium.js';

const product = (name: string) => ({ name, description: 'Leaves', price: { amount: 4, currency: 'EUR', taxIncluded: true } });
const dialogOf = (page: Page) => page.getByRole('dialog');
const submitOf = (page: Page) => dialogOf(page).locator('button[type=submit]');
const toast = (page: Page) => page.locator('.toast');
const picture = (name: string) => ({ name, mimeType: 'image/svg+xml', buffer: Buffer.from(`<svg id="${name}"/>`) });

describe.skipIf(!HAS_CHROMIUM)('an edit (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  const admin = fixture(() => app.signUpAdmin());
  const visit = (path: string) => visitSignedIn(browser, app, { person: admin, path });

  it('removes the part of a price that was emptied', async () => {
    const { id } = await admin.rest('POST', '/products', product('Sage')).expect<{ id: string }>(201);
    await using visitor = await visit(`/products/${id}`);
    const { page } = visitor;
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialogOf(page)
      .getByLabel(/^Tax included/)
      .selectOption('');
    await submitOf(page).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    await toast(page).getByText('Done: save.').waitFor();
    const { price } = await admin.rest('GET', `/products/${id}`).expect<{ price: object }>(200);
    expect(price).toMatchObject({ amount: 4, currency: 'EUR', taxIncluded: null });
    await expectClean(visitor);
  });

  it.each([
    ['of a record', (id: string) => `/organizations/${id}`, 'More actions'],
    ['of a row', () => '/organizations', 'Actions for Tea row'],
    ['of a row of a tree', () => '/organizations?view=tree', 'Actions for Tea tree'],
  ])('overwrites nothing unseen, where it is made by “Edit everything” %s', async (_, path, menu) => {
    const name = menu.replace('Actions for ', '');
    const organization = { name, description: 'Of all sorts', contact_email: admin.email };
    const { id } = await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    await using visitor = await visit(path(id));
    const { page } = visitor;
    visitor.allow('412');
    await page.getByRole('button', { name: menu }).click();
    await page.getByRole('menuitem', { name: 'Edit everything', exact: true }).click();
    await dialogOf(page).getByLabel('Description').fill('Mine');
    await admin.rest('PATCH', `/organizations/${id}`, { description: 'Theirs' }).expect(200);
    await submitOf(page).click();
    await dialogOf(page).getByText('Theirs').waitFor();
    await page.getByRole('button', { name: 'Save mine' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    expect(await admin.rest('GET', `/organizations/${id}`).expect(200)).toMatchObject({ description: 'Mine' });
    await expectClean(visitor);
  });

  it('shows and changes the row that was chosen last, whichever is read first', async () => {
    const make = async (name: string) => {
      const organization = { name, description: `Of ${name}`, contact_email: admin.email };
      return (await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
    };
    const [first, second] = [await make('First house'), await make('Second house')];
    await using visitor = await visit('/organizations');
    const { page } = visitor;
    const choose = async (name: string, id: string) => {
      let letGo = () => {};
      const isFree = new Promise<void>((resolve) => (letGo = resolve));
      const isRead = ({ pathname, search }: URL) => pathname.endsWith('/organizations.get') && search.includes(id);
      await page.route(isRead, (route) => isFree.then(() => route.continue()));
      const asked = page.waitForRequest((request) => isRead(new URL(request.url())));
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: 'Edit everything', exact: true }).click();
      const request = await asked;
      return async () => {
        letGo();
        await (await request.response())?.finished();
      };
    };
    const [readFirst, readSecond] = [await choose('First house', first), await choose('Second house', second)];
    await readFirst();
    await readSecond();
    await dialogOf(page).getByText('Edit everything: Second house').waitFor();
    expect(await dialogOf(page).getByLabel(/^Name/).inputValue()).toBe('Second house');
    await dialogOf(page).getByLabel('Description').fill('Mine');
    await submitOf(page).click();
    await toast(page).getByRole('button', { name: 'Undo' }).waitFor();
    const now = await admin.rest('GET', `/organizations/${second}`).expect(200);
    expect(now).toMatchObject({ name: 'Second house', description: 'Mine' });
    await expectClean(visitor);
  });

  it('of a picture is sent again with the picture, and offers no Undo, since of the former one only an address is known', async () => {
    const ann = await app.signUp();
    const { id } = await admin.rest('POST', '/profiles', { identityId: ann.id, name: 'Ann' }).expect<{ id: string }>(201);
    const avatarOf = async () => {
      const { avatar } = await admin.rest('GET', `/profiles/${id}`).expect<{ avatar: { id: string } | null }>(200);
      return avatar?.id;
    };
    await using visitor = await visit(`/profiles/${id}`);
    const { page } = visitor;
    visitor.allow('Failed to load resource');
    const edit = async (name: string) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      await dialogOf(page)
        .getByLabel(/^Avatar/)
        .setInputFiles(picture(name));
      await dialogOf(page).getByText('Uploaded.').waitFor();
      await submitOf(page).click();
    };
    await edit('first.svg');
    // read again: until then the page knows of no former picture
    await page.locator('main img.picture').waitFor({ state: 'attached' });
    const first = await avatarOf();
    expect(first).toBeDefined();
    await page.route('**/trpc/profiles.patch', (route) => route.abort(), { times: 1 });
    await edit('second.svg');
    await toast(page).getByRole('button', { name: 'Try again' }).click();
    await dialogOf(page).getByText('Uploaded.').waitFor();
    await submitOf(page).click();
    await toast(page).getByText('Done: save.').waitFor();
    expect(await avatarOf()).not.toBe(first);
    expect(await toast(page).getByRole('button', { name: 'Undo' }).count()).toBe(0);
    await expectClean(visitor);
  });

  it('that was refused stays to be tried again, whatever is done next', async () => {
    const { id } = await admin.rest('POST', '/products', product('Basil')).expect<{ id: string }>(201);
    await using visitor = await visit(`/products/${id}`);
    const { page } = visitor;
    visitor.allow('Failed to load resource');
    const edit = async (field: RegExp, value: string) => {
      await page.getByRole('button', { name: 'Edit' }).click();
      await dialogOf(page).getByLabel(field).fill(value);
      await submitOf(page).click();
    };
    await page.route('**/trpc/products.patch', (route) => route.abort(), { times: 1 });
    await edit(/^Name/, 'Thai basil');
    await toast(page).getByRole('button', { name: 'Try again' }).waitFor();
    await edit(/^Description/, 'Fresh leaves');
    await toast(page).getByText('Done: save.').waitFor();
    await toast(page).getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => dialogOf(page).getByLabel(/^Name/).inputValue()).toBe('Thai basil');
    await submitOf(page).click();
    const read = () => admin.rest('GET', `/products/${id}`).expect<object>(200);
    await expect.poll(read).toMatchObject({ name: 'Thai basil', description: 'Fresh leaves' });
    await expectClean(visitor);
  });

  it('of a profile is seen wherever the person is named', async () => {
    const { ann, channelId, say } = await channelOfAnnAndBob(app, 'Landing');
    await say(ann, 'Good morning');
    await admin.rest('POST', '/subscriptions', { channelId, subscribedId: admin.id }).expect(201);
    const { data } = await admin.rest('GET', `/profiles?identityId=${ann.id}`).expect<{ data: [{ id: string }] }>(200);
    await using visitor = await visit(`/chat/${channelId}`);
    const { page } = visitor;
    await page.getByRole('log').getByText('Ann Archer').waitFor();
    await turnTo(page, `/profiles/${data[0].id}`);
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialogOf(page).getByLabel(/^Name/).fill('Ann Baxter');
    await submitOf(page).click();
    await toast(page).getByText('Done: save.').waitFor();
    await turnTo(page, `/chat/${channelId}`);
    await page.getByRole('log').getByText('Ann Baxter').waitFor();
    await expectClean(visitor);
  });

  it('of more rows than are possible at once says so', async () => {
    const products = (from: number) => Array.from({ length: 60 }, (_, n) => product(`Tea ${from + n}`));
    for (const from of [0, 60]) await admin.rest('POST', '/products/batch', products(from)).expect(201);
    await using visitor = await visit('/products');
    const { page } = visitor;
    await page.getByRole('checkbox', { name: 'Choose Tea 119' }).waitFor();
    await expect
      .poll(async () => {
        await page.locator('tbody tr').last().scrollIntoViewIfNeeded();
        await page.getByLabel('Choose all shown').check();
        return page.getByText(/^1[12]\d chosen$/).count();
      })
      .toBe(1);
    await page.getByRole('button', { name: 'Patch', exact: true }).click();
    await dialogOf(page).getByLabel(/^Name/).fill('Same tea');
    await submitOf(page).click();
    await dialogOf(page).getByText('At most 100 are possible').waitFor();
    await expectClean(visitor);
  });
});
