import type { MailDriver } from './mail.driver.js';
import { openOutboxMailDriver } from './outbox-mail.driver.js';
import { openSmtpMailDriver } from './smtp-mail.driver.js';

/** Whether `openMailDriver` accepts this URL. */
export function isMailUrl(url: string): boolean {
  if (url === 'outbox:') return true;
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return (protocol === 'smtp:' || protocol === 'smtps:') && hostname !== '';
}

/**
 * The driver for a URL. Opens no connection yet.
 * @param url `smtp://…`, `smtps://…`, or `outbox:`, which writes files
 * @param options `outboxDir`: the folder of those files
 * @throws Error that does not repeat the URL, which may contain a password
 */
export function openMailDriver(url: string, { outboxDir }: { outboxDir: string }): MailDriver {
  if (!isMailUrl(url)) throw new Error('a mail address must be outbox: or an smtp:// or smtps:// address');
  return url === 'outbox:' ? openOutboxMailDriver(outboxDir) : openSmtpMailDriver(url);
}
