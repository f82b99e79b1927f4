import { HAS_CHROMIUM, fixture, startTestServer, type Person } from '@tandem/testing';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { channelOfAnnAndBob, messageOf } from './chat-people.js';
import { PHONE, offences, expectClean, launchChromium, notCalled, visitSignedIn } from './chromium.js';
import { REACHED } from './reached.js';

describe.skipIf(!HAS_CHROMIUM)('a message in the chat (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  const visitAs = (person: Pick<Person, 'email'>, path: string, options?: BrowserContextOptions) =>
    visitSignedIn(browser, app, { person, path, options });

  it('is reacted to by a click, which others see, and again to take it back', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Jetty');
    await say(bob, 'The boat is in');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    const message = messageOf(one.page, 'The boat is in');
    await message.press('Add a reaction');
    expect(await offences(one.page)).toEqual([]);
    await one.page.getByRole('button', { name: 'Party' }).click();
    const theirs = messageOf(other.page, 'The boat is in');
    await theirs.row.getByRole('button', { name: '🎉 1', pressed: false }).click();
    await message.row.getByRole('button', { name: '🎉 2', pressed: true }).click();
    await theirs.row.getByRole('button', { name: '🎉 1', pressed: true }).waitFor();
    await message.press('Add a reaction');
    await one.page.getByLabel('Another emoji, or a word').fill('ship-it');
    await one.page.getByLabel('Another emoji, or a word').press('Enter');
    await theirs.row.getByRole('button', { name: 'ship-it 1' }).waitFor();
    await theirs.row.getByRole('button', { name: '🎉 1' }).click();
    await message.row.getByRole('button', { name: '🎉 1' }).waitFor({ state: 'detached' });
    await message.press('Add a reaction');
    await one.page.getByLabel('Another emoji, or a word').fill('Two words');
    one.allow('400');
    await one.page.getByLabel('Another emoji, or a word').press('Enter');
    await message.row.getByText(/must be one emoji, or a word/).waitFor();
    expect(await message.row.getByRole('button', { name: 'Two words' }).count()).toBe(0);
    await expectClean(one);
    await expectClean(other);
  });

  it('is answered with the message beside it, and in a thread beside the conversation', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Slipway');
    await say(bob, 'Who has the key?');
    await say(bob, 'The kettle is on');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`, PHONE);
    await messageOf(one.page, 'Who has the key?').press('Reply');
    const composer = one.page.getByLabel('Message', { exact: true });
    await composer.and(one.page.locator(':focus')).waitFor();
    await composer.pressSequentially('I have it');
    await composer.press('Enter');
    const reply = messageOf(other.page, 'I have it');
    await reply.row.getByRole('button', { name: 'Answers You: Who has the key?' }).waitFor();
    await messageOf(other.page, 'Who has the key?').row.getByRole('button', { name: '1 reply' }).click();
    const thread = other.page.getByRole('complementary', { name: 'Thread' });
    await thread.getByRole('log').getByText('I have it').waitFor();
    expect(await offences(other.page)).toEqual([]);
    await thread.getByLabel('Reply', { exact: true }).fill('Bring it, please');
    await thread.getByRole('button', { name: 'Send' }).click();
    await messageOf(other.page, 'Bring it, please', { within: /^Replies/ }).row.waitFor();
    await messageOf(one.page, 'Who has the key?').row.getByRole('button', { name: '2 replies' }).click();
    await messageOf(one.page, 'Bring it, please', { within: /^Replies/ }).row.waitFor();
    expect(await offences(one.page)).toEqual([]);
    await one.page.keyboard.press('Escape');
    await one.page.getByRole('complementary').waitFor({ state: 'detached' });
    await messageOf(one.page, 'I have it')
      .row.getByRole('button', { name: /^Answers Bob Baker/ })
      .click();
    await one.page.locator('.message:focus', { hasText: 'Who has the key?' }).waitFor();
    await expectClean(one);
    await expectClean(other);
  });

  it('shows in its thread replies that come while the thread is loaded for the first time, by one more load', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Gangway');
    const { id: replyToId } = await say(bob, 'Who is aboard?');
    await say(bob, 'I am', { replyToId });
    await using one = await visitAs(ann, `/chat/${channelId}`);
    const { page } = one;
    let letGo = () => {};
    const isFree = new Promise<void>((resolve) => (letGo = resolve));
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(...(request.url().match(/chat\.listReplies/g) ?? [])));
    let isFirst = true;
    const answered = new Promise<void>((resolve) => {
      void page.route(/chat\.listReplies/, async (route) => {
        if (!isFirst) return route.continue();
        isFirst = false;
        const response = await route.fetch();
        resolve();
        await isFree;
        return route.fulfill({ response });
      });
    });
    await messageOf(page, 'Who is aboard?').row.getByRole('button', { name: '1 reply' }).click();
    await answered;
    for (const content of ['So is Cid', 'So am I']) await say(bob, content, { replyToId });
    await messageOf(page, 'So am I').row.waitFor();
    letGo();
    await messageOf(page, 'So am I', { within: /^Replies/ }).row.waitFor();
    expect(asked).toHaveLength(2);
    await expectClean(one);
  });

  it('has as many replies in its thread as beside the conversation, whether or not all are loaded', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Lighthouse');
    const { id: replyToId, seq } = await say(bob, 'Who is on watch?');
    for (let n = 1; n <= 101; n++) await say(bob, `Answer ${n}`, { replyToId });
    await using visitor = await visitAs(ann, `/chat/${channelId}?at=${seq}`);
    const { page } = visitor;
    const thread = page.getByRole('complementary', { name: 'Thread' });
    await page.getByRole('button', { name: '101 replies' }).first().click();
    await thread.getByText('101 replies').waitFor();
    await thread.getByRole('button', { name: 'Show earlier replies' }).click();
    await thread.getByText('Answer 1', { exact: true }).waitFor();
    // as when the window is looked at again
    await page.evaluate('dispatchEvent(new Event("visibilitychange"))');
    await page.waitForLoadState('networkidle');
    await thread.getByText('Answer 1', { exact: true }).waitFor();
    await expectClean(visitor);
  });

  it('names a member, whom the composer offers, and who sees it stand out', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Galley');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    const composer = one.page.getByLabel('Message', { exact: true });
    await composer.pressSequentially('Thank you, @ba');
    await one.page.getByRole('option', { name: 'Bob Baker', selected: true }).waitFor();
    expect(await offences(one.page)).toEqual([]);
    await composer.press('Enter');
    expect(await composer.inputValue()).toBe('Thank you, @Bob Baker ');
    await composer.pressSequentially('for the bread');
    await composer.press('Enter');
    await messageOf(one.page, 'for the bread').row.locator('.mention', { hasText: '@Bob Baker' }).waitFor();
    await messageOf(other.page, 'for the bread').row.locator('.mention-own', { hasText: '@Bob Baker' }).waitFor();
    await other.page.getByRole('link', { name: 'Notifications 1 unread' }).click();
    await other.page.getByRole('listitem').filter({ hasText: 'You were mentioned in a message' }).getByRole('link').click();
    await other.page.locator('.message-found', { hasText: 'for the bread' }).waitFor();
    await expectClean(one);
    await expectClean(other);
  });

  it('names nobody whose name only begins a longer word', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Mast');
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    const composer = page.getByLabel('Message', { exact: true });
    for (const [more, mentions] of [
      ['y is tall', []],
      [', come up', [bob.id]],
    ] as const) {
      await composer.pressSequentially('@ba');
      await page.getByRole('option', { name: 'Bob Baker', selected: true }).waitFor();
      await composer.press('Enter');
      await composer.press('Backspace');
      await composer.pressSequentially(more);
      await composer.press('Enter');
      await messageOf(page, more).row.waitFor();
      const { data } = await ann
        .rest('GET', `/messages?channelId=${channelId}`)
        .expect<{ data: { content: string; mentions: string[] }[] }>(200);
      expect(data.find(({ content }) => content.endsWith(more))?.mentions).toEqual(mentions);
    }
    await expectClean(visitor);
  });

  it('is changed in its place, which says so and keeps the earlier texts, and is deleted after a question', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Locker');
    await say(ann, 'Low tide at fife');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    await messageOf(one.page, 'Low tide').choose('Edit');
    // nothing of one's own is new
    expect(await one.page.locator('.log-new').count()).toBe(0);
    await one.page.getByLabel('Change the message').fill('Low tide at five');
    expect(await offences(one.page)).toEqual([]);
    await one.page.getByLabel('Change the message').press('Enter');
    const theirs = messageOf(other.page, 'Low tide at five');
    await theirs.row.getByRole('button', { name: 'edited' }).click();
    await other.page.getByRole('dialog', { name: 'Earlier texts' }).getByText('Low tide at fife').waitFor();
    expect(await offences(other.page)).toEqual([]);
    await other.page.keyboard.press('Escape');
    await other.page.getByRole('dialog').waitFor({ state: 'detached' });
    // the arrow up changes the last own one
    await one.page.getByLabel('Message', { exact: true }).press('ArrowUp');
    await one.page.getByLabel('Change the message').press('Escape');
    await messageOf(one.page, 'Low tide').choose('Delete…');
    await one.page.getByRole('dialog', { name: 'Delete this message?' }).getByRole('button', { name: 'Delete' }).click();
    await theirs.row.waitFor({ state: 'detached' });
    await one.page.getByText('No messages yet').waitFor();
    await expectClean(one);
    await expectClean(other);
  });

  it('is pinned by the owner, found among the pinned ones, and unpinned', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Mast');
    await say(bob, 'The code is 4711');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    await messageOf(one.page, 'The code').choose('Pin');
    await other.page.getByRole('button', { name: '1 pinned' }).click();
    const panel = other.page.getByRole('complementary', { name: 'Pinned messages' });
    await panel.getByText('The code is 4711').waitFor();
    expect(await panel.getByRole('button', { name: 'Unpin' }).count()).toBe(0);
    expect(await offences(other.page)).toEqual([]);
    await panel.getByRole('button', { name: 'Show in conversation' }).click();
    await other.page.locator('.message:focus', { hasText: 'The code' }).waitFor();
    await messageOf(one.page, 'The code').choose('Unpin');
    await panel.getByText('Nothing is pinned').waitFor();
    await expectClean(one);
    await expectClean(other);
  });

  it('has a link to copy, and is reported with a reason, which admins see and decide', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Bilge');
    const { seq } = await say(bob, 'Buy my watches');
    const admin = await app.signUpAdmin();
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await one.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const message = messageOf(one.page, 'Buy my watches');
    // as on a page without TLS
    await one.page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })');
    await message.choose('Copy link');
    await message.row.getByText('The browser does not let this page copy.').waitFor();
    await one.page.evaluate('delete navigator.clipboard');
    await message.choose('Copy link');
    await expect
      .poll(() => one.page.evaluate('navigator.clipboard.readText()'))
      .toBe(`${app.url}/console/chat/${channelId}?at=${seq}`);
    await message.choose('Report…');
    await one.page.getByLabel('What is wrong with it?').fill('Advertising');
    expect(await offences(one.page)).toEqual([]);
    await one.page.getByRole('button', { name: 'Report', exact: true }).click();
    await one.page.getByText('The admins have been told.').waitFor();
    await using other = await visitAs(admin, '/chat');
    await other.page.getByRole('button', { name: 'Reported messages' }).click();
    const report = other.page.getByRole('dialog').getByRole('listitem').filter({ hasText: 'Buy my watches' });
    await report.getByText('Advertising').waitFor();
    expect(await offences(other.page)).toEqual([]);
    await report.getByRole('button', { name: 'Resolved' }).click();
    await report.waitFor({ state: 'detached' });
    await expectClean(one);
    await expectClean(other);
  });

  it('is answered by the keyboard alone', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Rudder');
    await say(bob, 'First');
    await say(bob, 'Second');
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByRole('log').getByText('Second').waitFor();
    await page.getByRole('log').focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.locator('.message:focus', { hasText: 'First' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Reply', exact: true }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel('Message', { exact: true }).and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Aye');
    await page.keyboard.press('Enter');
    await messageOf(page, 'Aye').row.getByRole('button', { name: 'Answers Bob Baker: First' }).waitFor();
    // a menu: arrow keys go through it, and Escape gives the focus back
    await page.getByRole('log').focus();
    await page.keyboard.press('ArrowUp');
    for (let n = 0; n < 4; n++) await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'More actions' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('menuitem', { name: 'Edit' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More actions' }).and(page.locator(':focus')).waitFor();
    await expectClean(visitor);
  });

  it('that came while one was away is below a line that says so', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Porthole');
    await say(ann, 'Seen');
    await using visitor = await visitAs(bob, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByRole('log').getByText('Seen').waitFor();
    await page.getByRole('link', { name: 'Chat', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await say(ann, 'Missed');
    await page.getByRole('link', { name: 'Chat 1 unread' }).click();
    await page.getByRole('link', { name: /Porthole/ }).click();
    await page.locator('.log-new + .message', { hasText: 'Missed' }).waitFor();
    await page.getByRole('link', { name: 'Chat', exact: true }).waitFor();
    expect(await page.locator('.log-new').count()).toBe(1);
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED['chat-messages'])).toEqual([]));
});
