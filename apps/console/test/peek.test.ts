import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, expectClean, focusedText, launchChromium, offences, tabTo, visitSignedIn } from './chromium.js';

describe.skipIf(!HAS_CHROMIUM)('a record beside its list (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it.each([
    ['a desktop', 'Wide', DESKTOP],
    ['a phone', 'Small', PHONE],
  ])('is opened by the keyboard, has an address, and gives the focus back at Escape, on %s', async (_, size, options) => {
    const admin = await app.signUpAdmin();
    const [one, two] = [`${size} tea`, `${size} coffee`];
    const made = await Promise.all(
      [one, two].map((name) =>
        admin.rest('POST', '/products', { name, description: `Leaves of the ${name}` }).expect<{ id: string }>(201),
      ),
    );
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products', options });
    const { page } = visitor;
    const beside = (name: string) => page.getByRole('complementary', { name });
    await tabTo(page, `Look at ${one}`);
    await page.keyboard.press('Enter');
    await beside(one).getByText(`Leaves of the ${one}`).waitFor();
    expect(await focusedText(page)).toBe(one);
    expect(new URL(page.url()).searchParams.get('peek')).toBe(made[0]?.id);
    expect(await offences(page)).toEqual([]);
    await expectClean(visitor);

    await page.reload();
    await beside(one).getByText(`Leaves of the ${one}`).waitFor();
    await page.keyboard.press('Escape');
    await beside(one).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: `Look at ${two}` }).press('Enter');
    await beside(two).getByText(`Leaves of the ${two}`).waitFor();
    await page.keyboard.press('Escape');
    await beside(two).waitFor({ state: 'detached' });
    expect(await focusedText(page)).toBe(`Look at ${two}`);
    expect(new URL(page.url()).searchParams.has('peek')).toBe(false);
    await expectClean(visitor);
  });

  it('is changed there, which its list shows at once, and closes when it is deleted', async () => {
    const admin = await app.signUpAdmin();
    const buyer = await app.signUp();
    const product = { name: 'Sold tea', description: 'Leaves', price: { amount: 4, currency: 'EUR' } };
    const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    const order = { identityId: buyer.id, items: [{ productId, quantity: 2 }] };
    const { id } = await admin.rest('POST', '/orders', order).expect<{ id: string }>(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/orders?peek=${id}` });
    const { page } = visitor;
    let letGo = () => {};
    const isFree = new Promise<void>((resolve) => (letGo = resolve));
    await page.route(/orders\.patch/, async (route) => isFree.then(() => route.continue()), { times: 1 });
    const row = page.getByRole('table', { name: 'Orders' }).getByRole('row', { name: new RegExp(id.slice(-6)) });
    await row.getByText('Pending').waitFor();
    const beside = page.getByRole('complementary', { name: `Order ${id.slice(-6)}` });
    await beside.getByRole('button', { name: 'Mark confirmed' }).click();
    await row.getByText('Confirmed').waitFor();
    expect(await admin.rest('GET', `/orders/${id}`).expect(200)).toMatchObject({ status: 'pending' });
    letGo();
    await page.getByText('Done: the order is confirmed.').waitFor();
    await beside.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog').locator('button[type=submit]').click();
    await beside.waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.getByText('Confirmed').waitFor();
    await expectClean(visitor);
  });
});
