import { HAS_CHROMIUM, fixture, startTestServer, type Person, PATIENCE } from '@tandem/testing';
import type { BrowserContextOptions, WebSocketRoute } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { PHONE, expectClean, launchChromium, offences, visit, visitSignedIn, notCalled } from './chromium.js';
import { REACHED } from './reached.js';

describe.skipIf(!HAS_CHROMIUM)('the chat (skipped where there is no chromium)', () => {
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

  it('goes from one browser to another, with typing and an unread count', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Harbour');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, '/notifications', PHONE);
    await other.page.getByText('Live', { exact: true }).waitFor();
    await one.page.getByText('Live', { exact: true }).waitFor();
    await one.page.getByLabel('Message', { exact: true }).fill('Is there tea?');
    await one.page.getByLabel('Message', { exact: true }).press('Enter');
    await one.page.getByRole('log').getByText('Is there tea?').waitFor();
    await other.page.getByRole('button', { name: 'Menu 1 unread' }).click();
    await other.page.getByRole('link', { name: 'Chat 1 unread' }).click();

    await other.page.getByRole('link', { name: /Harbour/ }).click();
    await other.page.getByRole('log').getByText('Is there tea?').waitFor();
    await other.page.getByRole('button', { name: 'Menu', exact: true }).waitFor();
    await other.page.getByLabel('Message', { exact: true }).pressSequentially('Two po');
    await one.page.getByText(/^Member \w{4} is typing…$/).waitFor();
    await other.page.getByLabel('Message', { exact: true }).fill('Two pots, <b>hot</b>');
    await other.page.getByRole('button', { name: 'Send' }).click();
    await one.page.getByRole('log').getByText('Two pots, <b>hot</b>').waitFor();
    await one.page.getByText(/is typing…$/).waitFor({ state: 'detached' });
    await expectClean(one);
    await expectClean(other);
  });

  it('shows people by the name and picture of their profiles', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Larder');
    const profile = await bob.rest('POST', '/profiles', { identityId: bob.id, name: 'Bob Baker' }).expect<{ id: string }>(201);
    const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="teal"/></svg>';
    const type = 'image/svg+xml';
    const asked = new URLSearchParams({ contentType: type, contentLength: String(picture.length) });
    const { objectId, url } = await bob
      .rest('GET', `/profiles/${profile.id}/avatar-upload-url?${asked.toString()}`)
      .expect<{ objectId: string; url: string }>(200);
    await fetch(url, { method: 'PUT', headers: { 'content-type': type }, body: picture });
    await bob.rest('PATCH', `/profiles/${profile.id}`, { avatar: { objectId, type } }).expect(200);
    await bob.rest('POST', '/messages', { channelId, senderId: bob.id, content: 'The bread is out' }).expect(201);
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    await visitor.page.getByRole('log').getByText('Bob Baker').waitFor();
    const isShown = () => visitor.page.evaluate("document.querySelector('.message-avatar')?.naturalWidth === 8");
    // the page's policy keeps the browser from waiting for a text of code
    await expect.poll(isShown, PATIENCE).toBe(true);
    await expectClean(visitor);
  });

  it('shows a channel soon after joining it, and a message in it at once', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await using visitor = await visitAs(bob, '/chat', PHONE);
    const { page } = visitor;
    await page.getByText('No channels yet').waitFor();
    const { id: channelId } = await ann.rest('POST', '/channels', { name: 'Attic', ownerId: ann.id }).expect<{ id: string }>(201);
    await ann.rest('POST', '/subscriptions', { channelId, subscribedId: bob.id }).expect(201);
    await page.getByRole('link', { name: /Attic/ }).waitFor();
    await ann.rest('POST', '/messages', { channelId, senderId: ann.id, content: 'Welcome' }).expect(201);
    await page.getByRole('link', { name: /Attic.*1 unread.*Welcome/ }).waitFor();
    await expectClean(visitor);
  });

  it('misses nothing while the connection is down, and says that it is', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Cellar');
    const say = (content: string) =>
      bob.rest('POST', '/messages', { channelId, senderId: bob.id, content }).expect<{ id: string }>(201);
    const [changed, deleted] = [await say('Said befor'), await say('Said wrongly')];
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
    await say('Said meanwhile');
    await bob.rest('PATCH', `/messages/${changed.id}`, { content: 'Said before' }).expect(200);
    await bob.rest('DELETE', `/messages/${deleted.id}`).expect(204);
    await page.context().setOffline(false);
    await page.getByRole('log').getByText('Said before').waitFor();
    expect(await page.locator('.message-body').allInnerTexts()).toEqual(['Said before', 'Said meanwhile']);
    await expectClean(visitor);
  });

  it('finds messages of all channels by their words, and leads to their channels', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Bakery');
    const { id: elsewhere } = await bob
      .rest('POST', '/channels', { name: 'Elsewhere', ownerId: bob.id })
      .expect<{ id: string }>(201);
    for (const [channel, content] of [
      [channelId, 'The sourdough is ready'],
      [channelId, 'Nothing of the kind'],
      [elsewhere, 'More sourdough'],
    ])
      await bob.rest('POST', '/messages', { channelId: channel, senderId: bob.id, content }).expect(201);
    await using visitor = await visitAs(ann, '/chat', PHONE);
    const { page } = visitor;
    const found = page.getByRole('list', { name: 'Found messages' }).getByRole('listitem');
    await page.getByLabel('Search messages').fill('DOUGH');
    await page.getByText('1 message', { exact: true }).waitFor();
    expect(await found.allInnerTexts()).toEqual([expect.stringMatching(/^Bakery[^]*: The sourdough is ready/)]);
    await page.getByLabel('Search messages').fill('rye');
    await page.getByText('No messages have these words.').waitFor();
    await page.getByLabel('Search messages').fill('dou');
    await found.getByRole('link').click();
    await page.getByRole('log').getByText('The sourdough is ready').waitFor();
    // on a phone a channel takes the place of the list
    expect(await page.getByLabel('Search messages').isVisible()).toBe(false);
    await expectClean(visitor);
  });

  it('leads from a found message to its place among others, and from there to the newest', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Quay');
    const say = (content: string) => bob.rest('POST', '/messages', { channelId, senderId: bob.id, content }).expect(201);
    for (let n = 1; n <= 95; n++) await say(n === 40 ? 'The tide turns' : `Line ${n}.`);
    await using visitor = await visitAs(ann, '/chat');
    const { page } = visitor;
    const log = page.getByRole('log');
    const line = (n: number) => log.getByText(`Line ${n}.`, { exact: true });
    await page.getByLabel('Search messages').fill('tide');
    await page.getByRole('list', { name: 'Found messages' }).getByRole('link').click();
    await log.getByText('The tide turns').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toContain('The tide turns');
    expect(await page.evaluate('document.activeElement.checkVisibility()')).toBe(true);
    expect([await line(15).count(), await line(64).count(), await line(65).count()]).toEqual([1, 1, 0]);
    // those in between were not seen
    await line(64).scrollIntoViewIfNeeded();
    await page.getByRole('link', { name: 'Chat 95 unread', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await line(1).waitFor();
    await page.getByRole('button', { name: 'Show later messages' }).click();
    await line(95).waitFor();
    await page.getByRole('button', { name: 'Show later messages' }).waitFor({ state: 'detached' });
    await say('Line 96.');
    await line(96).waitFor();
    await page.reload();
    await log.getByText('The tide turns').waitFor();
    await say('Line 97.');
    await page.getByRole('button', { name: '97 new messages' }).click();
    await line(97).waitFor();
    expect(await log.getByText('The tide turns').count()).toBe(0);
    await page.goBack();
    await log.getByText('The tide turns').waitFor();
    await page.getByLabel('Message', { exact: true }).fill('It does');
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await log.getByText('It does', { exact: true }).waitFor();
    await line(97).waitFor();
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

  it('lets one write on while a message is on its way, and sends all in order', async () => {
    const { ann, channelId } = await channelOfTwo('Lane');
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    // as on a slow line: what the page sends arrives later
    const held: (() => void)[] = [];
    await page.routeWebSocket(/messages\/listen/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((frame) =>
        String(frame).includes('message.create') ? held.push(() => server.send(frame)) : server.send(frame),
      );
    });
    await visitor.open(`/chat/${channelId}`);
    await visitor.signIn(ann.email);
    await page.getByText('Live', { exact: true }).waitFor();
    const composer = page.getByLabel('Message', { exact: true });
    await composer.pressSequentially('Hello');
    await composer.press('Enter');
    await composer.pressSequentially('how are');
    expect(await page.getByRole('log').getByText('Sending…').count()).toBe(1);
    expect(await offences(page)).toEqual([]);
    await composer.pressSequentially(' you');
    await composer.press('Enter');
    await composer.pressSequentially('today');
    await expect.poll(() => held.length).toBe(2);
    for (const send of held) send();
    await page.getByText('Sending…').first().waitFor({ state: 'detached' });
    expect(await page.locator('.message-body').allInnerTexts()).toEqual(['Hello', 'how are you']);
    expect(await composer.inputValue()).toBe('today');
    await expectClean(visitor);
  });

  it('keeps what is written in each channel, while one is elsewhere', async () => {
    const { ann, channelId } = await channelOfTwo('Pantry');
    await ann.rest('POST', '/channels', { name: 'Scullery', ownerId: ann.id }).expect(201);
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    const composer = page.getByLabel('Message', { exact: true });
    const go = async (name: RegExp) => {
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    };
    await composer.fill('Is there any flo');
    await go(/Scullery/);
    expect(await composer.inputValue()).toBe('');
    await composer.fill('Who washes up?');
    await go(/Pantry/);
    await composer.press('End');
    await composer.pressSequentially('ur?');
    await go(/Sessions/);
    await go(/^Chat/);
    await go(/Pantry/);
    expect(await composer.inputValue()).toBe('Is there any flour?');
    await composer.press('Enter');
    await page.getByRole('log').getByText('Is there any flour?').waitFor();
    await go(/Scullery/);
    expect(await composer.inputValue()).toBe('Who washes up?');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await visitor.signIn(ann.email);
    await composer.waitFor();
    expect(await composer.inputValue()).toBe('');
    await expectClean(visitor);
  });

  it('counts messages as unread while one reads earlier ones, and leads to them', async () => {
    const { ann, bob, channelId } = await channelOfTwo('Deck');
    const say = (content: string) => ann.rest('POST', '/messages', { channelId, senderId: ann.id, content }).expect(201);
    for (let n = 1; n <= 40; n++) await say(`Line ${n}.`);
    await using visitor = await visitAs(bob, `/chat/${channelId}`);
    const { page } = visitor;
    const isRead = (count: number) =>
      page.getByRole('link', { name: count === 0 ? 'Chat' : `Chat ${count} unread`, exact: true }).waitFor();
    await page.getByRole('log').getByText('Line 40.').waitFor();
    await isRead(0);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('log').getByText('Line 2.', { exact: true }).scrollIntoViewIfNeeded();
    // the page notices in the next frame
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await say('Line 41.');
    await isRead(1);
    await say('Line 42.');
    await isRead(2);
    expect(await offences(page)).toEqual([]);
    await page.getByRole('button', { name: '2 new messages' }).click();
    await isRead(0);
    expect(await page.getByRole('log').getByText('Line 42.').isVisible()).toBe(true);
    expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('log');
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED.chat)).toEqual([]));
});
