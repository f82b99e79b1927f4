import { HAS_CHROMIUM, PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, expectClean, launchChromium, offences, visitSignedIn } from './chromium.js';

/** One red pixel. */
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', 'base64'); // prettier-ignore

describe.skipIf(!HAS_CHROMIUM)('records of a kind (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('changes of an organization are decided beside what it has, with their certificates', async () => {
    const [admin, owner] = [await app.signUpAdmin(), await app.signUp()];
    const organization = { name: 'Mill', description: 'Bread', contact_email: 'mill@example.org', branchName: 'Old bridge' };
    const { id } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const at = `/organizations/${id}`;
    const certificate = async () => {
      const issued = await owner
        .rest('GET', `${at}/certificate-upload-url?contentType=image/png&contentLength=${PNG.length}`)
        .expect<{ objectId: string; url: string }>(200);
      await fetch(issued.url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: new Uint8Array(PNG) });
      return { objectId: issued.objectId, type: 'image/png' };
    };
    await owner
      .rest('POST', `${at}/change-requests`, { branchName: 'Bridge', certificateImage: await certificate() })
      .expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `${at}?tab=change-requests`, options: PHONE });
    const { page } = visitor;
    const asked = page.getByRole('region', { name: 'Asked change' });
    await asked.getByRole('row', { name: /Branch name .* Bridge/ }).waitFor();
    expect(await asked.getByRole('row', { name: 'Certificate' }).locator('img').count()).toBe(1);
    expect(await offences(page)).toEqual([]);
    await asked.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(await admin.rest('GET', at).expect(200)).toMatchObject({ branchName: 'Bridge' });

    await owner.rest('POST', `${at}/change-requests`, { name: 'Mill Street', certificateImage: await certificate() }).expect(201);
    await asked.getByRole('row', { name: /Name Mill Mill Street/ }).waitFor();
    expect(await asked.getByRole('row', { name: 'Certificate' }).locator('img').count()).toBe(2);
    await asked.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(await admin.rest('GET', at).expect(200)).toMatchObject({ name: 'Mill' });
    await expectClean(visitor);
  });

  it('stand in a table with as many columns as fit the window, also when its width changes', async () => {
    const admin = await app.signUpAdmin();
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/identities', options: DESKTOP });
    const { page } = visitor;
    await page.getByRole('row', { name: admin.email }).waitFor();
    const columns = () =>
      page.evaluate<number[]>(`['thead th', 'tbody tr:first-child > *'].map((cells) =>
        [...document.querySelectorAll(cells)].filter((one) => !one.matches('.choose, .row-actions')).length)`);
    const [all = 0] = await columns();
    expect(all).toBeGreaterThan(5);
    for (const [width, count] of [
      [390, 2],
      [768, 5],
      [1280, all],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await expect.poll(columns, PATIENCE).toEqual([count, count]);
    }
    await expectClean(visitor);
  });

  it('products are shown as a grid of pictures, which its address keeps', async () => {
    const admin = await app.signUpAdmin();
    const products = Array.from({ length: 120 }, (_, n) => ({ name: `Tea ${n}`, description: 'Leaves', price: { amount: n, currency: 'EUR' } })); // prettier-ignore
    for (const half of [products.slice(0, 60), products.slice(60)]) await admin.rest('POST', '/products/batch', half).expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/products' });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Grid' }).click();
    const cards = page.getByRole('list', { name: 'Products' }).getByRole('listitem');
    await cards.first().waitFor();
    expect(page.url()).toContain('view=grid');
    expect(await offences(page)).toEqual([]);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await expect.poll(() => cards.count()).toBe(120);
    await page.reload();
    await cards.first().getByRole('link').click();
    await page.getByRole('heading', { name: /^Tea \d+$/ }).waitFor();
    await expectClean(visitor);
  });

  it('are counted in words as one or many', async () => {
    const admin = await app.signUpAdmin();
    const product = { name: 'Counted tea', description: 'Leaves', price: { amount: 4, currency: 'EUR' } };
    const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    const order = () => admin.rest('POST', '/orders', { identityId: admin.id, items: [{ productId, quantity: 1 }] }).expect(201);
    await order();
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/' });
    const { page } = visitor;
    await page.getByRole('link', { name: '1 order to confirm' }).waitFor();
    await page.getByRole('link', { name: '0 reports to look at' }).waitFor();
    await order();
    await page.reload();
    await page.getByRole('link', { name: '2 orders to confirm' }).waitFor();
    await expectClean(visitor);
  });

  it.each([
    ['/webhooks', { url: 'https://example.org/hooks', types: ['order.*'] }, 'This cannot be undone.'],
    ['/categories', { name: 'Chosen', description: '' }, /restore it from the trash/],
  ])('of %s are deleted by a question that says whether they can be restored', async (path, record, said) => {
    const admin = await app.signUpAdmin();
    await admin.rest('POST', path, record).expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path });
    const { page } = visitor;
    await page.getByRole('checkbox', { name: /^Choose (Chosen|https)/ }).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Delete 1?' });
    await question.getByText(said).waitFor();
    expect(await question.getByText('trash').count()).toBe(path === '/categories' ? 1 : 0);
    await expectClean(visitor);
  });
});
