import { fixture, startTestServer } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { openMailFixture } from '../../test/mail-fixture.js';

const system = fixture(() => openMailFixture('mails'));
beforeEach(() => system.clear());

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** An address that no other test uses. */
function someone(): string {
  return `${crypto.randomUUID()}@example.org`;
}

describe('a mail', () => {
  it('is sent by the configured mail server as soon as it is queued', async () => {
    await using app = await startTestServer();
    app.tandem.services.mails.prepareWith(async ({ to = '' }) => ({ to }));
    const to = someone();
    await app.tandem.services.mails.enqueue([{ template: 'deactivated', to }]);
    const mail = await app.mail.next(to);
    expect(mail).toMatchObject({ from: 'Tandem <no-reply@tandem.test>', subject: 'Your account is deactivated' });
    await app.tandem.services.mails.work();
    expect(app.mail.count(to)).toBe(1);
  });

  it('is gone from the queue once it was sent, and names its row to mail systems', async () => {
    const { mails } = await system.start();
    const to = someone();
    await mails.enqueue([{ id: 'mail (1)', template: 'password-changed', to }]);
    expect(await system.rows()).toMatchObject([{ _id: 'mail (1)', template: 'password-changed', to, attempts: 0 }]);
    await mails.work();
    const mail = await system.server.next(to);
    expect(mail.messageId).toMatch(/^<mail%20_1_\.\w+@tandem\.test>$/);
    expect(await system.rows()).toEqual([]);
  });

  it('has a Message-ID of its own, also where an earlier one had the same id, unless it is the same mail', async () => {
    const { mails } = await system.start();
    const to = someone();
    async function sent(isUnique: boolean): Promise<string> {
      system.clock.advance(1000);
      await mails.enqueue([{ id: 'digest', isUnique, template: 'password-changed', to }]);
      await mails.work();
      return (await system.server.next(to)).messageId;
    }
    expect(await sent(false)).not.toBe(await sent(false));
    expect(await sent(true)).toBe(await sent(true));
  });

  it('gets its address, token and values when it is sent, and they never stand in the store', async () => {
    const { mails } = await system.start();
    const to = someone();
    const token = 'a token/of+the=test';
    mails.prepareWith(async ({ id, identityId, values }) => {
      expect({ id, identityId, values }).toEqual({ id: 'reset-1', identityId: 'ann', values: { minutes: 30 } });
      return { to, token };
    });
    await mails.enqueue([{ id: 'reset-1', template: 'reset-password', identityId: 'ann', values: { minutes: 30 } }]);
    expect(JSON.stringify(await system.rows())).not.toContain(to);
    await mails.work();
    const mail = await system.server.next(to);
    expect(mail.link).toBe('https://app.example.org/account/reset-password?token=a%20token%2Fof%2Bthe%3Dtest');
    expect(mail.token).toBe(token);
    expect(mail.html).toContain(`href="${mail.link}"`);
    expect(mail.text).toContain('The link is valid for 30 minutes.');
  });

  it('is dropped if there is nothing to send any more', async () => {
    const { mails, logs } = await system.start();
    const to = someone();
    mails.prepareWith(async () => undefined);
    await mails.enqueue([{ template: 'deactivated', to }]);
    await mails.work();
    expect(await system.rows()).toEqual([]);
    expect(system.server.count(to)).toBe(0);
    expect(logs()).toBe('');
  });

  it('is retried if it could not be prepared', async () => {
    const { mails, logs } = await system.start();
    const to = someone();
    mails.prepareWith(async () => Promise.reject(new Error(`no connection for ${to}`)));
    await mails.enqueue([{ template: 'deactivated', to }]);
    await mails.work();
    expect(await system.rows()).toMatchObject([{ attempts: 1 }]);
    expect(logs()).toContain('no connection for …');
    mails.prepareWith(async () => ({ to }));
    system.clock.advance(10_000);
    await mails.work();
    expect(system.server.count(to)).toBe(1);
  });

  it('is never sent without its link or code', async () => {
    const { mails } = await system.start();
    const to = someone();
    mails.prepareWith(async () => ({ to }));
    await mails.enqueue((['confirm-email', 'confirm-new-email', 'reset-password', 'invitation', 'mfa-code'] as const).map((template) => ({ template, to }))); // prettier-ignore
    await mails.work();
    expect(system.server.count(to)).toBe(0);
    expect(await system.rows()).toHaveLength(5);
  });

  it('with an id that is queued already is the same mail, however many queue it at once on two instances', async () => {
    const [one, two] = [await system.start(), await system.start()];
    const to = someone();
    const mail = { id: crypto.randomUUID(), template: 'deactivated', to } as const;
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? one : two).mails.enqueue([mail, { template: 'password-changed', to }])),
    );
    expect(await system.rows()).toHaveLength(21);
    await Promise.all([one.mails.work(), two.mails.work()]);
    expect(system.server.mails.filter((received) => received.to === to && received.subject.includes('deactivated'))).toHaveLength(
      1,
    );
    expect(system.server.count(to)).toBe(21);
  });
});

