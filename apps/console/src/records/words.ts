import { t, term } from '../texts/texts.js';
import { descriptionKey } from './description-key.js';
import { listText } from '../texts/formats.js';

/** `auditStatus`, `message-templates` as "Audit status", "Message templates". */
export function inWords(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[_.\-/]+/g, ' ').toLowerCase().trim(); // prettier-ignore
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`.replace(/\b(id|url|ip|api|mfa|sku)\b/gi, (word) =>
    word.toUpperCase(),
  );
}

/** The reader's word for a value, of a list or a field where these have their own; undefined where the document's is shown. */
export const valueTerm = (value: string, field: string, list = ''): string | undefined =>
  term('values', `${list}.${value}`) ?? term('values', `${field}.${value}`) ?? term('values', value);

/** A value that the document names, such as the state of an order, for people. */
export const valueText = (value: string, field = '', list = ''): string =>
  valueTerm(value, field, list) ?? (CURRENCY.test(value) ? value : inWords(value));
const CURRENCY = /^[A-Z]{3}$/;

/** The name of a field in words: `createdAt` as "Created at". */
export const fieldText = (name: string): string => term('fields', name) ?? inWords(name);

/** What a field is for, as the document says it. */
export const descriptionText = (description: string): string => term('descriptions', descriptionKey(description)) ?? description;

/** What an event tells: `order.created`. */
export function eventText(type: string): string {
  const [what = '', how = ''] = type.split('.').map((part) => term('subjects', part));
  return what === '' || how === '' ? inWords(type) : t('records.events.one', { what, how });
}

/** A kind of records, or a list below one, as a heading: `change-requests` as "Change requests". */
export const kindText = (name: string): string => term('kinds', name) ?? inWords(name);

/** One of a kind, within a sentence. */
export const oneText = (kind: string): string => term('kinds', kind) ?? oneOf(kind);

/** `organizationId`, `categoryIds` as "Organization", "Categories": what is shown there is the record. */
export function labelOf(field: string): string {
  const known = term('fields', field) ?? partsOf(field);
  if (known !== undefined) return known;
  const plural = field.endsWith('Ids') ? field.replace(/Ids$/, 's').replace(/ys$/, 'ies') : field;
  return inWords(plural.replace(/(?<=.)Id$/, '').replace(/(?<=.)At$/, ''));
}

/** A path whose parts are all known. */
function partsOf(path: string): string | undefined {
  const parts = path.split('.').map((name) => term('fields', name));
  return parts.length > 1 && parts.every((part) => part !== undefined) ? listText(parts) : undefined;
}

/** One of several: `message-templates` as "message template". */
export function oneOf(kind: string): string {
  const words = inWords(kind).toLowerCase();
  return words
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch)es$/, '$1')
    .replace(/s$/, '');
}

/** The end of an id, which is random: enough to tell two apart. */
export const shortId = (id: string) => `…${id.slice(-6)}`;

const TITLES = ['name', 'title', 'email', 'url', 'content', 'code', 'type', 'eventType', 'provider', 'userAgent', 'role'];

/** Those of the titles that are codes for programs. */
const CODES: ReadonlySet<string> = new Set(['type', 'eventType', 'role']);

/** Whether a value shows nothing: none, spaces, and what has no width. */
export const isBlank = (value: unknown): boolean =>
  (value ?? '') === '' || (typeof value === 'string' && /^[\p{Z}\p{C}]*$/u.test(value));

/** What names a record in a heading or a link. */
export function titleOf(record: Readonly<Record<string, unknown>>): string {
  for (const name of TITLES) {
    const value = record[name];
    if (typeof value !== 'string' || isBlank(value)) continue;
    if (CODES.has(name)) return term('values', value) ?? value;
    return value.length > 80 ? `${value.slice(0, 79)}…` : value;
  }
  const { id } = record;
  return typeof id === 'string' ? shortId(id) : t('records.record');
}
