import { HAS_CHROMIUM, fixture, openStream, startTestServer, type Person } from '@tandem/testing';
import type { BrowserContextOptions } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { channelOfAnnAndBob, chooseFor, messageOf, personCalled } from './chat-people.js';
import { PHONE, offences, expectClean, interruptible, launchChromium, notCalled, visitSignedIn } from './chromium.js';
import { REACHED } from './reached.js';

describe.skipIf(!HAS_CHROMIUM)('the members of a channel (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  const visitAs = (person: Pick<Person, 'email'>, path: string, options?: BrowserContextOptions) =>
    visitSignedIn(browser, app, { person, path, options });

  it('are not shown as online where they may have left while the page was away', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Quay');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    const { page } = one;
    const { leave, comeBack } = await interruptible(page, /messages\/listen/);
    await page.getByText('Live', { exact: true }).waitFor();
    await using other = await visitAs(bob, `/chat/${channelId}`);
    await page.getByRole('button', { name: 'Members' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Bob Baker' });
    await row.getByText('online').waitFor();
    await leave();
    await other.close();
    await row.getByText('online').waitFor({ state: 'detached' });
    comeBack();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await row.getByText('online').count()).toBe(0);
    await expectClean(one);
  });

  it('are not shown as online for what they read elsewhere, nor where the reader cannot see them leave', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Pier');
    const { id: dock } = await bob.rest('POST', '/channels', { name: 'Dock', ownerId: bob.id }).expect<{ id: string }>(201);
    const { id: membership } = await bob
      .rest('POST', '/subscriptions', { channelId: dock, subscribedId: ann.id })
      .expect<{ id: string }>(201);
    const { id: lastReadMessageId } = await say(ann, 'Is anybody there?');
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    const { said } = await interruptible(page, /messages\/listen/);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Members' }).click();
    const row = page.getByRole('listitem').filter({ hasText: 'Bob Baker' });
    await row.waitFor();
    await bob.rest('PUT', `/channels/${channelId}/read-state`, { identityId: bob.id, lastReadMessageId }).expect(204);
    await said('"type":"read"');
    await say(bob, 'By REST');
    await page.getByRole('log').getByText('By REST').waitFor();
    expect(await row.getByText('online').count()).toBe(0);
    await using elsewhere = await openStream(app.url, '/messages/listen', bob.credentials);
    elsewhere.send({ type: 'subscribe', channelId: dock });
    await row.getByText('online').waitFor();
    await ann.rest('DELETE', `/subscriptions/${membership}`).expect(204);
    await row.getByText('online').waitFor({ state: 'detached' });
    await expectClean(visitor);
  });

  it('become moderators, who may delete and pin, and ordinary members again', async () => {
    const { ann, bob, channelId, say } = await channelOfAnnAndBob(app, 'Bridge');
    const cem = await personCalled(app, 'Cem Cook');
    await ann.rest('POST', '/subscriptions', { channelId, subscribedId: cem.id }).expect(201);
    await say(cem, 'Nonsense');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    await one.page.getByRole('button', { name: 'Members' }).click();
    await chooseFor(one.page, 'Bob Baker', 'Make moderator');
    const row = one.page.getByRole('listitem').filter({ hasText: 'Bob Baker' });
    await row.getByText('moderator').waitFor();
    await row.getByText('online').waitFor();
    expect(await offences(one.page)).toEqual([]);
    await expect
      .poll(async () => {
        const message = messageOf(other.page, 'Nonsense');
        await message.row.hover();
        await message.row.getByRole('button', { name: 'More actions' }).click();
        const items = await other.page.getByRole('menuitem').allInnerTexts();
        await other.page.keyboard.press('Escape');
        return items;
      })
      .toContain('Pin');
    await messageOf(other.page, 'Nonsense').choose('Delete…');
    await other.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await messageOf(one.page, 'Nonsense').row.waitFor({ state: 'detached' });
    await chooseFor(one.page, 'Bob Baker', 'Make ordinary member');
    await one.page.getByText('moderator').waitFor({ state: 'detached' });
    await expectClean(one);
    await expectClean(other);
  });

  it('are muted until a time, which they are told, and may write again', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Hammock');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`, PHONE);
    await other.page.getByLabel('Message', { exact: true }).fill('But I was about to');
    await one.page.getByRole('button', { name: 'Members' }).click();
    await chooseFor(one.page, 'Bob Baker', 'Mute…');
    // Escape closes the dialog, not the panel behind it
    await one.page.keyboard.press('Escape');
    await one.page.getByRole('dialog').waitFor({ state: 'detached' });
    await chooseFor(one.page, 'Bob Baker', 'Mute…');
    await one.page.getByLabel('How long?').selectOption('One day');
    expect(await offences(one.page)).toEqual([]);
    await one.page.getByRole('button', { name: 'Mute', exact: true }).click();
    await one.page.getByRole('listitem').filter({ hasText: 'Bob Baker' }).getByText('muted').waitFor();
    await other.page.getByText(/^You are muted here until/).waitFor();
    expect(await offences(other.page)).toEqual([]);
    await chooseFor(one.page, 'Bob Baker', 'Let write again');
    await other.page.getByLabel('Message', { exact: true }).waitFor();
    expect(await other.page.getByLabel('Message', { exact: true }).inputValue()).toBe('But I was about to');
    await expectClean(one);
    await expectClean(other);
  });

  it('are banned, which takes the channel from them, and come back once the ban is lifted', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Plank');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    await other.page.getByRole('log').waitFor();
    await one.page.getByRole('button', { name: 'Members' }).click();
    await chooseFor(one.page, 'Bob Baker', 'Ban…');
    await one.page.getByLabel('How long?').selectOption('For good');
    await one.page.getByRole('button', { name: 'Ban', exact: true }).click();
    await one.page.getByRole('region', { name: 'Banned' }).getByText('Bob Baker').waitFor();
    await other.page.getByText('You are not in this channel').waitFor();
    expect(await offences(one.page)).toEqual([]);
    await one.page.getByRole('button', { name: 'Lift the ban of Bob Baker' }).click();
    await one.page.getByRole('region', { name: 'Banned' }).waitFor({ state: 'detached' });
    await one.page.getByRole('button', { name: 'Add members' }).click();
    await one.page.getByLabel('Who is to join?').fill(bob.id);
    await one.page.getByRole('button', { name: /^Add Member|^Add Bob Baker/ }).click();
    await other.page.getByRole('log').waitFor();
    await one.page.getByRole('region', { name: 'Members', exact: true }).getByText('Bob Baker').waitFor();
    await chooseFor(one.page, 'Bob Baker', 'Remove…');
    await one.page.getByRole('button', { name: 'Remove', exact: true }).click();
    await other.page.getByText('You are not in this channel').waitFor();
    await expectClean(one);
    await expectClean(other);
  });

  it('open a channel of two, which is called by the other', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Cabin');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, '/chat');
    await one.page.getByRole('button', { name: 'Members' }).click();
    await chooseFor(one.page, 'Bob Baker', 'Message');
    await one.page.getByRole('heading', { name: 'Bob Baker', level: 1 }).waitFor();
    await one.page.getByLabel('Message', { exact: true }).fill('Between us');
    await one.page.getByLabel('Message', { exact: true }).press('Enter');
    await other.page.getByRole('link', { name: /Ann Archer.*1 unread.*Between us/ }).click();
    await other.page.getByRole('log', { name: 'Messages in Ann Archer' }).getByText('Between us').waitFor();
    expect(await offences(other.page)).toEqual([]);
    // from the list, it is the same channel
    await one.page.getByRole('button', { name: 'Message somebody' }).click();
    await one.page.getByLabel('Whom?').fill('bob');
    expect(await offences(one.page)).toEqual([]);
    await one.page.getByRole('button', { name: 'Message Bob Baker' }).click();
    await one.page.getByRole('log').getByText('Between us').waitFor();
    await expectClean(one);
    await expectClean(other);
  });

  it('rename the channel and give it a picture, if they own it; others join it by its link, leave it, and lose it', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Dingy');
    const cem = await personCalled(app, 'Cem Cook');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    await using third = await visitAs(cem, `/chat/${channelId}`);
    await third.page.getByText('You are not in this channel').waitFor();
    await one.page.getByRole('button', { name: 'Members' }).click();
    await one.page.getByLabel('Name', { exact: true }).fill('Dinghy');
    await one.page.getByLabel('Anybody may join').check();
    await one.page.getByRole('button', { name: 'Save' }).click();
    await other.page.getByRole('heading', { name: 'Dinghy', level: 1 }).waitFor();
    const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="teal"/></svg>';
    await one.page
      .getByLabel('Picture of the channel')
      .setInputFiles({ name: 'icon.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(picture) });
    await other.page.locator('.channel img.avatar').waitFor();
    await third.page.getByRole('button', { name: 'Join' }).click();
    await third.page.getByRole('heading', { name: 'Dinghy', level: 1 }).waitFor();
    await one.page.getByRole('region', { name: 'Members', exact: true }).getByText('Cem Cook').waitFor();
    await third.page.getByRole('button', { name: 'Members' }).click();
    expect(await offences(third.page)).toEqual([]);
    await third.page.getByRole('button', { name: 'Leave the channel' }).click();
    await third.page.getByRole('button', { name: 'Leave', exact: true }).click();
    await third.page.getByText('No channels yet').waitFor();
    await one.page.getByRole('button', { name: 'Delete the channel' }).click();
    await one.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await other.page.getByText('No channels yet').waitFor();
    await expectClean(one);
    await expectClean(other);
    await expectClean(third);
  });

  it('come to their operations', () => expect(notCalled(REACHED['chat-moderation'])).toEqual([]));
});
