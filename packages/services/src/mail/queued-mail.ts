import type { MailDriver } from '@tandem/drivers/mail';
import type { MailTemplateName, MailTemplates } from './templates.js';

/** A mail to be sent. It has no token and no code: these are made when it is sent, and never stand in the store. */
export interface QueuedMail {
  /** The same id twice is one mail, as long as it is queued. Shown in logs: it names nobody. A new one by default. */
  id?: string;
  template: MailTemplateName;
  /** An address, or else `identityId`, of which `prepare` makes one. */
  to?: string;
  identityId?: string;
  values?: Readonly<Record<string, string | number>>;
  /** From then on it is not sent any more. */
  expiresAt?: Date;
}

/** What a mail needs at the moment it is sent. */
export interface PreparedMail {
  to: string;
  /** Goes into the link of the templates that have one. */
  token?: string;
  /** Beside those of the queue. */
  values?: Readonly<Record<string, string | number>>;
}

/** How a server sends its mails. */
export interface MailSettings {
  /** How mails leave. Without one no mail is queued. */
  driver?: MailDriver | undefined;
  /** Sender, as `Name <address>`. Default `Tandem <no-reply@localhost>`. */
  from?: string;
  /** Base of the links in mails. Needed with a driver. */
  linksUrl?: string;
  /** Mails in place of Tandem's own. */
  templates?: Partial<MailTemplates>;
}
