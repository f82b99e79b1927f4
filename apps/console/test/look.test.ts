import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HAS_CHROMIUM, PASSWORD, TEST_SECRETS, fixture, startTestServer, type TestServer } from '@tandem/testing';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, expectClean, goTo, launchChromium, offences, visit, type ConsolePage } from './chromium.js';

/** The folder of `npm run screenshots`; without it no pictures are taken. */
const PICTURES = process.env['SCREENSHOTS'];
const MAIN = fileURLToPath(new URL('../../server/bin/tandem.cjs', import.meta.url));

/** The views, with whose page shows most of each in the demonstration data, and what is there once it is loaded. */
const VIEWS: readonly (readonly [view: string, person: string, ready: (page: Page) => Locator])[] = [
  ['Home', 'admin', (page) => page.getByRole('region', { name: 'Orders over time' }).locator('svg')],
  ['Notifications', 'ada', entries],
  ['Chat', 'martha', (page) => page.locator('.channel').first()],
  ['Orders', 'admin', records],
  ['Products', 'admin', records],
  ['Catalogue', 'admin', records],
  ['Categories', 'admin', records],
  ['Organizations', 'admin', records],
  ['Identities', 'admin', records],
  ['Profiles', 'ada', (page) => page.getByRole('heading', { name: 'Profiles' })],
  ['Events', 'admin', entries],
  ['Security events', 'admin', records],
  ['Trash', 'admin', (page) => page.getByRole('heading', { name: 'Trash' })],
  ['Operations', 'admin', entries],
  ['Account', 'ada', (page) => page.getByRole('navigation', { name: 'Parts' })],
  ['Sessions', 'ada', entries],
  ['Security', 'ada', (page) => page.getByText('You have none yet')],
];
function entries(page: Page): Locator {
  return page.getByRole('main').getByRole('listitem').nth(1);
}
function records(page: Page): Locator {
  return page.getByRole('main').getByRole('table').first();
}
/** Views of which a record is looked at too. */
const RECORDS = ['Orders', 'Products', 'Organizations', 'Identities'];
const oneRecordOf = (view: string) => view.toLowerCase().replace(/ies$/, 'y').replace(/s$/, '');
/** A file's name for the picture of a view. */
const pictureOf = (view: string) => view.toLowerCase().replaceAll(' ', '-');

const SCREENS = { desktop: DESKTOP, phone: PHONE };
/** Windows of other widths, in CSS pixels: the same page is made narrower or wider. */
const WIDTHS = { desktop: [768, 1600], phone: [360] } as const;
type Screen = keyof typeof SCREENS;
const DEVICES = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
];

