import { HAS_CHROMIUM, fixture, startTestServer, type Person } from '@tandem/testing';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { channelOfAnnAndBob, messageOf } from './chat-people.js';
import { offences, visit, expectClean, launchChromium, notCalled, visitSignedIn } from './chromium.js';
import { REACHED } from './reached.js';

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(!HAS_CHROMIUM)('writing in the chat (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);

  const visitAs = (person: Pick<Person, 'email'>, path: string, options?: BrowserContextOptions) =>
    visitSignedIn(browser, app, { person, path, options });

  /** Gives the composer a file from outside. */
  function hand(page: Page, type: 'paste' | 'drop', name: string): Promise<unknown> {
    const data = `const data = new DataTransfer(); data.items.add(new File(['fish'], '${name}', { type: 'text/plain' }));`;
    const event =
      type === 'paste'
        ? `new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })`
        : `new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })`;
    return page.evaluate(`(() => { ${data} document.querySelector('.composer textarea').dispatchEvent(${event}); })()`);
  }
  const textFile = (name: string, text = 'tea') => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

  it('sends several files with a message, which others see and download; files come and go later too', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Cargo');
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    const { page } = one;
    await page.getByLabel('Files', { exact: true }).setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: PICTURE },
      { name: 'list of cargo.txt', mimeType: 'text/plain', buffer: Buffer.from('tea') },
      { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('no tea') },
      { name: 'program.zip', mimeType: 'application/zip', buffer: Buffer.from('zip') },
    ]);
    one.allow('400');
    const drafts = page.getByRole('list', { name: 'Files to send' }).getByRole('listitem');
    await drafts.filter({ hasText: 'program.zip' }).getByText('Files of this kind cannot be sent.').waitFor();
    await drafts.filter({ hasText: 'list of cargo.txt' }).getByText('3 bytes').waitFor();
    await drafts.filter({ hasText: 'dot.png' }).locator('canvas:visible').waitFor();
    expect(await offences(page)).toEqual([]);
    await page.getByRole('button', { name: 'Remove program.zip' }).click();
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    await page.getByLabel('Message', { exact: true }).fill('What we have');
    await page.getByRole('button', { name: 'Send' }).click();
    const theirs = messageOf(other.page, 'What we have');
    await theirs.row.getByRole('img', { name: 'dot.png' }).waitFor();
    await expect.poll(() => other.page.evaluate("document.querySelector('.picture img')?.naturalWidth")).toBe(1);
    const download = other.page.waitForEvent('download');
    await theirs.row.getByRole('link', { name: /list of cargo\.txt 3 bytes/ }).click();
    expect((await download).suggestedFilename()).toBe('list of cargo.txt');
    await messageOf(page, 'What we have').choose('Edit');
    await page.getByRole('button', { name: 'Remove dot.png' }).click();
    await theirs.row.getByRole('img').waitFor({ state: 'detached' });
    await messageOf(page, 'list of cargo.txt')
      .row.getByLabel('Files', { exact: true })
      .setInputFiles({ name: 'more.txt', mimeType: 'text/plain', buffer: Buffer.from('more tea') });
    await theirs.row.getByRole('link', { name: /more\.txt 8 bytes/ }).waitFor();
    await theirs.row.getByRole('link', { name: /list of cargo\.txt 3 bytes/ }).waitFor();
    await expectClean(one);
    await expectClean(other);
  });

  it('takes files that are dropped and pasted, and sends them alone too', async () => {
    const { ann, channelId } = await channelOfAnnAndBob(app, 'Net');
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByLabel('Message', { exact: true }).waitFor();
    await hand(page, 'paste', 'pasted.txt');
    await hand(page, 'drop', 'dropped.txt');
    const drafts = page.getByRole('list', { name: 'Files to send' }).getByRole('listitem');
    await expect.poll(() => drafts.getByText('4 bytes').count()).toBe(2);
    await page.getByRole('button', { name: 'Send' }).click();
    const sent = messageOf(page, 'pasted.txt').row;
    await sent.getByRole('link', { name: /^dropped\.txt/ }).waitFor();
    expect(await sent.locator('.message-body').count()).toBe(0);
    await expectClean(visitor);
  });

  it('takes pasted files again once a mute has ended', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Brig');
    const { data } = await ann
      .rest('GET', `/subscriptions?channelId=${channelId}&subscribedId=${bob.id}`)
      .expect<{ data: { id: string }[] }>(200);
    const path = `/subscriptions/${data[0]?.id}`;
    await ann.rest('PATCH', path, { mutedUntil: '2999-01-01T00:00:00.000Z' }).expect(200);
    await using visitor = await visitAs(bob, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByText(/^You are muted here until/).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await ann.rest('PATCH', path, { mutedUntil: null }).expect(200);
    await page.getByLabel('Message', { exact: true }).waitFor();
    await hand(page, 'paste', 'freed.txt');
    await page.getByRole('list', { name: 'Files to send' }).getByText('freed.txt').waitFor();
    await expectClean(visitor);
  });

  it('adds in an edit the files before one that is refused, and keeps the names of all', async () => {
    const { ann, channelId } = await channelOfAnnAndBob(app, 'Crane');
    await using visitor = await visitAs(ann, `/chat/${channelId}`);
    const { page } = visitor;
    await page.getByLabel('Files', { exact: true }).setInputFiles(textFile('first.txt'));
    await page.getByLabel('Message', { exact: true }).fill('A load');
    await page.getByRole('button', { name: 'Send' }).click();
    const { choose } = messageOf(page, 'A load');
    await choose('Edit');
    const edited = page.getByRole('log').locator('form.edit');
    const choice = edited.getByLabel('Files', { exact: true });
    await choice.setInputFiles([textFile('unsent.txt'), textFile('empty.txt', '')]);
    await edited.getByText('empty.txt: It is empty.').waitFor();
    visitor.allow('400');
    await choice.setInputFiles([textFile('second.txt'), { ...textFile('program.zip'), mimeType: 'application/zip' }]);
    await edited.getByText('program.zip: Files of this kind cannot be sent.').waitFor();
    await edited.getByRole('button', { name: 'Cancel' }).click();
    const files = page.getByRole('log').getByRole('list', { name: 'Attached files' });
    expect(await files.getByRole('link').allInnerTexts()).toEqual([
      expect.stringContaining('first.txt'),
      expect.stringContaining('second.txt'),
    ]);
    await expectClean(visitor);
  });

  it('inserts a template of an organization that one manages, and keeps what is written as one', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Chart room');
    const organization = { name: `Harbour ${channelId}`, description: '', contact_email: 'a@example.org' };
    const { id: organizationId } = await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const greeting = { title: 'Greeting', content: 'Welcome on board!', organizationId };
    await ann.rest('POST', '/message-templates', greeting).expect(201);
    await using one = await visitAs(ann, `/chat/${channelId}`);
    await using other = await visitAs(bob, `/chat/${channelId}`);
    const { page } = one;
    const composer = page.getByLabel('Message', { exact: true });
    await composer.fill('Ahoy. ');
    await page.getByRole('button', { name: 'Templates' }).click();
    await page.getByRole('button', { name: /^Greeting/ }).click();
    await expect.poll(() => composer.inputValue()).toBe('Ahoy. Welcome on board!');
    await page.getByRole('button', { name: 'Templates' }).click();
    await page.getByLabel('Title').fill('Warm greeting');
    expect(await offences(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save as template' }).click();
    await page.getByRole('button', { name: 'Change Warm greeting' }).click();
    await page.getByLabel('Text').fill('Ahoy, and welcome!');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('button', { name: /^Warm greeting Ahoy, and welcome!/ }).waitFor();
    await page.getByRole('button', { name: 'Change Greeting' }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Change Greeting' }).waitFor({ state: 'detached' });
    await other.page.getByLabel('Message', { exact: true }).waitFor();
    expect(await other.page.getByRole('button', { name: 'Templates' }).count()).toBe(0);
    await expectClean(one);
    await expectClean(other);
  });

  it('keeps what the server has refused, to be tried again or discarded', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Reef');
    await using visitor = await visitAs(bob, `/chat/${channelId}`);
    const { page } = visitor;
    const send = async (text: string) => {
      await page.getByLabel('Message', { exact: true }).fill(text);
      await page.getByLabel('Message', { exact: true }).press('Enter');
    };
    await page.getByLabel('Message', { exact: true }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    // the page hears of the mute, so that what it has before is sent at once
    const members = await ann
      .rest('GET', `/subscriptions?channelId=${channelId}&subscribedId=${bob.id}`)
      .expect<{ data: { id: string }[] }>(200);
    const path = `/subscriptions/${members.data[0]?.id}`;
    await page.getByLabel('Message', { exact: true }).fill('x');
    await page.route('**/trpc/**', (route) => route.abort());
    visitor.allow('ERR_FAILED');
    await ann.rest('PATCH', path, { mutedUntil: '2999-01-01T00:00:00.000Z' }).expect(200);
    // a membership is known for a second
    app.clock.advance(1100);
    await send('One');
    await page.getByText('Not sent. Identity is muted in the channel').waitFor();
    await send('Two');
    await expect.poll(() => page.getByRole('button', { name: 'Discard' }).count()).toBe(2);
    expect(await offences(page)).toEqual([]);
    await page.getByRole('button', { name: 'Discard' }).first().click();
    await ann.rest('PATCH', path, { mutedUntil: null }).expect(200);
    app.clock.advance(1100);
    await expect
      .poll(async () => {
        if ((await page.getByRole('button', { name: 'Try again' }).count()) > 0)
          await page.getByRole('button', { name: 'Try again' }).first().click();
        return page.locator('.message:not(.message-refused, .message-sending)').count();
      })
      .toBe(1);
    await messageOf(page, 'Two').row.waitFor();
    expect(await page.getByText('One', { exact: true }).count()).toBe(0);
    await expectClean(visitor);
  });

  it('loses nothing of what is typed where all takes 120 ms', async () => {
    const { ann, bob, channelId } = await channelOfAnnAndBob(app, 'Longitude');
    await using visitor = await visit(browser, app);
    const { page } = visitor;
    const late = () => new Promise((resolve) => setTimeout(resolve, 120));
    await page.route('**/trpc/**', async (route) => {
      await late();
      await route.continue();
    });
    await page.routeWebSocket(/listen/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage(async (message) => {
        await late();
        server.send(message);
      });
      server.onMessage(async (message) => {
        await late();
        socket.send(message);
      });
    });
    await visitor.open(`/chat/${channelId}`);
    await visitor.signIn(ann.email);
    const composer = page.getByLabel('Message', { exact: true });
    const lines = Array.from({ length: 5 }, (_, n) => `Line ${n} of a long letter, @Bob Baker`);
    const answering = (async () => {
      for (let n = 0; n < 10; n++)
        await bob.rest('POST', '/messages', { channelId, senderId: bob.id, content: `Answer ${n}` }).expect(201);
    })();
    for (const line of lines) {
      await composer.pressSequentially(line);
      await composer.press('Escape');
      await composer.press('Enter');
    }
    await answering;
    await page.getByText('Sending…').first().waitFor({ state: 'detached' });
    await page.getByRole('log').getByText('Answer 9').waitFor();
    const said = await page.locator('.message-body').allInnerTexts();
    expect(said.filter((text) => text.startsWith('Line'))).toEqual(lines);
    await expectClean(visitor);
  });

  it('come to their operations', () => expect(notCalled(REACHED['chat-writing'])).toEqual([]));
});
