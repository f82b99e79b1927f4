import path from 'node:path';
import { openMailDriver, type MailDriver } from '@tandem/drivers/mail';
import type { Config } from './config.js';

/** What the services work with beside the store. */
export interface Drivers {
  mail: MailDriver;
  close(): Promise<void>;
}

/** The drivers of a configuration. Nothing is connected to before it is needed. */
export function openDrivers(config: Config): Drivers {
  const mail = openMailDriver(config.mail.url, { outboxDir: path.join(config.dataDir, 'outbox') });
  return { mail, close: () => mail.close() };
}