describe.skipIf(!HAS_CHROMIUM)('the look of the console (skipped where there is no chromium)', () => {
  const browser = fixture(launchChromium);
  let app: TestServer;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-look-'));
    app = await startTestServer({ dataDir });
    const env = { ...process.env, NODE_ENV: 'production', DATA_DIR: dataDir, MONGODB_URI: app.mongodbUri, BCRYPT_COST: '10' };
    const secrets = { AUTH_ENC_SECRET: TEST_SECRETS.authEncSecret, AUTH_SIGN_SECRET: TEST_SECRETS.authSignSecret };
    const seeding = spawn(process.execPath, [MAIN, 'seed', '--password', PASSWORD], { env: { ...env, ...secrets } });
    const [code] = (await once(seeding, 'exit')) as [number | null];
    if (code !== 0) throw new Error('there is no world to look at');
    for (const userAgent of DEVICES)
      await fetch(`${app.url}/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': userAgent },
        body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
      });
    if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  });
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function picture(page: Page, name: string): Promise<void> {
    if (PICTURES !== undefined) await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
  }

  /** Checks that what can be done with a row is in the window, also where a table is wider than it. */
  async function expectActionsInReach(page: Page, name: string): Promise<void> {
    const beyond = await page.evaluate<number[]>(`[...document.querySelectorAll('td.row-actions > :last-child')]
      .map((one) => [one.getBoundingClientRect(), one.closest('.table-box').getBoundingClientRect()])
      .map(([one, box]) => Math.max(0, box.left - one.left, one.right - box.right))
      .filter((pixels) => pixels > 0)`);
    expect(beyond, `pixels of row actions beyond the table's edge: ${name}`).toEqual([]);
  }

  /** Looks at a page in windows of each width; what stands in it is told by its own width once. */
  async function look(visitor: ConsolePage, name: string, screen: Screen, colorScheme: string): Promise<void> {
    const { page } = visitor;
    expect(await offences(page), name).toEqual([]);
    await expectClean(visitor);
    await expectActionsInReach(page, `${name}, ${screen}`);
    await picture(page, `${name}-${screen}-${colorScheme}`);
    const { viewport } = SCREENS[screen];
    for (const width of WIDTHS[screen]) {
      await page.setViewportSize({ ...viewport, width });
      await expectClean(visitor);
      await expectActionsInReach(page, `${name}, ${width}`);
      await picture(page, `${name}-${width}-${colorScheme}`);
    }
    await page.setViewportSize(viewport);
  }

  /** Opens the first record of a table. */
  async function lookAtRecord(visitor: ConsolePage, name: string, screen: Screen, colorScheme: string): Promise<void> {
    const { page } = visitor;
    await page.locator('.row-link').first().click();
    await page.getByRole('article').getByText('Created').waitFor();
    await page.waitForLoadState('networkidle');
    await look(visitor, name, screen, colorScheme);
    await page.goBack();
  }

  /** Opens what lies beside and above the conversation. */
  async function lookAround(page: Page, screen: string, colorScheme: string): Promise<void> {
    const message = page.getByRole('log').locator('.message').last();
    await message.hover();
    await message.getByRole('button', { name: 'Add a reaction' }).last().click();
    expect(await offences(page), 'reactions').toEqual([]);
    await page.keyboard.press('Escape');
    await message.getByRole('button', { name: 'More actions' }).click();
    expect(await offences(page), 'actions').toEqual([]);
    await page.getByRole('menuitem', { name: 'Open thread' }).click();
    await page.getByText('No replies yet').waitFor();
    expect(await offences(page), 'a thread').toEqual([]);
    await picture(page, `thread-${screen}-${colorScheme}`);
    await page.getByRole('button', { name: 'Members' }).click();
    await page
      .getByRole('button', { name: /^Actions for/ })
      .first()
      .waitFor();
    expect(await offences(page), 'members').toEqual([]);
    await picture(page, `members-${screen}-${colorScheme}`);
    await page.getByRole('button', { name: 'Close' }).click();
  }

  /** Searches for the first word of a message, and goes to the last message found. */
  async function lookAtSearch(page: Page, screen: string, colorScheme: string): Promise<void> {
    if (screen === 'phone') await page.getByRole('link', { name: 'All channels' }).click();
    await page.getByLabel('Search messages').fill('the');
    await page.getByRole('list', { name: 'Found messages' }).getByRole('listitem').first().waitFor();
    expect(await offences(page), 'search of messages').toEqual([]);
    await picture(page, `search-${screen}-${colorScheme}`);
    await page.getByRole('list', { name: 'Found messages' }).getByRole('link').last().click();
    await page.locator('[role=log] :focus').waitFor();
    expect(await offences(page), 'a found message').toEqual([]);
    await picture(page, `found-${screen}-${colorScheme}`);
  }

  describe.each(['desktop', 'phone'] as const)('on a %s', (screen) => {
    // twenty views in windows of several widths
    it.each(['light', 'dark'] as const)('is accessible, and fits, in %s', { timeout: 400_000 }, async (colorScheme) => {
      for (const person of new Set(VIEWS.map(([, whose]) => whose))) {
        await using visitor = await visit(browser, app, { ...SCREENS[screen], colorScheme });
        const { page } = visitor;
        await visitor.open('/');
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        expect(await offences(page)).toEqual([]);
        await picture(page, `sign-in-${screen}-${colorScheme}`);
        await visitor.signIn(`${person}@example.org`);
        for (const [view, , ready] of VIEWS.filter(([, whose]) => whose === person)) {
          await goTo(page, new RegExp(`^${view}( \\d+ unread)?$`));
          await page.getByRole('heading', { level: 1, name: view, exact: true }).or(page.getByRole('article')).first().waitFor();
          await ready(page).waitFor();
          if (view === 'Chat') {
            await page.locator('.channel').first().click();
            await page.getByRole('log').getByRole('listitem').nth(3).waitFor();
          }
          await page.waitForLoadState('networkidle');
          await look(visitor, pictureOf(view), screen, colorScheme);
          if (view === 'Chat') await lookAround(page, screen, colorScheme);
          if (view === 'Chat') await lookAtSearch(page, screen, colorScheme);
          if (RECORDS.includes(view)) await lookAtRecord(visitor, oneRecordOf(view), screen, colorScheme);
        }
      }
      await using reader = await visit(browser, app, { ...SCREENS[screen], colorScheme });
      await reader.page.goto(`${app.url}/docs/products.list`);
      await reader.page.getByRole('heading', { name: 'List products, newest first' }).waitFor();
      await picture(reader.page, `reference-${screen}-${colorScheme}`);
    });
  });

  it('switches between dark and light by its button, and keeps the choice', async () => {
    await using visitor = await visit(browser, app, { ...DESKTOP, colorScheme: 'light' });
    const { page } = visitor;
    const ground = () => page.evaluate<string>('getComputedStyle(document.body.parentElement).backgroundColor');
    await visitor.open('/');
    const light = await ground();
    await page.getByRole('button', { name: 'Theme: system' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    const dark = await ground();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
    expect(await ground()).toBe(dark);
    await expectClean(visitor);
  });
});
