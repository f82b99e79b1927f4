import { HAS_CHROMIUM, fixture, startTestServer, type Person } from '@tandem/testing';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  PHONE,
  alterAnswers,
  expectClean,
  focusedText,
  launchChromium,
  notCalled,
  offences,
  tabTo,
  visit,
  visitSignedIn,
} from './chromium.js';
import { REACHED } from './reached.js';

describe.skipIf(!HAS_CHROMIUM)('the views (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  const visitAs = (person: Pick<Person, 'email'>, path: string, options?: BrowserContextOptions) =>
    visitSignedIn(browser, app, { person, path, options });

  describe('notifications', () => {
    it('appear as they come, are counted, and are marked read one by one or all', async () => {
      const ann = await app.signUp();
      const { notifications } = app.tandem.services;
      await notifications.notify(ann.id, { title: 'The first one', orderId: '42' });
      await using visitor = await visitAs(ann, '/notifications');
      const { page } = visitor;
      await page.getByText('Live', { exact: true }).waitFor();
      await notifications.notify(ann.id, { title: 'Your order was shipped', text: 'It arrives tomorrow.' });
      const list = page.getByRole('list', { name: 'Notifications' });
      await list.getByText('Your order was shipped').waitFor();
      expect(await list.getByRole('listitem').first().innerText()).toContain('It arrives tomorrow.');
      await page.getByRole('link', { name: 'Notifications 2 unread' }).waitFor();
      expect(await page.locator('[aria-live=polite]').first().innerText()).toBe('New notification: Your order was shipped');

      await page.getByRole('button', { name: 'Mark read: Your order was shipped' }).click();
      await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
      await page.getByRole('button', { name: 'Mark all read' }).click();
      await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
      expect(await ann.rest('GET', `/notifications/identities/${ann.id}/unread-count`).expect(200)).toEqual({ unread: 0 });
      await expectClean(visitor);
    });

    it('are shown above any view, marked read there, and lead to what they are about', async () => {
      const ann = await app.signUp();
      const admin = await app.signUpAdmin();
      const product = { name: 'Tea', description: 'Leaves', price: { amount: 4, currency: 'EUR' } };
      const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
      const { notifications } = app.tandem.services;
      await notifications.notify(ann.id, { title: 'Only to be told' });
      await using visitor = await visitAs(ann, '/security', PHONE);
      const { page } = visitor;
      await page.getByRole('button', { name: 'Latest notifications, 1 unread' }).waitFor();
      await notifications.notify(ann.id, { title: 'Tea is back', productId });
      await page.getByRole('button', { name: 'Latest notifications, 2 unread' }).click();
      const shown = page.getByRole('dialog', { name: 'Latest notifications' });
      expect(await offences(page)).toEqual([]);
      await shown.getByRole('button', { name: 'Mark read: Only to be told' }).press('Enter');
      await page.getByRole('button', { name: 'Latest notifications, 1 unread' }).waitFor();
      expect(await page.evaluate('document.activeElement.closest(".popup") !== null'), 'focus').toBe(true);
      await shown.getByRole('link', { name: 'Show the product' }).click();
      await page.getByRole('heading', { name: 'Tea', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Latest notifications', exact: true }).waitFor();
      expect(await shown.count()).toBe(0);
      await expectClean(visitor);
    });

    it('that were read elsewhere are read here, and older ones are shown on request', async () => {
      const ann = await app.signUp();
      await app.tandem.services.notifications.notifyMany(
        Array.from({ length: 25 }, (_, n) => ({ receiverId: ann.id, title: `Number ${n + 1}`, text: 'without-end'.repeat(10) })),
      );
      await using visitor = await visitAs(ann, '/notifications', PHONE);
      const { page } = visitor;
      await page.getByRole('main').getByText('25 unread').waitFor();
      expect(await page.getByRole('listitem').filter({ hasText: 'Number' }).count()).toBe(20);
      await page.getByRole('button', { name: 'Show older ones' }).click();
      await page.getByText('Number 1 (unread)', { exact: true }).waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      const { data } = await ann.rest('GET', `/notifications/identities/${ann.id}`).expect<{ data: { id: string }[] }>(200);
      await ann.rest('POST', `/notifications/identities/${ann.id}/read`, { lastReadNotificationId: data[0]?.id }).expect(204);
      await page
        .getByRole('button', { name: /^Mark read/ })
        .first()
        .waitFor({ state: 'detached' });
      await expectClean(visitor);
    });
  });

  describe('sessions', () => {
    it('are ended one by one, or all others at once', async () => {
      const ann = await app.signUp();
      for (let n = 0; n < 3; n++) await app.signIn(ann.email);
      await using visitor = await visitAs(ann, '/sessions', PHONE);
      const { page } = visitor;
      await page.getByText('Chrome on', { exact: false }).first().waitFor();
      const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
      expect(await rows.count()).toBe(5);
      await page.getByRole('button', { name: 'Sign out Node.js' }).first().click();
      await rows.nth(4).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Sign out all others' }).click();
      await rows.nth(1).waitFor({ state: 'detached' });
      await page.getByText('this device').waitFor();
      await ann.rest('GET', `/identities/${ann.id}`).expect(401);
      await expectClean(visitor);
    });
  });

  describe('identities', () => {
    it('are found, locked and unlocked with the keyboard alone', async () => {
      const admin = await app.signUpAdmin();
      const ann = await app.signUp({ email: 'keyboard.ann@example.org' });
      await using visitor = await visitAs(admin, '/identities');
      const { page } = visitor;
      const { keyboard } = page;
      /** Opens the actions of ann, and goes down to one. */
      async function chooseAction(name: string): Promise<void> {
        await tabTo(page, `Actions for ${ann.email}`);
        await keyboard.press('Enter');
        for (let steps = 0; (await focusedText(page)) !== name; steps++) {
          if (steps > 30) throw new Error(`${name} cannot be reached by the arrow keys`);
          await keyboard.press('ArrowDown');
        }
        await keyboard.press('Enter');
        await page.getByRole('dialog', { name: `${name}: ${ann.email}` }).waitFor();
      }
      const rows = page.getByRole('table').getByRole('row');
      await rows.nth(2).waitFor();
      await tabTo(page, 'Search');
      await keyboard.type('keyboard');
      await rows.nth(2).waitFor({ state: 'detached' });
      await chooseAction('Lock');
      await keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await ann.rest('GET', `/identities/${ann.id}`).expect(200);
      await chooseAction('Lock');
      await tabTo(page, 'Lock');
      await keyboard.press('Enter');
      await page.getByText('Done: lock.').waitFor();
      await ann.rest('GET', `/identities/${ann.id}`).expect(401);

      await chooseAction('Unlock');
      await tabTo(page, 'Unlock');
      await keyboard.press('Enter');
      await page.getByText('Done: unlock.').waitFor();
      await app.signIn(ann.email);
      await expectClean(visitor);
    });

    it('are not shown to non-admins', async () => {
      const ann = await app.signUp();
      await using visitor = await visitAs(ann, '/identities');
      await visitor.page.getByText('There is no such page').waitFor();
      expect(await visitor.page.getByRole('link', { name: 'Identities' }).count()).toBe(0);
      await expectClean(visitor);
    });
  });

  it('carry the host’s name and color', async () => {
    await using server = await startTestServer({ brand: { name: 'Harbour', logoUrl: undefined, color: '#1f4fd8' } });
    const ann = await server.signUp();
    await using visitor = await visitSignedIn(browser, server, { person: ann, path: '/sessions' });
    const { page } = visitor;
    await page.getByText('this device').waitFor();
    expect(await page.title()).toBe('Sessions · Harbour');
    expect(await page.locator('.brand').innerText()).toContain('Harbour');
    expect(await page.evaluate('getComputedStyle(document.querySelector(".lead a")).color')).toBe('rgb(31, 79, 216)');
    expect(await offences(page)).toEqual([]);
    await expectClean(visitor);
  });

  it('begin at their top, and are where one left them on the way back', async () => {
    const ann = await app.signUp();
    await app.tandem.services.notifications.notifyMany(
      Array.from({ length: 20 }, (_, n) => ({ receiverId: ann.id, title: `Number ${n + 1}` })),
    );
    for (let n = 0; n < 20; n++) await app.signIn(ann.email);
    await using visitor = await visitAs(ann, '/sessions');
    const { page } = visitor;
    await page.getByText('this device').waitFor();
    await page.getByRole('link', { name: 'Notifications' }).click();
    const scrolled = () => page.evaluate<number>('Math.round(scrollY)');
    await page.getByText('Number 1 (unread)', { exact: true }).scrollIntoViewIfNeeded();
    const left = await scrolled();
    expect(left).toBeGreaterThan(200);
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('this device').waitFor();
    expect(await scrolled()).toBe(0);
    await page.goBack();
    await page.getByText('Number 1 (unread)', { exact: true }).waitFor();
    await expect.poll(scrolled).toBe(left);
    await expectClean(visitor);
  });

  it('show a list without the entry that cannot be shown', async () => {
    const ann = await app.signUp();
    const { notifications } = app.tandem.services;
    for (const title of ['Well', 'Broken']) await notifications.notify(ann.id, { title });
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    visitor.allow('RangeError');
    await alterAnswers(page, 'notifications.list', (text) => text.replace(/"createdAt":"[^"]*"/, '"createdAt":"yesterday"'));
    await visitor.open('/notifications');
    await visitor.signIn(ann.email);
    await page.getByText('This entry cannot be shown.').waitFor();
    expect(await offences(page)).toEqual([]);
    await page.getByRole('listitem').filter({ hasText: 'Well' }).waitFor();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('this device').waitFor();
    await expectClean(visitor);
  });

  it('hand the focus on from what an action takes away, and close what is open by Escape', async () => {
    const ann = await app.signUp();
    const { notifications } = app.tandem.services;
    for (const title of ['First', 'Second']) await notifications.notify(ann.id, { title });
    await app.signIn(ann.email);
    await using visitor = await visitAs(ann, '/notifications');
    const { page } = visitor;
    const { keyboard } = page;
    /** What has the focus: the text of the nearest entry, else the element. */
    const focused = () =>
      page.evaluate<string>(
        '(document.activeElement.closest("li")?.querySelector(".row-title") ?? document.activeElement).innerText.trim()',
      );
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true, disabled: false }).first().focus();
      await keyboard.press('Enter');
    };
    await press('Mark read: Second');
    await page.getByRole('button', { name: 'Mark read: Second' }).waitFor({ state: 'detached' });
    expect(await focused()).toBe('Second');
    await press('Mark all read');
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
    expect(await focused()).toBe('Mark all read');

    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('this device').waitFor();
    await press('Sign out Node.js');
    await page.getByText('Signed out.').waitFor();
    expect(await focused()).toBe('Node.js');

    await page.getByRole('link', { name: 'Chat' }).click();
    await press('New channel');
    await page.getByLabel('Name of the channel').waitFor();
    expect(await offences(page)).toEqual([]);
    await keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused()).toBe('New channel');
    await press('Later');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED.views)).toEqual([]));
});
