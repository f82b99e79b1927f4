import type { Mail } from '@tandem/drivers/mail';
import type { QueuedMailRecord } from './mail.model.js';
import type { MailSettings, PreparedMail } from './queued-mail.js';
import { DEFAULT_TEMPLATES, type MailValues } from './templates.js';

/** Templates whose mail links to the page of the same name (decisions A14). */
export const MAIL_PAGES = ['confirm-email', 'confirm-new-email', 'reset-password', 'invitation'] as const;
/** What `mail.color` must be. */
export const MAIL_COLOR = /^#[0-9a-f]{6}$/i;
const DEFAULT_FROM = 'Tandem <no-reply@localhost>';

/** The product name, from the sender; empty if the sender has an address only. */
export function senderName({ from = DEFAULT_FROM }: MailSettings): string {
  return /^\s*"?([^"<]*?)"?\s*</.exec(from)?.[1] ?? '';
}

/**
 * Collapses text to one line without control characters, so that a value cannot inject headers or paragraphs, or reverse the
 * text.
 */
function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim();
}

/**
 * Creates the function that renders a queued row with its prepared values.
 * @throws Error when the color is not `#rrggbb` or the logo's address is not http or https
 */
export function createRenderer(settings: MailSettings) {
  const { from = DEFAULT_FROM, linksUrl = '', templates: replaced, logoUrl, color } = settings;
  if (color !== undefined && !MAIL_COLOR.test(color)) throw new Error('mail.color must be #rrggbb');
  if (logoUrl !== undefined && !/^https?:\/\/\S+$/.test(logoUrl))
    throw new Error('mail.logoUrl must be an http or https address');
  const look = { name: senderName(settings), logoUrl, color };
  const templates = { ...DEFAULT_TEMPLATES, ...replaced };
  const base = linksUrl.replace(/\/+$/, '');
  const domain = /@([^\s<>@]+)>?$/.exec(from)?.[1] ?? 'localhost';

  function valuesOf({ template, values }: QueuedMailRecord, { to, token, values: prepared }: PreparedMail): MailValues {
    const filled: MailValues = { email: to };
    for (const [name, value] of Object.entries({ ...values, ...prepared }))
      filled[name] = typeof value === 'string' ? oneLine(value) : value;
    const isPage = MAIL_PAGES.some((page) => page === template);
    if (isPage && token !== undefined) filled.link = `${base}/${template}?token=${encodeURIComponent(token)}`;
    // a mail without its link or code would be useless
    if (isPage && filled.link === undefined) throw new Error(`a mail ${template} needs a token`);
    if (template === 'mfa-code' && filled.code === undefined) throw new Error(`a mail ${template} needs a code`);
    return filled;
  }

  /** @throws what the template throws; Error when the token or code is missing */
  return function render(row: QueuedMailRecord, prepared: PreparedMail): Mail {
    const { subject, text, html } = templates[row.template](valuesOf(row, prepared), look);
    // by its time a later mail with the same id is not a duplicate
    const time = row.isUnique ? '' : `.${row.createdAt.getTime().toString(36)}`;
    const word = `${encodeURIComponent(row._id).replace(/[()']/g, '_')}${time}`;
    return { to: prepared.to, from, subject: oneLine(subject), text, html, messageId: `<${word}@${domain}>` };
  };
}
