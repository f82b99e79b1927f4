import { fixture } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openMailFixture } from '../../test/mail-fixture.js';
import { readableOn, textOn } from './contrast.js';
import type { MailSettings } from './queued-mail.js';

const system = fixture(() => openMailFixture('mail_look'));

/** The HTML of a mail with a link, sent with these settings. */
async function sentWith(settings: MailSettings): Promise<string> {
  const { mails } = await system.start(settings);
  const to = `${crypto.randomUUID()}@example.org`;
  mails.prepareWith(async () => ({ to, token: 'a-token' }));
  await mails.enqueue([{ template: 'reset-password', to }]);
  await mails.work();
  return (await system.server.next(to)).html;
}

describe('a mail', () => {
  it('begins with the name of its sender, as text', async () => {
    const html = await sentWith({ from: '"Rye & Salt" <shop@example.org>' });
    expect(html).toContain('>Rye &amp; Salt</p>');
    expect(html).not.toContain('<img');
  });

  it('begins with nothing when its sender is an address alone', async () => {
    expect(await sentWith({ from: 'shop@example.org' })).not.toContain('font-weight:700');
  });

  it('shows the logo instead, with the name for who does not load it', async () => {
    const html = await sentWith({ from: 'Rye <shop@example.org>', logoUrl: 'https://example.org/logo.png?a=1&b="2"' });
    expect(html).toContain('<img src="https://example.org/logo.png?a=1&amp;b=&quot;2&quot;" alt="Rye"');
  });

  it('has buttons and links in the given color, in shades that can be read in light and dark mode', async () => {
    const html = await sentWith({ color: '#ffcc00' });
    expect(html).toContain('background:#ffcc00;color:#000000');
    expect(html).toMatch(new RegExp(`class="link"[^>]+color:${readableOn('#ffffff', '#ffcc00')}"`));
    expect(html).toContain('.link { color: #ffcc00 !important }');
  });

  it('has texts in dark mode that can be read there', async () => {
    const html = await sentWith({ color: '#1f4fd8' });
    const [, dark = ''] = /prefers-color-scheme: dark\) \{([^]+?)\n\}\n/.exec(html) ?? [];
    const colors = new Map(
      [...dark.matchAll(/\.(\w+) \{ (?:color|background): (#\w{6})/g)].map(([, name, color]) => [name, color]),
    );
    for (const name of ['text', 'small', 'link']) {
      expect(html).toMatch(new RegExp(`class="${name}"[^>]+color:`));
      const color = colors.get(name) ?? '';
      expect(readableOn(colors.get('page') ?? '', color), name).toBe(color);
    }
  });

  it('does not grow wider than a phone by the address of its link', async () => {
    expect(await sentWith({})).toMatch(/class="link"[^>]+overflow:hidden;text-overflow:ellipsis;[^">]*word-break:break-all/);
  });
});

it.each([
  ['a color that is none', { color: 'blue' }, 'mail.color must be #rrggbb'],
  ['a color with more behind it', { color: '#ffcc00;x:y' }, 'mail.color must be #rrggbb'],
  ['a logo in a script', { logoUrl: 'javascript:alert(1)' }, 'mail.logoUrl must be an http or https address'],
])('%s is refused at start', async (_, settings, message) => {
  await expect(system.start(settings)).rejects.toThrow(message);
});

describe('colors', () => {
  it.each([
    ['#ffffff', '#1f4fd8', '#1f4fd8'],
    ['#ffffff', '#000000', '#000000'],
    ['#16181d', '#ffffff', '#ffffff'],
    // 4.5:1 is reached by the first that is dark, or light, enough
    ['#ffffff', '#ffffff', '#737373'],
    ['#000000', '#000000', '#7f7f7f'],
  ])('readable on %s: %s becomes %s', (background, color, shade) => {
    expect(readableOn(background, color)).toBe(shade);
  });

  it.each([
    ['#1f4fd8', '#ffffff'],
    ['#ffcc00', '#000000'],
    ['#777777', '#000000'],
    ['#747474', '#ffffff'],
  ])('text on %s is %s', (color, text) => {
    expect(textOn(color)).toBe(text);
  });
});
