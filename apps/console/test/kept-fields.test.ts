import { HAS_CHROMIUM, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { expectClean, launchChromium, turnTo, visitSignedIn } from './chromium.js';

const FIELDS = [
  ['/products', 'q'],
  ['/catalogue', 'words'],
] as const;

describe.skipIf(!HAS_CHROMIUM)('a search that the address keeps (skipped where there is no chromium)', () => {
  const app = fixture(startTestServer);
  const browser = fixture(launchChromium);
  const admin = fixture(() => app.signUpAdmin());

  it.each(FIELDS)('of %s is typed where the cursor is, and follows the address', async (path, name) => {
    await using visitor = await visitSignedIn(browser, app, { person: admin, path });
    const { page } = visitor;
    const search = page.getByRole('main').getByLabel('Search', { exact: true });
    const inAddress = () => new URL(page.url()).searchParams.get(name);
    await search.fill('tea');
    await search.press('ArrowLeft');
    await page.keyboard.type('XY');
    expect(await search.inputValue()).toBe('teXYa');
    await expect.poll(inAddress).toBe('teXYa');
    await turnTo(page, `${path}?${name}=coffee`);
    await expect.poll(() => search.inputValue()).toBe('coffee');
    await expectClean(visitor);
  });

  it.each(FIELDS)('of %s takes the word of an input method once it is written', async (path, name) => {
    await using visitor = await visitSignedIn(browser, app, { person: admin, path });
    const { page } = visitor;
    const search = page.getByRole('main').getByLabel('Search', { exact: true });
    const inAddress = () => new URL(page.url()).searchParams.get(name);
    await search.focus();
    const method = await page.context().newCDPSession(page);
    const sent: (string | null)[] = [];
    page.on('framenavigated', () => sent.push(inAddress()));
    for (const text of ['o', 'おc', 'おちゃ'])
      await method.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
    expect(await search.inputValue()).toBe('おちゃ');
    await method.send('Input.insertText', { text: 'お茶' });
    await expect.poll(inAddress).toBe('お茶');
    expect(await search.inputValue()).toBe('お茶');
    expect(new Set(sent)).toEqual(new Set(['お茶']));
    await expectClean(visitor);
  });
});
