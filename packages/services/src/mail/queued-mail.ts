import type { MailDriver } from '@tandem/drivers/mail';
import type { MailTemplateName, MailTemplates } from './templates.js';

/** A mail to send. Tokens and codes are created when it is sent and never stored. */
export interface QueuedMail {
  /**
   * A repeated id is the same mail while it is queued. The id appears in logs, so it must not name anybody. Default: a new id.
   */
  id?: string;
  /** No other mail ever gets this id: queued again after it was sent, it has the same `Message-ID`. */
  isUnique?: boolean;
  template: MailTemplateName;
  /** An address. Else give `identityId`, whose address `prepare` looks up. */
  to?: string;
  identityId?: string;
  values?: Readonly<Record<string, string | number>>;
  /** From then on the mail is not sent. */
  expiresAt?: Date;
}

/** The values that a mail gets when it is sent. */
export interface PreparedMail {
  to: string;
  /** Token for the link, in templates that have one. */
  token?: string;
  /** Added to the queued values. */
  values?: Readonly<Record<string, string | number>>;
}

/** Mail settings of a server. */
export interface MailSettings {
  /** Sends mails. Without a driver no mail is queued. */
  driver?: MailDriver | undefined;
  /** Sender, as `Name <address>`. The name is the product's, and stands above the text. Default `Tandem <no-reply@localhost>`. */
  from?: string;
  /** Address of the product's logo, shown instead of the name, 32 pixels high. Its background should be transparent. */
  logoUrl?: string | undefined;
  /** Color of buttons and links, as `#rrggbb`. Shades of it are used where it could not be read. */
  color?: string | undefined;
  /** Base address of links in mails. Required with a driver. */
  linksUrl?: string;
  /** Templates that replace the default ones. */
  templates?: Partial<MailTemplates>;
}
