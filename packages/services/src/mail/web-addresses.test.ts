import { describe, expect, it } from 'vitest';
import { withoutWebAddresses } from './web-addresses.js';

describe('of a name in a mail', () => {
  it.each([
    'https://evil.example/login',
    'HTTP://EVIL',
    'http:/evil',
    'ftp:evil',
    'myapp://open',
    'javascript:alert(1)',
    'mailto:x',
    'www.evil',
    'WWW2.evil',
    'evil.com',
    'Evil.COM',
    '(evil.com)',
    'evil.com.',
    'evil.com/path?x=1',
    'evil.com:8080',
    'evil.com-foo',
    'a.evil.co.uk',
    'you@evil.com',
    '"evil.com"',
    'free:evil.com',
    'evil。com',
    'evil．com',
    'evil｡com',
    'ｅｖｉｌ.ｃｏｍ',
    'evil\u200b.com',
    'ev\u00adil.c\u200dom',
    'evil\u202e.com',
    'пример.рф',
    'xn--e1afmkfd.xn--p1ai',
    'bit.ly',
    '192.168.0.1/login',
    'evil.com\u0000x',
  ])('%j is left out', (word) => {
    expect(withoutWebAddresses(word)).not.toMatch(/\S*[.。．｡:/]\S*/);
    expect(withoutWebAddresses(`Bank ${word} login`)).toMatch(/^Bank .*login$/);
    expect(withoutWebAddresses(`Bank ${word} login`)).not.toContain('evil.');
  });

  it.each([
    'Dr. Who & Söhne GmbH',
    'St.Gallen Bäckerei',
    'Version 2.0',
    'Team: Rot',
    'A/B Testing',
    'J.R.R. Tolkien Society',
    'Wwwonders',
    'Kiosk 24/7',
    'パン屋 一号店。',
    'Bread, Inc.',
  ])('%j stays', (name) => {
    expect(withoutWebAddresses(name)).toBe(name);
  });

  it('line breaks, control characters and spaces are one space, and words that stand on other lines are looked at too', () => {
    expect(withoutWebAddresses(' Bakery\r\nBcc:x\u2028evil.com\t\u0085 shop ')).toBe('Bakery Bcc:x shop');
    expect(withoutWebAddresses('https://evil.example')).toBe('');
  });
});
