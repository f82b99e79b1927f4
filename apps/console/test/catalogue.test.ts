import { HAS_CHROMIUM, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { PHONE, alterAnswers, expectClean, launchChromium, offences, visit, visitSignedIn } from './chromium.js';

describe.skipIf(!HAS_CHROMIUM)('the catalogue explorer (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  let admin: Person;
  beforeAll(async () => {
    admin = await app.signUpAdmin();
    const create = async (path: string, body: object) => (await admin.rest('POST', path, body).expect<{ id: string }>(201)).id;
    const organization = { name: 'Corner shop', description: 'Of all sorts', contact_email: admin.email };
    const organizationId = await create('/organizations', { organization });
    const [bread, tools] = [
      await create('/categories', { name: 'Bread', description: '' }),
      await create('/categories', { name: 'Tools', description: '' }),
    ];
    const products = [
      ['Rye loaf', 4.5, 'EUR', bread],
      ['Roll', 0.5, 'EUR', bread],
      ['Rasp', 12, 'EUR', tools],
      ['Hammer', 30, 'USD', tools],
      ['Saw', 20, 'USD', tools],
    ] as const;
    for (const [name, amount, currency, categoryId] of products)
      await create('/products', {
        name,
        description: `About ${name}`,
        price: { amount, currency },
        organizationId,
        categoryIds: [categoryId],
      });
  });

  /** A page at the catalogue, its charts, and its requests to the server since the last look. */
  async function explore(options?: Parameters<typeof visit>[2], query = '') {
    const visitor = await visit(browser, app, options);
    const { page } = visitor;
    let asked: string[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.startsWith('/trpc/') && pathname.includes('products.list')) asked.push(searchParams.get('input') ?? '');
    });
    await visitor.open(`/catalogue${query}`);
    await visitor.signIn(admin.email);
    await page.getByRole('table').first().waitFor();
    return {
      visitor,
      page,
      /** A chart's rows as text, once it is shown. */
      async chart(caption: string): Promise<string[]> {
        const rows = page.getByRole('table', { name: caption, exact: true }).locator('tbody tr');
        await rows.first().waitFor();
        return (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
      },
      /** The texts of the queries. */
      asked(): string {
        const texts = asked.join(' ');
        asked = [];
        return texts;
      },
      [Symbol.asyncDispose]: visitor.close,
    };
  }

  it('groups by the chosen keys: each choice is a list query with its chart', async () => {
    await using explorer = await explore();
    const { visitor, page, chart, asked } = explorer;
    expect(await chart('Products by category')).toEqual(['Tools 3', 'Bread 2']);
    asked();
    await page.getByLabel('By').selectOption('Shop');
    expect(await chart('Products by shop')).toEqual(['Corner shop 5']);
    expect(asked()).toContain('groupby((organizationId, price.currency), aggregate(');

    await page.getByLabel('Show').selectOption('Average price');
    await page.getByLabel('By').selectOption('Category');
    expect(await chart('Average price by category, EUR')).toEqual(['Tools €12.00', 'Bread €2.50']);
    expect(await chart('Average price by category, USD')).toEqual(['Tools US$25.00']);
    await expectClean(visitor);
  });

  it('filters the products and the chart alike, and keeps the filters in the address', async () => {
    await using explorer = await explore(PHONE);
    const { visitor, page, chart, asked } = explorer;
    await page.getByText('5 products').waitFor();
    await page.getByLabel('Currency').selectOption('EUR');
    await page.getByText('3 products').waitFor();
    await page.getByLabel('Price from').fill('4');
    await page.getByText('2 products').waitFor();
    expect(asked()).toContain("price.currency eq 'EUR' and price.amount ge 4");
    expect(await chart('Products by category')).toEqual(['Bread 1', 'Tools 1']);
    await page.getByLabel('Search').fill('ry');
    await page.getByText('1 product', { exact: true }).waitFor();
    await page.getByRole('list').getByText('€4.50').waitFor();
    expect(await page.getByLabel('In order of').inputValue()).toBe('best');

    expect(new URL(page.url()).search).toBe('?currency=EUR&min=4&words=ry');
    await page.reload();
    await page.getByText('1 product', { exact: true }).waitFor();
    expect(await page.getByLabel('Currency').inputValue()).toBe('EUR');
    await page.getByLabel('Search').fill('nothing like it');
    await page.getByText('No such products').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('5 products').waitFor();
    await expectClean(visitor);
  });

  it('shows its filters in full rows at any window width', async () => {
    await using explorer = await explore();
    const { visitor, page } = explorer;
    const found: number[][] = [];
    for (const width of [360, 600, 800, 1240, 1250, 1600]) {
      await page.setViewportSize({ width, height: 800 });
      const fields = await page.locator('search .field').all();
      const tops = await Promise.all(fields.map(async (one) => (await one.boundingBox())?.y));
      found.push([...new Set(tops)].map((top) => tops.filter((one) => one === top).length));
      await expectClean(visitor);
    }
    expect(found).toEqual([[2, 2, 2], [3, 3], [3, 3], [3, 3], [6], [6]]);
  });

  it('shows the query, whose URL returns the same', async () => {
    await using explorer = await explore(undefined, '?group=currency&max=20');
    const { visitor, page } = explorer;
    await page.getByText('The query', { exact: true }).click();
    const shown = page.locator('details pre');
    expect(await shown.innerText()).toContain('GET /products?$filter=price.amount le 20');
    const address = await page.getByRole('link', { name: 'Open its answer' }).getAttribute('href');
    const { value } = (await (await fetch(`${app.url}${address}`)).json()) as { value: { count: number }[] };
    expect(new Set(value.map(({ count }) => count))).toEqual(new Set([1, 3]));
    await page.getByLabel('Search').fill('ry');
    await shown.getByText('$search=ry').waitFor();
    await expectClean(visitor);
  });

  it('keeps what it shows while the server is away, and comes back with it', async () => {
    await using before = await startTestServer();
    await using visitor = await visitSignedIn(browser, before, { person: admin, path: '/catalogue' });
    const { page } = visitor;
    visitor.allow('ERR_CONNECTION_REFUSED');
    visitor.allow('WebSocket');
    // a stream may ask again while the server is starting
    visitor.allow('503 (Service Unavailable)');
    const names = () => page.locator('.cards .row-title').allInnerTexts();
    await page.getByText('5 products').waitFor();
    await page.getByRole('table').waitFor();
    await before.close();
    await page.getByLabel('Currency').selectOption('USD');
    await page.getByRole('alert').getByText('The server cannot be reached.').waitFor();
    expect(await names()).toHaveLength(5);
    expect(await page.getByRole('table').isVisible()).toBe(true);
    await using back = await startTestServer({ port: Number(new URL(before.url).port) });
    await page.getByText('2 products').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(await names()).toEqual(expect.arrayContaining(['Hammer', 'Saw']));
    expect(back.url).toBe(before.url);
    await expectClean(visitor);
  });

  it('shows the products though their chart cannot be shown', async () => {
    await using explorer = await explore(undefined, '?group=currency');
    const { visitor, page, chart } = explorer;
    visitor.allow('RangeError');
    const restore = await alterAnswers(page, 'products.list', (text) =>
      text.replaceAll('"price":{"currency":"EUR"}', '"price":{"currency":"coins"}'),
    );
    await page.getByLabel('Show').selectOption('Average price');
    await page.getByLabel('Price from').fill('1');
    await page.getByRole('alert').getByText('This cannot be shown').waitFor();
    await page.getByText('4 products').waitFor();
    expect(await offences(page)).toEqual([]);
    await restore();
    await page.getByLabel('Price from').fill('2');
    expect(await chart('Average price by currency, EUR')).toEqual(['EUR €8.25']);
    await expectClean(visitor);
  });
});
