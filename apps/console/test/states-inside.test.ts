import { HAS_CHROMIUM, fixture, startTestServer, type Person } from '@tandem/testing';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, launchChromium, signedIn, turnTo, visitSignedIn } from './chromium.js';
import { makeWorld, type World } from './reach-world.js';
import { passStates, type Stateful } from './states.js';

const aside = (page: Page) => page.getByRole('complementary');

describe.skipIf(!HAS_CHROMIUM)('the states inside views (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  let admin: Person;
  let world: World;
  beforeAll(async () => {
    admin = await app.signUpAdmin();
    world = await makeWorld(app, admin);
  });

  it.each([
    ['a desktop', DESKTOP, 'light'],
    ['a phone', PHONE, 'dark'],
  ] as const)(
    'of records, and of what is beside a conversation, are loading, refused, failing and there again, on %s',
    async (screen, size, colorScheme) => {
      const { tea, variant, shop, order, location, profile, own: self, channel } = world;
      await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/nowhere', options: { ...size, colorScheme } }); // prettier-ignore
      for (const text of ['503', '403']) visitor.allow(text);

      const record = (at: string): Stateful => ({
        name: at.replaceAll(/[0-9a-f-]{36}/g, 'one'),
        isWaitedFor: (procedure) => !/Ticket|refresh|logout/i.test(procedure),
        go: (page) => turnTo(page, at),
      });
      const beside = (name: string, waitedFor: RegExp, open: (page: Page) => Promise<unknown>, empty?: RegExp): Stateful => ({
        name: `chat ${name}`,
        part: aside,
        empty,
        isWaitedFor: (procedure) => waitedFor.test(procedure),
        async go(page) {
          await turnTo(page, `/chat/${channel}`);
          await open(page);
        },
      });
      const press = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).click();
      const views = [
        record(`/products/${tea}`),
        record(`/products/${tea}/variants/${variant}`),
        record(`/organizations/${shop}`),
        record(`/organizations/${shop}?tab=members`),
        record(`/orders/${order}`),
        record(`/locations/${location}`),
        record(`/profiles/${profile}`),
        record(`/profiles/${self}`),
        record(`/identities/${admin.id}`),
        beside('pins', /chat\.listPins/, press('Pinned'), /Nothing is pinned/),
        beside('members', /listSubscriptions/, press('Members')),
        beside(
          'thread',
          /listReplies/,
          async (page) => {
            await page.getByRole('log').getByText('Reach me').hover();
            await page.getByRole('button', { name: 'More actions' }).click();
            await page.getByRole('menuitem', { name: 'Open thread' }).click();
          },
          /No replies yet/,
        ),
        {
          ...beside(
            'search',
            /chat\.listMessages$/,
            async (page) => {
              await turnTo(page, '/chat');
              await page.getByRole('searchbox').fill('nothing like it');
            },
            /No messages have these words/,
          ),
          part: (page: Page) => page.getByRole('region', { name: 'Channels' }),
        },
      ];
      const failed: string[] = [];
      for (const view of views) {
        await visitor.open('/nowhere');
        await signedIn(visitor.page);
        failed.push(...(await passStates(visitor, screen, view)));
      }
      expect(failed).toEqual([]);
    },
    400_000,
  );
});
