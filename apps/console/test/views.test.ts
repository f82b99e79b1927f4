import { HAS_CHROMIUM, startTestServer, type Person, type TestServer } from '@tandem/testing';
import type { Browser, WebSocketRoute } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PHONE, expectClean, launchChromium, visit } from './chromium.js';

describe.skipIf(!HAS_CHROMIUM)('the views (skipped where there is no chromium)', () => {
  let app: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    [app, browser] = await Promise.all([startTestServer(), launchChromium()]);
  });
  afterAll(() => Promise.all([browser?.close(), app?.close()]));

  /** A person's page, signed in at a view. */
  async function visitAs({ email }: Pick<Person, 'email'>, path: string, options?: Parameters<typeof visit>[2]) {
    const visitor = await visit(browser, app, options);
    await visitor.open(path);
    await visitor.signIn(email);
    await visitor.page.getByRole('navigation', { name: 'Views' }).waitFor();
    return visitor;
  }

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

  describe('chat', () => {
    /** Two members of a channel. */
    async function channelOfTwo(name: string) {
      const [ann, bob] = [await app.signUp(), await app.signUp()];
      const { id: channelId } = await ann.rest('POST', '/channels', { name, ownerId: ann.id }).expect<{ id: string }>(201);
      await ann.rest('POST', '/subscriptions', { channelId, subscribedId: bob.id }).expect(201);
      return { ann, bob, channelId };
    }

    it('goes from one browser to another, with typing and an unread count', async () => {
      const { ann, bob, channelId } = await channelOfTwo('Harbour');
      await using one = await visitAs(ann, `/chat/${channelId}`);
      await using other = await visitAs(bob, '/notifications', PHONE);
      await other.page.getByText('Live', { exact: true }).waitFor();
      await one.page.getByText('Live', { exact: true }).waitFor();
      await one.page.getByLabel('Message', { exact: true }).fill('Is there tea?');
      await one.page.getByLabel('Message', { exact: true }).press('Enter');
      await one.page.getByRole('log').getByText('Is there tea?').waitFor();
      await other.page.getByRole('link', { name: 'Chat 1 unread' }).click();

      await other.page.getByRole('link', { name: /Harbour/ }).click();
      await other.page.getByRole('log').getByText('Is there tea?').waitFor();
      await other.page.getByRole('link', { name: 'Chat', exact: true }).waitFor();
      await other.page.getByLabel('Message', { exact: true }).pressSequentially('Two po');
      await one.page.getByText(/^Member \w{4} is typing…$/).waitFor();
      await other.page.getByLabel('Message', { exact: true }).fill('Two pots, <b>hot</b>');
      await other.page.getByRole('button', { name: 'Send' }).click();
      await one.page.getByRole('log').getByText('Two pots, <b>hot</b>').waitFor();
      await one.page.getByText(/is typing…$/).waitFor({ state: 'detached' });
      await expectClean(one);
      await expectClean(other);
    });

    it('shows a channel soon after joining it, and a message in it at once', async () => {
      const [ann, bob] = [await app.signUp(), await app.signUp()];
      await using visitor = await visitAs(bob, '/chat', PHONE);
      const { page } = visitor;
      await page.getByText('No channels yet').waitFor();
      const { id: channelId } = await ann
        .rest('POST', '/channels', { name: 'Attic', ownerId: ann.id })
        .expect<{ id: string }>(201);
      await ann.rest('POST', '/subscriptions', { channelId, subscribedId: bob.id }).expect(201);
      await page.getByRole('link', { name: /Attic/ }).waitFor();
      await ann.rest('POST', '/messages', { channelId, senderId: ann.id, content: 'Welcome' }).expect(201);
      await page.getByRole('link', { name: /Attic.*1 unread.*Welcome/ }).waitFor();
      await expectClean(visitor);
    });

    it('misses nothing while the connection is down, and says that it is', async () => {
      const { ann, bob, channelId } = await channelOfTwo('Cellar');
      const sockets: WebSocketRoute[] = [];
      await using visitor = await visit(browser, app);
      const { page } = visitor;
      visitor.allow('ERR_INTERNET_DISCONNECTED');
      await page.routeWebSocket(/listen/, (socket) => {
        socket.connectToServer();
        sockets.push(socket);
      });
      await visitor.open(`/chat/${channelId}`);
      await visitor.signIn(ann.email);
      await page.getByText('Live', { exact: true }).waitFor();
      await page.context().setOffline(true);
      for (const socket of sockets) await socket.close({ code: 1012 });
      await page.getByText('Connecting…').waitFor();
      await bob.rest('POST', '/messages', { channelId, senderId: bob.id, content: 'Said meanwhile' }).expect(201);
      await page.context().setOffline(false);
      await page.getByRole('log').getByText('Said meanwhile').waitFor();
      await expectClean(visitor);
    });

    it('starts with a channel of one’s own, and shows earlier messages on request', async () => {
      const ann = await app.signUp();
      await using visitor = await visitAs(ann, '/chat');
      const { page } = visitor;
      await page.getByRole('button', { name: 'New channel' }).click();
      await page.getByLabel('Name of the channel').fill('Plans');
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByText('No messages yet. Write the first!').waitFor();
      const channelId = page.url().split('/').at(-1) ?? '';
      for (let n = 1; n <= 55; n++)
        await ann.rest('POST', '/messages', { channelId, senderId: ann.id, content: `Line ${n}.` }).expect(201);
      await page.getByRole('log').getByText('Line 55.').waitFor();
      await page.reload();
      await page.getByRole('log').getByText('Line 55.').waitFor();
      expect(await page.getByText('Line 5.', { exact: true }).count()).toBe(0);
      await page.getByRole('button', { name: 'Show earlier messages' }).click();
      await page.getByText('Line 1.', { exact: true }).waitFor();
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
      /** Presses Tab until an element with this name has the focus. */
      async function tabTo(name: string): Promise<void> {
        for (let steps = 0; steps < 60; steps++) {
          await keyboard.press('Tab');
          const focused = String(
            await page.evaluate(
              'document.activeElement.getAttribute("aria-label") ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent',
            ),
          );
          if (focused === name) return;
        }
        throw new Error(`${name} cannot be reached by Tab`);
      }
      const rows = page.getByRole('list', { name: 'Identities' }).getByRole('listitem');
      await rows.first().waitFor();
      await tabTo('Email begins with');
      await keyboard.type('keyboard.');
      await rows.nth(1).waitFor({ state: 'detached' });
      await tabTo(`Lock ${ann.email}`);
      await keyboard.press('Enter');
      await page.getByRole('dialog', { name: `Lock ${ann.email}?` }).waitFor();
      await keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await ann.rest('GET', `/identities/${ann.id}`).expect(200);
      await keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await tabTo('Lock');
      await keyboard.press('Enter');
      await page.getByText(`${ann.email} is locked, and signed out everywhere.`).waitFor();
      await ann.rest('GET', `/identities/${ann.id}`).expect(401);

      await tabTo(`Unlock ${ann.email}`);
      await keyboard.press('Enter');
      await page.getByText(`${ann.email} is unlocked.`).waitFor();
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
});
