import { readableOn, textOn } from './contrast.js';

/** The content of a mail, before layout. */
export interface MailContent {
  subject: string;
  /** Paragraphs above the button or code. */
  before: readonly string[];
  button?: { label: string; link: string };
  /** A code to type. */
  code?: string;
  /** Paragraphs below them. */
  after: readonly string[];
}

/** A mail made by a template. */
export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

/** How the product's mails look. */
export interface MailLook {
  /** The product's name, shown above the text; empty for none. */
  name: string;
  /** Address of an image that is shown instead of the name, 32 pixels high. */
  logoUrl?: string | undefined;
  /** Color of buttons and links, as `#rrggbb`. */
  color?: string | undefined;
}

const DEFAULT_COLOR = '#1f4fd8';
const PAGE = { light: '#ffffff', dark: '#16181d' };
const TEXT = { light: '#1a1a1a', dark: '#e8e8ea' };
const SMALL_TEXT = { light: '#555555', dark: '#a9adb5' };

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const PARAGRAPH = 'margin:0 0 16px';
const BUTTON = 'display:inline-block;padding:12px 20px;border-radius:6px;font-weight:600;text-decoration:none';
const CODE = 'margin:0 0 16px;font-size:28px;font-weight:600;letter-spacing:6px;white-space:nowrap';
const SMALL = `margin:0 0 16px;font-size:13px;color:${SMALL_TEXT.light}`;
const NAME = 'margin:0 0 24px;font-size:20px;font-weight:700';
/** An address is too long for a line: mail clients that can cut it do, the others break it. Copied, it is whole. */
const ADDRESS = 'display:block;max-width:520px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;word-break:break-all';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML content and attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

function paragraph(text: string, style = PARAGRAPH): string {
  return `<p style="${style}">${escapeHtml(text)}</p>`;
}

/** A button that works in mail clients, with its address as text below. */
function htmlButton({ label, link }: { label: string; link: string }, color: string): string[] {
  const address = escapeHtml(link);
  const button = `${BUTTON};background:${color};color:${textOn(color)}`;
  const shown = `${ADDRESS};color:${readableOn(PAGE.light, color)}`;
  return [
    `<p style="${PARAGRAPH}"><a href="${address}" style="${button}">${escapeHtml(label)}</a></p>`,
    `<p class="small" style="${SMALL}">If the button does not work, open this address:<br><a class="link" href="${address}" style="${shown}">${address}</a></p>`,
  ];
}

function header({ name, logoUrl }: MailLook): string[] {
  if (logoUrl === undefined) return name === '' ? [] : [paragraph(name, NAME)];
  const image = `<img src="${escapeHtml(logoUrl)}" alt="${escapeHtml(name)}" height="32" style="display:block;height:32px;border:0">`;
  return [`<p style="${NAME}">${image}</p>`];
}

/**
 * Lays out content as text and HTML: one column, inline styles, and colors of its own for clients in dark mode. Nothing but
 * the host's logo is loaded from elsewhere.
 */
export function layOut({ subject, before, button, code, after }: MailContent, look: MailLook): RenderedMail {
  const text = [...before, ...(button ? [`${button.label}:\n${button.link}`] : []), ...(code ? [code] : []), ...after];
  const { color = DEFAULT_COLOR } = look;
  const body = [
    ...header(look),
    ...before.map((line) => paragraph(line)),
    ...(button ? htmlButton(button, color) : []),
    ...(code ? [paragraph(code, CODE)] : []),
    ...after.map((line) => paragraph(line)),
  ];
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title>
<style>
:root { color-scheme: light dark }
@media (prefers-color-scheme: dark) {
.page { background: ${PAGE.dark} !important }
.text { color: ${TEXT.dark} !important }
.small { color: ${SMALL_TEXT.dark} !important }
.link { color: ${readableOn(PAGE.dark, color)} !important }
}
</style></head>
<body class="page" style="margin:0;padding:0;background:${PAGE.light}">
<table class="page" role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:${PAGE.light}"><tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px;table-layout:fixed"><tr><td class="text" align="left" style="${FONT};font-size:16px;line-height:1.5;color:${TEXT.light}">
${body.join('\n')}
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
  return { subject, text: `${text.join('\n\n')}\n`, html };
}
