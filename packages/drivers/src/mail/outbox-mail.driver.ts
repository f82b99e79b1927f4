import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Mail, MailDriver } from './mail.driver.js';

/** The file of a mail: the same for each attempt, so that a duplicate replaces the first. */
function fileNameOf({ messageId }: Mail): string {
  return `${messageId.replace(/^<|@.*$/g, '').replace(/[^\w.%-]/g, '_').slice(0, 200)}.json`; // prettier-ignore
}

/** Matches the address where it is not a part of a longer one, such as `o'neill@example.org` of `neill@example.org`. */
function whole(address: string): RegExp {
  const escaped = address.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}._%+-]|[\\p{L}\\p{N}]')${escaped}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`, 'iu');
}

/** What a mail says, as in its file; a file that is none, as it is. */
function textOf(file: string): string {
  try {
    const { to, subject, text } = JSON.parse(file) as Mail;
    return [to, subject, text].join('\n');
  } catch {
    return file;
  }
}

/** Writes each mail as a JSON file to a folder that only its owner can read: for development. */
export function openOutboxMailDriver(outboxDir: string): MailDriver {
  return {
    async send(mail) {
      const { to, from, subject, text, html } = mail;
      await mkdir(outboxDir, { recursive: true, mode: 0o700 });
      // renamed into place, so that a watcher of the folder never reads half a mail
      const temporary = path.join(outboxDir, `.${randomUUID()}.tmp`);
      try {
        const file = await open(temporary, 'wx', 0o600);
        try {
          await file.writeFile(`${JSON.stringify({ to, from, subject, text, html }, null, 2)}\n`);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path.join(outboxDir, fileNameOf(mail)));
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    async forget(addresses) {
      const names = await readdir(outboxDir).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
        return [];
      });
      const sought = addresses.map(whole);
      for (const name of names) {
        const file = path.join(outboxDir, name);
        // another process may remove it too
        const text = textOf(await readFile(file, 'utf8').catch(() => ''));
        if (sought.some((address) => address.test(text))) await rm(file, { force: true });
      }
    },
    async verify() {
      await mkdir(outboxDir, { recursive: true, mode: 0o700 });
      await access(outboxDir, constants.W_OK);
    },
    async close() {},
  };
}
