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

const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const PARAGRAPH = 'margin:0 0 16px';
const BUTTON =
  'display:inline-block;padding:12px 20px;border-radius:6px;background:#1f4fd8;color:#ffffff;font-weight:600;text-decoration:none';
const CODE = 'margin:0 0 16px;font-size:28px;font-weight:600;letter-spacing:6px';
const SMALL = 'margin:0 0 16px;font-size:13px;color:#555555;word-break:break-word';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text for HTML content and attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

function paragraph(text: string, style = PARAGRAPH): string {
  return `<p style="${style}">${escapeHtml(text)}</p>`;
}

/** A button that works in mail clients, with its address as text below. */
function htmlButton({ label, link }: { label: string; link: string }): string[] {
  const address = escapeHtml(link);
  return [
    `<p style="${PARAGRAPH}"><a href="${address}" style="${BUTTON}">${escapeHtml(label)}</a></p>`,
    `<p style="${SMALL}">If the button does not work, open this address:<br><a href="${address}" style="color:#1f4fd8">${address}</a></p>`,
  ];
}

/** Lays out content as text and HTML: one column, dark on white, inline styles, no external resources. */
export function layOut({ subject, before, button, code, after }: MailContent): RenderedMail {
  const text = [...before, ...(button ? [`${button.label}:\n${button.link}`] : []), ...(code ? [code] : []), ...after];
  const body = [
    ...before.map((line) => paragraph(line)),
    ...(button ? htmlButton(button) : []),
    ...(code ? [paragraph(code, CODE)] : []),
    ...after.map((line) => paragraph(line)),
  ];
  const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head>
<body style="margin:0;padding:0;background:#ffffff">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:520px"><tr><td align="left" style="${FONT};font-size:16px;line-height:1.5;color:#1a1a1a">
${body.join('\n')}
</td></tr></table>
</td></tr></table>
</body>
</html>
`;
  return { subject, text: `${text.join('\n\n')}\n`, html };
}
