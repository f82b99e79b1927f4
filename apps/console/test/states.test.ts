import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, expectClean, goTo, launchChromium, offences, visitSignedIn } from './chromium.js';

/** The folder of `npm run screenshots`; without it no pictures are taken. */
const PICTURES = process.env['SCREENSHOTS'];

const LISTS = ['Orders', 'Products', 'Organizations', 'Reports'];
const failing = (route: Route) =>
  route.fulfill({ status: 503, contentType: 'application/json', body: JSON.stringify([{ error: { message: 'Away', code: -32603, data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 } } }]) }); // prettier-ignore

describe.skipIf(!HAS_CHROMIUM)('the states of views (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  async function picture(page: Page, name: string): Promise<void> {
    if (PICTURES === undefined) return;
    await mkdir(PICTURES, { recursive: true });
    await page.screenshot({ path: path.join(PICTURES, `${name.toLowerCase().replaceAll(' ', '-')}.png`) });
  }

  describe.each([
    ['desktop', DESKTOP, 'light', ['Home', 'Orders', 'Events']],
    ['phone', PHONE, 'dark', ['Products', 'Catalogue', 'Notifications']],
  ] as const)('on a %s', (screen, options, colorScheme, views) => {
    it('are empty, loading, failing, and there again after an outage', async () => {
      const admin = await app.signUpAdmin();
      await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/security', options: { ...options, colorScheme } }); // prettier-ignore
      const { page } = visitor;
      visitor.allow('503');
      const states = async (name: string) => {
        expect(await offences(page), name).toEqual([]);
        await expectClean(visitor);
        await picture(page, `${name}-${screen}`);
      };
      for (const view of LISTS) {
        await goTo(page, view);
        await page.getByText(/^No .* yet$/).waitFor();
        await states(`${view}-empty`);
      }
      for (const view of views) {
        await page.reload();
        let isAway = true;
        let letGo = () => {};
        const isFree = new Promise<void>((resolve) => (letGo = resolve));
        // what the frame needs goes on
        await page.route(
          ({ pathname }) => pathname.startsWith('/trpc/') && !/identities\.get|Ticket|refresh|logout/i.test(pathname),
          async (route) => {
            await isFree;
            return isAway ? failing(route) : route.continue();
          },
        );
        await goTo(page, new RegExp(`^${view}$`));
        await page.getByRole('main').getByText(/Loading|No orders/).first().waitFor(); // prettier-ignore
        await states(`${view}-loading`);
        letGo();
        await page.getByRole('main').getByRole('alert').first().waitFor();
        await states(`${view}-failing`);
        isAway = false;
        await page.getByRole('main').getByRole('alert').first().waitFor({ state: 'detached' });
        await states(`${view}-again`);
        await page.unrouteAll({ behavior: 'wait' });
      }
    });
  });
});
