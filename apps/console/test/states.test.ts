import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { DESKTOP, PHONE, launchChromium, signedIn, turnTo, visitSignedIn } from './chromium.js';
import { passStates, type Stateful } from './states.js';

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

describe.skipIf(!HAS_CHROMIUM)('the states of views (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  /** A view by its path: the frame has the person by then; channels and notifications are its own. */
  function viewAt(at: string, empty: RegExp | undefined): Stateful {
    const isOfFrame = at === '/chat' || at === '/notifications';
    const kept = isOfFrame ? /identities\.get|Ticket|refresh|logout/i : /Ticket|refresh|logout/i;
    return {
      name: at,
      empty,
      isWaitedFor: (procedure) => !kept.test(procedure),
      go: (page) => (isOfFrame ? page.goto(`${app.url}/console${at}`) : turnTo(page, at)),
    };
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
        await visitor.open('/nowhere');
        await signedIn(visitor.page);
        failed.push(...(await passStates(visitor, screen, viewAt(at, empty))));
      }
      expect(failed).toEqual([]);
    },
    400_000,
  );
});
