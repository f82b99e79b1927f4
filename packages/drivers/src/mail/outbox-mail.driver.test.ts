import { mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMailDriver } from '../mail.js';

const MAIL = {
  to: 'ann@example.org',
  from: 'Tandem <no-reply@tandem.test>',
  subject: 'Hello',
  text: 'Hello "Ann"\n',
  html: '<p>Hello</p>',
  messageId: '<019c-one.x@tandem.test>',
};

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'tandem-outbox-'));
});
afterAll(() => rm(root, { recursive: true }));

describe('the outbox', () => {
  it('writes each mail as a JSON file that only its owner can read', async () => {
    const outboxDir = path.join(root, 'deep', 'outbox');
    const driver = openMailDriver('outbox:', { outboxDir });
    await driver.send(MAIL);
    const [file = '', ...others] = await readdir(outboxDir);
    expect([file, others]).toEqual(['019c-one.x.json', []]);
    const { messageId: _, ...written } = MAIL;
    expect(JSON.parse(await readFile(path.join(outboxDir, file), 'utf8'))).toEqual(written);
    expect((await stat(path.join(outboxDir, file))).mode & 0o777).toBe(0o600);
    expect((await stat(outboxDir)).mode & 0o777).toBe(0o700);
  });

  it('keeps one copy of a mail that is sent twice, inside the folder whatever the id is', async () => {
    const outboxDir = path.join(root, 'twice');
    const driver = openMailDriver('outbox:', { outboxDir });
    await Promise.all(Array.from({ length: 20 }, () => driver.send(MAIL)));
    await driver.send({ ...MAIL, messageId: `<../../${'x'.repeat(500)}@tandem.test>` });
    expect(await readdir(outboxDir)).toHaveLength(2);
    expect(await readdir(root)).not.toContain('xxx');
    await driver.close();
  });

  it('forgets the mails to and about an address, not those of a longer one', async () => {
    const outboxDir = path.join(root, 'forgotten');
    const driver = openMailDriver('outbox:', { outboxDir });
    const mails = {
      own: { ...MAIL, to: 'Ann@example.org' },
      longer: { ...MAIL, to: 'joann@example.org' },
      quoted: { ...MAIL, to: "o'ann@example.org" },
      further: { ...MAIL, to: 'ann@example.org.uk' },
      about: { ...MAIL, to: 'eve@example.org', text: "A new address:\n\t'ann@example.org'.\nIs it yours?" },
    };
    for (const [id, mail] of Object.entries(mails)) await driver.send({ ...mail, messageId: `<${id}@tandem.test>` });
    await driver.forget?.(['ann@example.org']);
    expect((await readdir(outboxDir)).toSorted()).toEqual(['further.json', 'longer.json', 'quoted.json']);
  });

  it('fails when the folder is not writable, and leaves no half-written mail', async () => {
    const outboxDir = path.join(root, 'deep', 'outbox', '019c-one.x.json', 'below-a-file');
    const driver = openMailDriver('outbox:', { outboxDir });
    await expect(driver.verify?.()).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(driver.send(MAIL)).rejects.toMatchObject({ code: 'ENOTDIR' });
    expect(await readdir(path.join(root, 'deep', 'outbox'))).toEqual(['019c-one.x.json']);
  });
});
