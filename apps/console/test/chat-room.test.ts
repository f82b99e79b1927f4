import { randomUUID } from 'node:crypto';
import { HAS_CHROMIUM, PATIENCE, fixture, startTestServer, storeCopies, type Person } from '@tandem/testing';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { personCalled } from './chat-people.js';
import { DESKTOP, expectClean, goTo, interruptible, launchChromium, turnTo, visitSignedIn } from './chromium.js';

describe.skipIf(!HAS_CHROMIUM)('the room of the chat (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  const visitAs = (person: Pick<Person, 'email'>, path: string, options?: BrowserContextOptions) =>
    visitSignedIn(browser, app, { person, path, options });

  /** Two members of a channel. */
  async function channelOfTwo(name: string) {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { id: channelId } = await ann.rest('POST', '/channels', { name, ownerId: ann.id }).expect<{ id: string }>(201);
    await ann.rest('POST', '/subscriptions', { channelId, subscribedId: bob.id }).expect(201);
    return { ann, bob, channelId };
  }

  it('can be read in a low window, as with 400 % zoom', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Hold');
    await bob.rest('POST', '/messages', { channelId, senderId: bob.id, content: 'Is it dark?' }).expect(201);
    await using visitor = await visitAs(ann, `/chat/${channelId}`, { viewport: { width: 320, height: 200 } });
    const { page } = visitor;
    await page.getByRole('log').getByText('Is it dark?').waitFor();
    for (const height of [200, 256, 600]) {
      await page.setViewportSize({ width: 320, height });
      expect((await page.getByRole('log').boundingBox())?.height).toBeGreaterThan(120);
      await expectClean(visitor);
    }
  });

  it('loads its channels again for a deleted message only if it was the last one of its channel', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Scullery');
    const posted: { id: string }[] = [];
    for (const content of ['First', 'Second', 'Third'])
      posted.push(await bob.rest('POST', '/messages', { channelId, senderId: bob.id, content }).expect<{ id: string }>(201));
    const [first, , third] = posted;
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('log').getByText('Third').waitFor();
    let loads = 0;
    page.on('request', (request) => (loads += request.url().includes('chat.listChannels') ? 1 : 0));
    await bob.rest('DELETE', `/messages/${first?.id}`).expect(204);
    await page.getByRole('log').getByText('First').waitFor({ state: 'detached' });
    await bob.rest('DELETE', `/messages/${third?.id}`).expect(204);
    await page.getByRole('link', { name: /Scullery.*Second/ }).waitFor();
    expect(loads).toBe(1);
    await expectClean(visitor);
  });

  it('tells the server what was read before its stream was open', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Galley');
    await ann.rest('POST', '/messages', { channelId, senderId: ann.id, content: 'Soup is ready.' }).expect(201);
    await using visitor = await visitAs(bob, '/products');
    const { page } = visitor;
    visitor.allow('WebSocket connection');
    const { leave, comeBack } = await interruptible(page, /messages\/listen/);
    await leave();
    await visitor.open(`/chat/${channelId}`);
    await page.getByRole('log').getByText('Soup is ready.').waitFor();
    await page.getByRole('link', { name: 'Chat', exact: true }).waitFor();
    const unread = async () =>
      (await bob.rest('GET', `/channels/${channelId}/read-state`).expect<{ unread: number }>(200)).unread;
    expect(await unread()).toBe(1);
    comeBack();
    await expect.poll(unread, PATIENCE).toBe(0);
    await expectClean(visitor);
  });

  it('counts as unread no message that was deleted before it was seen', async () => {
    const [some, none] = [await channelOfTwo('Bunk'), await channelOfTwo('Hatch')];
    const { ann, bob, channelId } = some;
    await none.ann.rest('POST', '/subscriptions', { channelId: none.channelId, subscribedId: bob.id }).expect(201);
    const say = async (who: Person, where: string, content: string) => {
      const message = { channelId: where, senderId: who.id, content };
      return (await who.rest('POST', '/messages', message).expect<{ id: string }>(201)).id;
    };
    await say(ann, channelId, 'Kept');
    const only = await say(none.ann, none.channelId, 'All there is');
    const gone = await say(ann, channelId, 'Unseen');
    await using visitor = await visitAs(bob, '/products');
    const { page } = visitor;
    await page.getByRole('link', { name: 'Chat 3 unread' }).waitFor();
    await none.ann.rest('DELETE', `/messages/${only}`).expect(204);
    await page.getByRole('link', { name: 'Chat 2 unread' }).waitFor();
    await ann.rest('DELETE', `/messages/${gone}`).expect(204);
    await visitor.open(`/chat/${channelId}`);
    await page.getByRole('log').getByText('Kept').waitFor();
    await page.getByRole('link', { name: 'Chat', exact: true }).waitFor();
    expect(await page.getByRole('link', { name: /unread/ }).count()).toBe(0);
    await expectClean(visitor);
  });

  it('shows no message again that was deleted before its sender was told that it is stored', async () => {
    const { ann, channelId } = await channelOfTwo('Anchor');
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    let acknowledge = () => {};
    await page.routeWebSocket(/messages\/listen/, (socket) => {
      socket.connectToServer().onMessage((message) => {
        const isHeld = String(message).includes('"type":"ack"') && String(message).includes('Regretted');
        if (isHeld) acknowledge = () => socket.send(message);
        else socket.send(message);
      });
    });
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    const composer = page.getByLabel('Message', { exact: true });
    await composer.fill('Regretted');
    await composer.press('Enter');
    const shown = (text: string) => page.locator('.message', { hasText: text });
    await page.locator('.message:not(.message-sending)').waitFor();
    const stored = await ann.rest('GET', `/messages?channelId=${channelId}`).expect<{ data: { id: string }[] }>(200);
    await ann.rest('DELETE', `/messages/${stored.data[0]?.id}`).expect(204);
    await page.locator('.message:not(.message-sending)').waitFor({ state: 'detached' });
    acknowledge();
    await shown('Regretted').waitFor({ state: 'detached' });
    await composer.fill('Next');
    await composer.press('Enter');
    await shown('Next').waitFor();
    expect(await shown('Regretted').count()).toBe(0);
    await expectClean(visitor);
  });

  it('opens a channel beyond the first hundred by its address, live, and offers to join one that the reader is not in', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Oldest');
    const name = (at: number) => `Later ${at}`;
    for (let at = 0; at < 100; at++) await ann.rest('POST', '/channels', { name: name(at), ownerId: ann.id }).expect(201);
    const { id: elsewhere } = await bob
      .rest('POST', '/channels', { name: 'Elsewhere', ownerId: bob.id })
      .expect<{ id: string }>(201);
    const say = (content: string) => bob.rest('POST', '/messages', { channelId, senderId: bob.id, content }).expect(201);
    await say('Long ago');
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByRole('log').getByText('Long ago').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await say('Just now');
    await page.getByRole('log').getByText('Just now').waitFor();
    await turnTo(page, `/chat/${elsewhere}`);
    await page.getByRole('button', { name: 'Join' }).waitFor();
    await turnTo(page, '/chat/nonsense');
    await page.getByRole('button', { name: 'Join' }).waitFor();
    await turnTo(page, `/chat/${channelId}`);
    await page.getByRole('log').getByText('Just now').waitFor();
    await expectClean(visitor);
  });

  it('goes on after a sign-out that failed, though its stream was opened again meanwhile', async () => {
    await using withCookies = await startTestServer({ authModes: { default: 'cookie' }, clock: app.clock });
    const { ann, channelId } = await channelOfTwo('Ferry');
    await using visitor = await visitSignedIn(browser, withCookies, { person: ann, path: `/chat/${channelId}` });
    const { page } = visitor;
    visitor.allow('ERR_FAILED');
    await page.clock.install();
    const { leave, comeBack } = await interruptible(page, /messages\/listen/);
    await page.getByText('Live', { exact: true }).waitFor();
    let fail = () => {};
    const isOver = new Promise<void>((resolve) => (fail = resolve));
    await page.route('**/trpc/auth.logout*', (route) => isOver.then(() => route.abort()));
    await leave();
    const asked = page.waitForRequest('**/trpc/auth.logout*');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await asked;
    // longer than the stream waits before it is opened again
    await page.clock.runFor(15_000);
    comeBack();
    fail();
    await page.getByText('You are still signed in.').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('Still here');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.locator('.message:not(.message-sending, .message-refused)').getByText('Still here').waitFor();
    await expectClean(visitor);
  });

  it('lists and names members beyond the first hundred', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Harbour');
    const { data } = await ann
      .rest('GET', `/subscriptions?channelId=${channelId}&subscribedId=${bob.id}`)
      .expect<{ data: [{ id: string }] }>(200);
    const member = () => ({ subscribedId: randomUUID() });
    await storeCopies({ mongodbUri: app.mongodbUri, of: data[0].id, count: 100 }, 'subscriptions', member);
    const zoe = await personCalled(app, 'Zoe Last');
    await ann.rest('POST', '/subscriptions', { channelId, subscribedId: zoe.id }).expect(201);
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByLabel('Message', { exact: true }).pressSequentially('@zo');
    await page.getByRole('option', { name: 'Zoe Last' }).click();
    await page.getByRole('button', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Actions for Zoe Last' }).waitFor();
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(102);
    await expectClean(visitor);
  });

  it('keeps long names in their rows, and counts in their pills', async () => {
    const long = 'unbroken'.repeat(8);
    const [admin, bob] = [await app.signUpAdmin(), await app.signUp({ email: `${long}@${long}.${long}.example.org` })];
    const channelIds: string[] = [];
    for (const name of ['Quay', long.repeat(3)]) {
      const { id } = await bob.rest('POST', '/channels', { name, ownerId: bob.id }).expect<{ id: string }>(201);
      await bob.rest('POST', '/subscriptions', { channelId: id, subscribedId: admin.id }).expect(201);
      await bob.rest('POST', '/messages', { channelId: id, senderId: bob.id, content: long.repeat(3) }).expect(201);
      channelIds.push(id);
    }
    await using visitor = await visitAs(admin, '/chat');
    const { page } = visitor;
    const overhang = (selector: string) =>
      page.evaluate<number>(
        `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('${selector}'))`,
      );
    for (const options of [DESKTOP, { viewport: { width: 320, height: 640 } }]) {
      await page.setViewportSize(options.viewport);
      await goTo(page, /^Chat/);
      const badges = page.locator('.channel .badge');
      await badges.first().waitFor();
      for (const badge of await badges.all()) expect((await badge.boundingBox())?.width).toBeLessThan(30);
      await page.locator(`.channel[href$='${channelIds.pop()}']`).click();
      await page.getByText(bob.email).waitFor();
      expect(await overhang('.log')).toBe(0);
      await goTo(page, 'Identities');
      await page.getByRole('button', { name: /^Actions for unbroken/ }).click();
      await page.getByRole('menuitem', { name: 'Lock' }).click();
      expect(await overhang('dialog')).toBe(0);
      await page.keyboard.press('Escape');
      await expectClean(visitor);
    }
  });
});
