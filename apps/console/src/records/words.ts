/** `auditStatus`, `message-templates` as "Audit status", "Message templates". */
export function inWords(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_.\-/]+/g, ' ').toLowerCase().trim(); // prettier-ignore
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace(/\b(id|url|ip|api|mfa|sku)\b/gi, (word) =>
    word.toUpperCase(),
  );
}

/** `organizationId`, `categoryIds` as "Organization", "Categories": what is shown there is the record. */
export function labelOf(field: string): string {
  const plural = field.endsWith('Ids') ? field.replace(/Ids$/, 's').replace(/ys$/, 'ies') : field;
  return inWords(plural.replace(/(?<=.)Id$/, '').replace(/(?<=.)At$/, ''));
}

/** One of several, as a heading names it: `message-templates` as "message template". */
export function oneOf(kind: string): string {
  const words = inWords(kind).toLowerCase();
  return words
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch)es$/, '$1')
    .replace(/s$/, '');
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);

/** The end of an id, which is random: enough to tell two apart. */
export const shortId = (id: string) => `…${id.slice(-6)}`;

const TITLES = ['name', 'title', 'email', 'url', 'content', 'code', 'type', 'eventType', 'provider', 'userAgent', 'role'];

/** What names a record in a heading or a link. */
export function titleOf(record: Readonly<Record<string, unknown>>): string {
  for (const name of TITLES) {
    const value = record[name];
    if (typeof value === 'string' && value !== '') return value.length > 80 ? `${value.slice(0, 79)}…` : value;
  }
  const { id } = record;
  return typeof id === 'string' ? shortId(id) : 'Record';
}
