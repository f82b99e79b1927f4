import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiDocument } from '../src/reference/document.js';
import { readReference, type Operation } from '../src/reference/reference.js';
import { DESKTOP, PHONE, expectClean, launchChromium, offences, visit, visitSignedIn } from './chromium.js';

/** A window of 1280 pixels at 400 %. */
const MAGNIFIED = { viewport: { width: 320, height: 256 } };
/** Longer than an access token is valid. */
const EXPIRY_MS = 16 * 60_000;

describe.skipIf(!HAS_CHROMIUM)('the API reference (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  let operations: Operation[];
  beforeAll(async () => {
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as ApiDocument;
    operations = readReference(document, app.url).services.flatMap((service) => service.operations);
  });

  async function open(path = '', options = DESKTOP as Parameters<typeof visit>[2]) {
    const visitor = await visit(browser, app, options);
    await visitor.page.goto(`${app.url}/docs${path}`);
    await visitor.page.getByRole('heading', { level: 1 }).waitFor();
    return visitor;
  }

  it('lists every operation below its service, with who may call it', async () => {
    await using visitor = await open();
    const { page } = visitor;
    const rows = page.getByRole('main').getByRole('listitem');
    expect(await rows.count()).toBe(operations.length);
    const orders = page.getByRole('region', { name: 'orders', exact: true });
    const { summary, path, who } = operations.find(({ id }) => id === 'orders.get') as Operation;
    const row = orders.getByRole('link', { name: summary });
    for (const text of ['GET', path, who.join('; ')]) await row.getByText(text, { exact: true }).waitFor();
    await expectClean(visitor);
  });

  it('shows each operation at its own address', async () => {
    await using visitor = await open();
    const { page } = visitor;
    // within the page: loading it for each would take a minute
    const shown = await page.evaluate<string[]>(`(async (ids) => {
      const titles = [];
      for (const id of ids) {
        history.pushState(null, '', '/docs/' + id);
        await new Promise(requestAnimationFrame);
        titles.push(document.querySelector('h1').textContent);
      }
      return titles;
    })(${JSON.stringify(operations.map(({ id }) => id))})`);
    expect(shown).toEqual(operations.map(({ summary }) => summary));
    expect(await page.title()).toBe(`${shown.at(-1)} · Tandem`);
    for (const name of ['products.nothing', '%25', 'a%2Fb']) {
      await page.goto(`${app.url}/docs/${name}`);
      await page.getByRole('heading', { level: 1, name: `There is no operation ${decodeURIComponent(name)}` }).waitFor();
      expect(await page.title()).toBe('API · Tandem');
    }
    await page.getByRole('link', { name: 'All operations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tandem API' }).waitFor();
    await expectClean(visitor);
  });

  it('shows who may call an operation, its parameters, body and answers', async () => {
    await using visitor = await open('/orders.create');
    const { page } = visitor;
    const main = page.getByRole('main');
    const { who } = operations.find(({ id }) => id === 'orders.create') as Operation;
    for (const condition of who) await main.getByRole('definition').getByText(condition).waitFor();
    const body = main.getByRole('region', { name: 'Body' });
    const items = body.getByRole('listitem').filter({ has: page.getByText('items', { exact: true }) });
    await items.getByText(/^items list of \w+ required, 1 to \d+ items$/).waitFor();
    await items.getByText('Properties of items').click();
    await items.getByText(/^quantity integer required, 1 to \d+$/).waitFor();
    const answers = main.getByRole('region', { name: 'Answers' });
    for (const text of ['201', '403', 'Failed to create order']) await answers.getByText(text, { exact: true }).waitFor();
    await expectClean(visitor);
  });

  it('shows the fields that a list may be asked for, and how', async () => {
    await using visitor = await open('/products.list');
    const table = visitor.page.getByRole('table', { name: 'Fields of this list' });
    const cellsOf = (field: string) => table.getByRole('row', { name: field }).getByRole('cell').allInnerTexts();
    expect(await cellsOf('price.amount')).toEqual(['number', 'yes', 'yes', 'yes']);
    expect(await cellsOf('categoryIds')).toEqual(['list of strings', 'yes', '', '']);
    await expectClean(visitor);
  });

  it('finds operations by what they are about, with the keyboard alone', async () => {
    await using visitor = await open();
    const { page } = visitor;
    await page.keyboard.press('/');
    await page.keyboard.type('avatar');
    await page
      .getByRole('status')
      .getByText(/^\d+ operations?$/)
      .waitFor();
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
    const { summary } = operations.find(({ id }) => id === 'profiles.create') as Operation;
    await page.getByRole('heading', { level: 1, name: summary }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs/profiles.create');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Tandem API' }).waitFor();
    // Enter opens the first: what is named so stands above what mentions it
    const search = page.getByRole('searchbox');
    await search.fill('avatar');
    await search.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Get an upload address for an avatar' }).waitFor();
    const chosen = page.getByRole('navigation').locator('[aria-current=page]');
    await search.press('Escape');
    await page
      .getByRole('navigation')
      .getByText(/^notifications \d+$/)
      .waitFor();
    expect(await chosen.allInnerTexts()).toEqual([expect.stringContaining('Get an upload address for an avatar')]);
    await expectClean(visitor);
  });

  it('shows examples in the language that was last chosen', async () => {
    await using visitor = await open('/notifications.unreadCount');
    const { page } = visitor;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const example = page.getByRole('region', { name: 'Example' });
    await example.getByText(`curl '${app.url}/notifications/identities/`).waitFor();
    await example.getByRole('button', { name: 'typed client' }).click();
    await example.getByText('client.api.notifications.unreadCount.query({').waitFor();
    await page.reload();
    await example.getByText('client.api.notifications.unreadCount.query({').waitFor();
    await example.getByRole('button', { name: 'Copy' }).click();
    await example.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await example.locator('pre').innerText());
    await expectClean(visitor);
  });

  it('says why it shows nothing, until it can be loaded', async () => {
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    visitor.allow('503');
    await page.route('**/openapi.json', (route) => route.fulfill({ status: 503 }));
    await page.goto(`${app.url}/docs`);
    await page.getByRole('alert').getByText('The API cannot be shown: the answer to /openapi.json is 503').waitFor();
    await page.unroute('**/openapi.json');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tandem API' }).waitFor();
    await expectClean(visitor);
  });

  it('calls as the person who is signed in to the console in this tab, and asks before it changes anything', async () => {
    const ann = await app.signUp();
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: '/sessions' });
    const { page } = visitor;
    await page.goto(`${app.url}/docs/notifications.unreadCount`);
    const calling = page.getByRole('region', { name: 'Call it' });
    await calling.getByLabel('identityId').fill(ann.id);
    await calling.getByRole('button', { name: 'Send' }).click();
    await calling.getByText('"unread": 0').waitFor();
    await page.goto(`${app.url}/docs/profiles.create`);
    await calling.getByLabel('Body').fill(JSON.stringify({ identityId: ann.id, name: 'Ann of the reference' }));
    const profiles = async () => (await ann.rest('GET', `/profiles/identities/${ann.id}`)).body;
    for (const button of ['Cancel', 'Send POST']) {
      expect(await profiles()).toMatchObject({ data: [] });
      await calling.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('dialog').getByText(`POST ${app.url}/profiles`).waitFor();
      await page.getByRole('button', { name: button }).click();
    }
    await calling.getByText('201 Created').waitFor();
    expect(await profiles()).toMatchObject({ data: [{ name: 'Ann of the reference' }] });
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    await expectClean(visitor);
  });

  it('sends the headers that are filled in, and shows them before it asks', async () => {
    const ann = await app.signUp();
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: '/sessions' });
    const { page } = visitor;
    visitor.allow('401');
    await page.goto(`${app.url}/docs/notifications.unreadCount`);
    const calling = page.getByRole('region', { name: 'Call it' });
    await calling.getByLabel('identityId').fill(ann.id);
    // her session is not bound to a device
    await calling.getByLabel('x-nb-fingerprint').fill('another device');
    await calling.getByRole('button', { name: 'Send' }).click();
    await calling.getByText('Token fails security check').waitFor();
    await calling.getByLabel('x-nb-fingerprint').fill('');
    await calling.getByRole('button', { name: 'Send' }).click();
    await calling.getByText('"unread": 0').waitFor();
    await page.goto(`${app.url}/docs/orders.create`);
    await calling.getByLabel('idempotency-key').fill('once');
    await calling.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('dialog').getByText(`POST ${app.url}/orders\nidempotency-key: once\n\n{`).waitFor();
    expect(await offences(page)).toEqual([]);
    await expectClean(visitor);
  });

  it.each(['bearer', 'cookie'] as const)('renews an access token that has expired before it calls: %s mode', async (mode) => {
    await using server = await startTestServer({ authModes: { default: mode } });
    const ann = await app.signUp();
    await using visitor = await visitSignedIn(browser, server, { person: ann, path: '/sessions' });
    visitor.allow('401');
    const { page } = visitor;
    await page.goto(`${server.url}/docs/notifications.unreadCount`);
    const called: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith(`/notifications/identities/${ann.id}/unread-count`)) called.push(response.status());
    });
    const calling = page.getByRole('region', { name: 'Call it' });
    await calling.getByLabel('identityId').fill(ann.id);
    for (const times of [1, 2]) {
      server.clock.advance(EXPIRY_MS);
      await calling.getByRole('button', { name: 'Send' }).click();
      await expect.poll(() => called.length).toBe(times);
      await calling.getByText('200 OK').waitFor();
    }
    expect(called).toEqual([200, 200]);
    await expectClean(visitor);
  });

  it.each([
    ['a desktop, light', { ...DESKTOP, colorScheme: 'light' }],
    ['a desktop, dark', { ...DESKTOP, colorScheme: 'dark' }],
    ['a phone', { ...PHONE, colorScheme: 'light' }],
    ['a window at 400 %', MAGNIFIED],
  ] as const)('is accessible, and fits, on %s', async (_, options) => {
    await using visitor = await open('', options);
    const { page } = visitor;
    expect(await offences(page)).toEqual([]);
    await expectClean(visitor);
    for (const id of ['products.list', 'orders.create']) {
      await page.goto(`${app.url}/docs/${id}`);
      await page.getByRole('region', { name: 'Answers' }).waitFor();
      for (const fold of await page.locator('main summary').all()) await fold.click();
      expect(await offences(page), id).toEqual([]);
      await expectClean(visitor);
    }
    if (options === DESKTOP) return;
    await page.keyboard.press('/');
    await page.keyboard.type('channel');
    await page.getByRole('status').getByText('operations').waitFor();
    expect(await offences(page), 'searching').toEqual([]);
    await expectClean(visitor);
  });

  it('leaves the console in the language that was chosen there', async () => {
    const ann = await app.signUp();
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: '/account' });
    const { page } = visitor;
    await page.getByLabel('Language', { exact: true }).selectOption('日本語');
    await page.getByRole('button', { name: 'サインアウト', exact: true }).waitFor();
    await page.goto(`${app.url}/docs/orders.get`);
    await page.getByRole('button', { name: 'fetch', exact: true }).click();
    await page.reload();
    await page.getByRole('button', { name: 'fetch', exact: true, pressed: true }).waitFor();
    await visitor.open('/account');
    await page.getByRole('button', { name: 'サインアウト', exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('ja');
    await expectClean(visitor);
  });
});
