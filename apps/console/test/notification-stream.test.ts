import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { expectClean, holdAnswer, interruptible, launchChromium, visitSignedIn } from './chromium.js';

describe.skipIf(!HAS_CHROMIUM)('notifications (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('that came or were read elsewhere while the page was away are shown once it is back', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { notifications } = app.tandem.services;
    const told = await notifications.notify(ann.id, { title: 'Read elsewhere' });
    await using one = await visitSignedIn(browser, app, { person: ann, path: '/notifications' });
    await using other = await visitSignedIn(browser, app, { person: bob, path: '/notifications' });
    const streams: Awaited<ReturnType<typeof interruptible>>[] = [];
    for (const { page } of [one, other]) {
      streams.push(await interruptible(page, /notifications\/listen/));
      await page.getByText('Live', { exact: true }).waitFor();
    }
    await one.page.getByRole('button', { name: 'Mark read: Read elsewhere' }).waitFor();
    for (const { leave } of streams) await leave();
    await ann.rest('POST', `/notifications/identities/${ann.id}/read`, { lastReadNotificationId: told.id }).expect(204);
    await notifications.notify(bob.id, { title: 'Came meanwhile' });
    for (const { comeBack } of streams) comeBack();
    await one.page.getByRole('button', { name: 'Mark read: Read elsewhere' }).waitFor({ state: 'detached' });
    await other.page.getByRole('button', { name: 'Mark read: Came meanwhile' }).waitFor();
    for (const visitor of [one, other]) await expectClean(visitor);
  });

  it('stay as many as were shown when the connection comes back, and are counted as the last answer says', async () => {
    const ann = await app.signUp();
    const { notifications } = app.tandem.services;
    await notifications.notifyMany(Array.from({ length: 25 }, (_, n) => ({ receiverId: ann.id, title: `Number ${n}` })));
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: '/notifications' });
    const { page } = visitor;
    const { leave, comeBack } = await interruptible(page, /notifications\/listen/);
    const rows = page.getByRole('button', { name: /^Mark read: Number/ });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show older' }).click();
    await expect.poll(() => rows.count()).toBe(25);
    await leave();
    await page.getByText('Connecting…').waitFor();
    const { id } = await notifications.notify(ann.id, { title: 'Number 25' });
    const isList = ({ pathname }: URL) => pathname.includes('notifications.list');
    const loaded = page.waitForResponse((response) => isList(new URL(response.url())));
    comeBack();
    await loaded;
    await page.waitForLoadState('networkidle');
    await expect.poll(() => rows.count()).toBe(26);
    // an answer that was asked for before all were read comes after it
    const { isGiven, letGo } = await holdAnswer(page, 'notifications.unreadCount');
    await notifications.notify(ann.id, { title: 'Number 26' });
    await isGiven;
    await ann.rest('POST', `/notifications/identities/${ann.id}/read`, { lastReadNotificationId: id }).expect(204);
    await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    letGo();
    await page.waitForLoadState('networkidle');
    await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    await expectClean(visitor);
  });

  it('that come while all are marked read stay unread', async () => {
    const ann = await app.signUp();
    const { notifications } = app.tandem.services;
    await notifications.notify(ann.id, { title: 'Seen' });
    await using visitor = await visitSignedIn(browser, app, { person: ann, path: '/notifications' });
    const { page } = visitor;
    await page.getByText('Live', { exact: true }).waitFor();
    const isMarked = ({ pathname }: URL) => pathname === '/trpc/notifications.markReadUpTo';
    await page.route(isMarked, async (route) => {
      const answer = await route.fetch();
      await notifications.notify(ann.id, { title: 'New' });
      await page.getByRole('button', { name: 'Mark read: New' }).waitFor();
      await route.fulfill({ response: answer });
    });
    await page.getByRole('button', { name: 'Mark all read' }).click();
    await page.getByRole('button', { name: 'Mark read: Seen' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    expect(await page.getByRole('button', { name: 'Mark read: New' }).count()).toBe(1);
    await expectClean(visitor);
  });
});
