import { fixture } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { openMailFixture } from '../../test/mail-fixture.js';
import { DEFAULT_TEMPLATES, type MailTemplateName } from './templates.js';

const system = fixture(() => openMailFixture('mails_security'));
beforeEach(() => system.clear());

const NAMES = Object.keys(DEFAULT_TEMPLATES) as MailTemplateName[];
const TOKEN = 'a-token-of-the-tests-that-nobody-may-see';
const CODE = '246813';

function someone(): string {
  return `${crypto.randomUUID()}@example.org`;
}

describe('what people have typed', () => {
  it('is text in every mail, never markup', async () => {
    const { mails } = await system.start();
    const to = someone();
    const evil = `<script>alert("x")</script>'&`;
    mails.prepareWith(async () => ({ to, token: evil, values: { code: evil } }));
    const values = { email: evil, newEmail: evil, organizationName: evil };
    await mails.enqueue(NAMES.map((template) => ({ id: `evil-${template}`, template, to, values })));
    await mails.work();
    expect(system.server.count(to)).toBe(NAMES.length);
    for (const { html, subject } of system.server.mails.filter((mail) => mail.to === to)) {
      expect(html, subject).not.toMatch(/<script|alert\("|'&[^#a]/);
      expect(html, subject).toContain(
        subject.includes('code') ? '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;' : '&',
      );
    }
  });

  it('adds no header, no recipient and no paragraph', async () => {
    const { mails } = await system.start();
    const to = someone();
    mails.prepareWith(async () => ({ to, token: TOKEN }));
    const organizationName = 'Acme\r\nBcc: evil@example.org\r\n\r\nPay here:\u2028https://evil.example.org \u202ex';
    await mails.enqueue([{ template: 'invitation', to, values: { organizationName } }]);
    await mails.work();
    const mail = await system.server.next(to);
    expect(mail.subject).toBe('You are invited to Acme Bcc: evil@example.org Pay here: https://evil.example.org x');
    expect(mail.text).toContain(`join Acme Bcc: evil@example.org Pay here: https://evil.example.org x as ${to}.`);
    expect(system.server.count('evil@example.org')).toBe(0);
  });

  it.each([
    'ann@example.org\r\nBcc: evil@example.org',
    'ann@example.org, evil@example.org',
    'ann@example.org;evil@example.org',
    'Ann <evil@example.org>',
    'evil@example.org>\r\nRCPT TO:<other@example.org',
    '"evil@example.org"@example.org',
    'no address',
    '',
  ])('gets no mail where it is no single address: %j', async (to) => {
    const { mails, logs } = await system.start();
    const before = system.server.mails.length;
    await mails.enqueue([{ template: 'deactivated', to }]);
    await mails.work();
    expect(system.server.mails).toHaveLength(before);
    expect(await system.rows()).toEqual([]);
    expect(logs()).toContain('its recipient is not an address');
    expect(logs()).not.toContain('@');
  });
});

describe('the log', () => {
  it('has no address, token or code, whatever happens to a mail', async () => {
    const { mails, logs } = await system.start({}, '?greetingTimeout=300&socketTimeout=300');
    const to = someone();
    const name = to.slice(0, to.indexOf('@'));
    mails.prepareWith(async () => ({ to, token: TOKEN, values: { code: CODE } }));
    async function live(): Promise<void> {
      await mails.enqueue(NAMES.map((template) => ({ template, to, values: { newEmail: to, organizationName: 'Acme' } })));
      await mails.work();
      system.clock.advance(10_000);
      await mails.work();
    }
    await live();
    // the server's own answer names whom it refuses
    system.server.refuse(550);
    await live();
    system.server.refuse(false);
    system.server.stall(true);
    await live();
    system.server.stall(false);
    system.server.goAway(true);
    await live();
    system.server.goAway(false);
    mails.prepareWith(() =>
      Promise.reject(new Error(`E11000 dup key: { email: "${to}", token: "${TOKEN}" } of ${to}, '${CODE}'`)),
    );
    await live();
    system.clock.advance(49 * 3_600_000);
    await mails.work();
    for (const text of ['a mail was sent', 'will be retried', 'given up', '"smtpCode":550', 'ETIMEDOUT', 'E11000'])
      expect(logs()).toContain(text);
    for (const secret of [to, name, '@', TOKEN, CODE, 'Acme'])
      expect(logs().includes(secret), `the log has ${secret}`).toBe(false);
  });
});

describe('the store', () => {
  it('has neither token nor code of a mail that waits', async () => {
    const { mails } = await system.start();
    const to = someone();
    mails.prepareWith(async () => ({ to, token: TOKEN, values: { code: CODE } }));
    await mails.enqueue(NAMES.map((template) => ({ template, to })));
    system.server.refuse(451);
    await mails.work();
    system.server.refuse(false);
    const rows = await system.rows();
    expect(rows).toHaveLength(NAMES.length);
    for (const secret of [TOKEN, CODE]) expect(JSON.stringify(rows).includes(secret)).toBe(false);
  });
});