describe('a mail that expires', () => {
  it('is not sent after that', async () => {
    const { mails, logs } = await system.start();
    const to = someone();
    mails.prepareWith(async () => ({ to, values: { code: '123456' } }));
    await mails.enqueue([{ template: 'mfa-code', to, expiresAt: new Date(system.clock.now().getTime() + 5 * MINUTE) }]);
    system.clock.advance(5 * MINUTE);
    await mails.work();
    expect(system.server.count(to)).toBe(0);
    expect(await system.rows()).toEqual([]);
    expect(logs()).toContain('a mail was not sent before it expired');
  });

  it('is given up at once if the next attempt would come too late', async () => {
    const { mails, logs } = await system.start();
    const to = someone();
    system.server.refuse(451);
    await mails.enqueue([{ template: 'deactivated', to, expiresAt: new Date(system.clock.now().getTime() + 10_000) }]);
    await mails.work();
    system.server.refuse(false);
    expect(await system.rows()).toEqual([]);
    expect(logs()).toContain('is given up');
  });
});

describe('without a driver', () => {
  it('nothing is queued, and this is logged once', async () => {
    const { mails, logs } = await system.start({ driver: undefined });
    await mails.enqueue([{ template: 'deactivated', to: someone() }]);
    await mails.enqueue([{ template: 'deactivated', to: someone() }]);
    await mails.work();
    await mails.startSending()();
    expect(await system.rows()).toEqual([]);
    expect(logs()).toBe('{"level":"debug","text":"there is no mail driver: mails are not sent"}');
  });
});

describe('the settings', () => {
  it('require the address of the pages that mails link to', async () => {
    await expect(system.start({ linksUrl: undefined as never })).rejects.toThrow('mail.linksUrl');
  });

  it('can replace any mail; a mail that a template breaks is retried later', async () => {
    let isBroken = true;
    const { mails, logs } = await system.start({
      templates: {
        deactivated: ({ email }) => {
          if (isBroken) throw new TypeError(`cannot read "${email}"`);
          return { subject: 'So long\r\nBcc: evil@example.org', text: `Goodbye ${email}`, html: `<b>Goodbye ${email}</b>` };
        },
      },
    });
    const to = someone();
    await mails.enqueue([{ template: 'deactivated', to }]);
    await mails.work();
    expect(logs()).toContain('TypeError');
    expect(logs()).not.toContain(to);
    isBroken = false;
    system.clock.advance(10_000);
    await mails.work();
    expect(await system.server.next(to)).toMatchObject({ subject: 'So long Bcc: evil@example.org', text: `Goodbye ${to}` });
  });
});

describe('a mail that fails', () => {
  const waits = [10_000, 30_000, 2 * MINUTE, 10 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR];

  it.each([451, 550])('by %i is retried after growing delays, and sent once accepted', async (code) => {
    const { mails, logs } = await system.start();
    const to = someone();
    await mails.enqueue([{ template: 'deactivated', to }]);
    system.server.refuse(code);
    await mails.work();
    for (const [n, wait] of waits.entries()) {
      system.clock.advance(wait - 1000);
      await mails.work();
      expect(await system.rows()).toMatchObject([{ attempts: n + 1 }]);
      if (n === waits.length - 1) system.server.refuse(false);
      system.clock.advance(1000);
      await mails.work();
    }
    expect(system.server.count(to)).toBe(1);
    expect(await system.rows()).toEqual([]);
    expect(logs()).toContain(`"template":"deactivated","attempts":1,"smtpCode":${code},"code":"EENVELOPE"`);
  });

  it('for two days is given up and logged', async () => {
    const { mails, logs } = await system.start();
    const to = someone();
    await mails.enqueue([{ template: 'deactivated', to }]);
    system.server.refuse(550);
    await mails.work();
    for (const wait of waits) {
      expect(await system.rows()).toHaveLength(1);
      system.clock.advance(wait);
      await mails.work();
    }
    system.server.refuse(false);
    expect(await system.rows()).toEqual([]);
    expect(logs().split('\n').at(-1)).toMatch(/^\{"level":"error","mailId":"[\w-]+",.*given up"\}$/);
    expect(system.server.count(to)).toBe(0);
  });
});
