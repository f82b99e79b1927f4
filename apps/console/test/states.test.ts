import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, type ConsolePage, expectClean, launchChromium, offences, signedIn, visitSignedIn } from './chromium.js';

/** How long a state may take, in milliseconds. */
const options = { timeout: 15_000 };
/** The folder of `npm run screenshots`; without it no pictures are taken. */
const PICTURES = process.env['SCREENSHOTS'];

const LIST = /(Make the first .*|They appear here)\.$/;
/** Every view that loads something, by its path; with what it says where there is nothing, unless there always is something. */
const VIEWS: readonly (readonly [path: string, empty?: RegExp])[] = [
  ['/', /No orders yet/],
  ['/notifications', /New notifications appear here/],
  ['/chat', /Create one, or ask to be added/],
  ['/orders', LIST],
  ['/products', LIST],
  ['/products?view=grid', LIST],
  ['/catalogue', /The catalogue is empty: tandem seed fills it/],
  ['/categories', LIST],
  ['/attributes', LIST],
  ['/organizations', LIST],
  ['/organizations?view=tree', LIST],
  ['/invitations', LIST],
  ['/message-templates', LIST],
  ['/locations?view=tree', LIST],
  ['/profiles', LIST],
  ['/channels', LIST],
  ['/reports', LIST],
  ['/webhooks', LIST],
  ['/trash', /Deleted records appear here/],
  ['/security', /Your password alone signs you in/],
  ['/orders?group=status'],
  ['/identities'],
  ['/events'],
  ['/audit'],
  ['/account'],
  ['/account?tab=keys', /Begin with “New API key”/],
  ['/sessions'],
];
const [first, second] = [VIEWS.filter((_, at) => at % 2 === 0), VIEWS.filter((_, at) => at % 2 === 1)];

/** Answers each call of a request with an error. */
const fails = (httpStatus: number, message: string) => (route: Route) => {
  const { pathname, searchParams } = new URL(route.request().url());
  const error = { error: { message, code: -32603, data: { code: 'FORBIDDEN', httpStatus } } };
  const body = searchParams.has('batch') ? pathname.split(',').map(() => error) : error;
  return route.fulfill({ status: httpStatus, contentType: 'application/json', body: JSON.stringify(body) });
};
const [away, refused] = [fails(503, 'Away for a while'), fails(403, 'Not for you')];

describe.skipIf(!HAS_CHROMIUM)('the states of views (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  async function picture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined) return;
    await mkdir(PICTURES, { recursive: true });
    await page.screenshot({ path: path.join(PICTURES, `${name.replaceAll(/\W+/g, '-')}.png`) });
  }

  /** Takes a view through its states. */
  async function pass(
    visitor: ConsolePage,
    at: string,
    empty: RegExp | undefined,
    looks: (state: string) => Promise<void>,
  ): Promise<void> {
    const { page } = visitor;
    const main = page.getByRole('main');
    const alert = main.getByRole('alert').first();
    const loading = main.getByText(/Loading .*…/).first();
    // the frame has the person by then; channels and notifications are its own
    const isOfFrame = at === '/chat' || at === '/notifications';
    const kept = isOfFrame ? /identities\.get|Ticket|refresh|logout/i : /Ticket|refresh|logout/i;
    await page.goto(`${app.url}/console/nowhere`);
    await signedIn(page);
    let answer = (_route: Route): Promise<void> => Promise.resolve();
    let letGo = () => {};
    const isFree = new Promise<void>((resolve) => (letGo = resolve));
    await page.route(
      ({ pathname }) => pathname === '/openapi.json' || (pathname.startsWith('/trpc/') && !kept.test(pathname)),
      async (route) => {
        await isFree;
        return answer(route);
      },
    );
    if (isOfFrame) await page.goto(`${app.url}/console${at}`);
    else await page.evaluate(`history.pushState({}, '', '/console${at}'); dispatchEvent(new PopStateEvent('popstate'))`);
    await loading.waitFor(options);
    await looks('loading');
    answer = refused;
    letGo();
    const again = alert.getByRole('button', { name: 'Try again' });
    await again.waitFor(options);
    await alert.filter({ hasText: 'Not for you' }).waitFor(options);
    await looks('refused');
    answer = away;
    // all that were refused, before any of them is gone
    await page.evaluate('for (const button of document.querySelectorAll("main [role=alert] button")) button.click()');
    await alert.filter({ hasText: 'Away for a while' }).waitFor(options);
    await looks('failing');
    answer = (route) => route.continue();
    await alert.waitFor({ state: 'detached', ...options });
    await loading.waitFor({ state: 'detached', ...options });
    if (empty) await main.getByText(empty).first().waitFor(options);
    await looks('again');
  }

  it.each([
    ['a desktop', DESKTOP, 'light', first],
    ['a phone', PHONE, 'dark', second],
  ] as const)(
    'are loading, refused, failing, there again after an outage, and empty, on %s',
    async (screen, size, colorScheme, views) => {
      const admin = await app.signUpAdmin();
      await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/nowhere', options: { ...size, colorScheme } }); // prettier-ignore
      for (const text of ['503', '403']) visitor.allow(text);
      const failed: string[] = [];
      for (const [at, empty] of views) {
        let reached = 'nothing';
        const looks = async (state: string) => {
          reached = state;
          expect(await offences(visitor.page), `${at} ${state}`).toEqual([]);
          await expectClean(visitor);
          await picture(visitor.page, `${screen} ${at} ${state}`);
        };
        await pass(visitor, at, empty, looks).catch((error: unknown) => failed.push(`${at} after ${reached}: ${String(error)}`));
        await visitor.page.unrouteAll({ behavior: 'ignoreErrors' });
      }
      expect(failed).toEqual([]);
    },
    400_000,
  );
});
