import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { messageOf, personCalled } from './chat-people.js';
import { offences, expectClean, launchChromium, notCalled, visitSignedIn } from './chromium.js';
import { REACHED } from './reached.js';

describe.skipIf(!HAS_CHROMIUM)('an admin in the chat (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  it('restores messages, templates and channels', async () => {
    const admin = await app.signUpAdmin();
    const { id: channelId } = await admin
      .rest('POST', '/channels', { name: 'Vault', ownerId: admin.id })
      .expect<{ id: string }>(201);
    await admin.rest('POST', '/messages', { channelId, senderId: admin.id, content: 'Do not lose this' }).expect(201);
    await admin.rest('POST', '/message-templates', { title: 'For all', content: 'Good morning!' }).expect(201);
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: `/chat/${channelId}` });
    const { page } = visitor;
    const confirm = () => page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    const restore = () => page.getByRole('button', { name: 'Restore' }).click();

    const message = messageOf(page, 'Do not lose this');
    await message.choose('Delete…');
    await confirm();
    await message.row.waitFor({ state: 'detached' });
    expect(await offences(page)).toEqual([]);
    await restore();
    await message.row.waitFor();
    await page.getByText('The message was deleted.').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Templates' }).click();
    await page.getByRole('button', { name: 'Change For all' }).click();
    await confirm();
    await page.getByText('None yet').waitFor();
    await restore();
    await page.getByRole('button', { name: /^For all Good morning!/ }).click();
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('Good morning!');

    await page.getByRole('button', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Delete the channel' }).click();
    await confirm();
    await page.getByText('The channel was deleted.').waitFor();
    expect(await offences(page)).toEqual([]);
    await restore();
    await page.getByRole('link', { name: /Vault/ }).click();
    await message.row.waitFor();
    await expectClean(visitor);
  });

  it('finds anybody by name or address', async () => {
    const admin = await app.signUpAdmin();
    const dora = await app.signUp();
    await personCalled(app, 'Eve Early');
    await using visitor = await visitSignedIn(browser, app, { person: admin, path: '/chat' });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Message somebody' }).click();
    await page.getByLabel('Whom?').fill('Eve');
    await page.getByRole('button', { name: 'Message Eve Early' }).waitFor();
    await page.getByLabel('Whom?').fill(dora.email.slice(0, 8));
    await page.getByRole('button', { name: `Message ${dora.email}` }).click();
    await page.getByRole('heading', { name: dora.email, level: 1 }).waitFor();
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED['chat-admin'])).toEqual([]));
});
