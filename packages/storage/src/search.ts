import { LRUCache } from 'lru-cache';
import { GRAM, LONG, gramsOf, isFoundInside, partOf, wordsOf, type Place } from './search-text.js';

/** The field in which a record keeps what finds it. Never shown. */
export const SEARCH = 'search';

interface SearchEntry {
  /** The folded words, each between spaces. */
  words: string;
  grams: string[];
}

/** A condition of the store, as plain data. */
type Filter = Record<string, unknown>;

/** The characters of texts whose entries are kept: those of a hundred long ones. */
const KEPT_CHARACTERS = 1_000_000;
/** Entries are kept for a moment: a write of many records is measured before it is made, and may set one text in all of them. */
const KEPT_MS = 5000;
const kept = new LRUCache<string, SearchEntry>({
  maxSize: KEPT_CHARACTERS,
  sizeCalculation: (_, text) => text.length + 1,
  ttl: KEPT_MS,
  ttlAutopurge: true,
});

function entryOf(text: unknown): SearchEntry {
  const known = typeof text === 'string' ? kept.get(text) : undefined;
  if (known) return known;
  const words = typeof text === 'string' ? wordsOf(text) : [];
  const entry = { words: ` ${words.join(' ')} `, grams: gramsOf(words) };
  if (typeof text === 'string') kept.set(text, entry);
  return entry;
}

const pathOf = (field: string) => `${SEARCH}.${field}`;

/** The path that an index on a searched field has. */
export const searchPath = (field: string): string => `${SEARCH}.${field}.grams`;

/** What a record with these searched fields keeps: an entry for each, so that a write of one needs no other. */
export function searchOf(record: object, searched: readonly string[]): Record<string, SearchEntry> {
  return Object.fromEntries(searched.map((field) => [field, entryOf(Reflect.get(record, field))]));
}

/** A document with what finds it. */
export function withSearch<Document extends object>(document: Document, searched: readonly string[]): Document {
  return searched.length === 0 ? document : { ...document, [SEARCH]: searchOf(document, searched) };
}

/** A filter for the rows that lack what finds them. */
export function lacksSearch(searched: readonly string[]): Filter {
  return { $or: searched.map((field) => ({ [`${pathOf(field)}.words`]: { $exists: false } })) };
}

/**
 * The records where the index holds the first letters of a part, of a word's beginning alone if it has a space before
 * it; and those of which it does not hold all. Letters and digits need no escaping.
 */
function holding(field: string, part: string): Filter {
  const known = Array.from(part.trimStart()).slice(0, GRAM).join('');
  const grams = part.startsWith(' ') ? [`^ ${known}`] : [`^ ${known}`, `^${known}`];
  return { [searchPath(field)]: { $in: [...grams.map((gram) => new RegExp(gram)), LONG] } };
}

/** A filter by index that matches at least the records whose field has the text; undefined where no index helps. */
export function containing(field: string, text: string, place?: Place): Filter | undefined {
  const part = partOf(text, place);
  return part === undefined ? undefined : holding(field, part);
}

function found(field: string, word: string): Filter {
  const part = isFoundInside(word) ? word : ` ${word}`;
  return { ...holding(field, part), [`${pathOf(field)}.words`]: { $regex: part } };
}

/** The records that have all words of a text in their searched fields, and their rank: the least is the best. */
export function searching(text: string, searched: readonly string[]): { filter: Filter; rank: unknown } {
  const words = wordsOf(text);
  const inAny = words.map((word) => {
    const anywhere = searched.map((field) => found(field, word));
    return anywhere.length === 1 ? (anywhere[0] as Filter) : { $or: anywhere };
  });
  return { filter: { $and: inAny }, rank: { $max: words.map((word) => rankOf(word, searched)) } };
}

/** Whole words, then beginnings, then the rest; of each, those in the first field before the others. */
function rankOf(word: string, [first = '', ...others]: readonly string[]): unknown {
  const has = (field: string, part: string) => ({ $gte: [{ $indexOfBytes: [`$${pathOf(field)}.words`, part] }, 0] });
  const cases = [` ${word} `, ` ${word}`, word].flatMap((part) => [
    has(first, part),
    { $or: others.map((field) => has(field, part)) },
  ]);
  return cases.reduceRight<unknown>((worse, test, rank) => ({ $cond: [test, rank, worse] }), cases.length);
}
