import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { expectClean, interruptible, launchChromium, visitSignedIn } from './chromium.js';

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
