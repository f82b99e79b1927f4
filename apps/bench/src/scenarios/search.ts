import { defineListResource, runListQuery, type ParameterPairs } from '@tandem/list-query';
import { SEARCH, containing, searchPath, searching, withSearch } from '@tandem/storage';
import type { Collection, Db } from 'mongodb';
import type { TimeComparison } from '../times.js';
import { signUpAdmin } from '../people.js';
import type { Scenario } from '../scenario.js';

const ROWS = 1_000_000;
/** Rows whose searches are also compared with reading every name. */
const COMPARED = 100_000;
const BATCH = 20_000;
const SEARCHES = 1000;
const WORDS_OF_SCRIPT = 10_000;
/** As many rows of a million have a code as have a word. */
const CODES = Math.floor((4 * WORDS_OF_SCRIPT) / 3);
/** Of what matches more rows, the best of the first by index come first: its time is not measured. */
const MATCHES_MAX = 1000;
/** Codes of the compared rows stand in 50, 100, and so on up to 1,000 rows. */
const CODE_STEP = 50;
const CODE_SIZES = Array.from({ length: MATCHES_MAX / CODE_STEP }, (_, at) => (at + 1) * CODE_STEP);
const CODE_BLOCK = CODE_SIZES.reduce((sum, size) => sum + size, 0);
const CODE_BLOCKS = Math.floor(COMPARED / CODE_BLOCK);
/** Letters of a searched word: shorter ones are parts of thousands. */
const WORD_LETTERS = 4;
const MAX_TIME_MS = 60_000;
const SCRIPTS = ['aeioubcdfglmnprst', 'аеиоубвгдклмнпрст', 'αεηιοβγδκλμνπρστ', '東京大学生協会社日本山川田中水火木金土人'];

interface Row {
  _id: string;
  name: string;
  code: string;
  createdAt: Date;
  deletedAt: null;
}

const texts = defineListResource({
  name: 'texts',
  fields: { name: 'string', code: 'string', createdAt: 'date' },
  hidden: [SEARCH],
  searched: { fields: ['name'], path: SEARCH, containing },
  defaultOrder: 'createdAt desc, id desc',
});

/** Numbers below a limit, the same in each run. */
function numbers(): (limit: number) => number {
  let state = 7;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Words of each script, of two letters and more. */
function vocabulary(next: (limit: number) => number): string[][] {
  return SCRIPTS.map((letters) => {
    const word = () => Array.from({ length: 2 + next(8) }, () => letters[next(letters.length)]).join('');
    return Array.from({ length: WORDS_OF_SCRIPT }, word);
  });
}

/** A code that as many of the compared rows have, rounded up to the next step. */
const codeOfSize = (rows: number, block: number) => `${block}: ${Math.ceil(rows / CODE_STEP) * CODE_STEP}`;

function codeOfCompared(at: number): string {
  let size = 0;
  for (let end = 0; end <= at % CODE_BLOCK; end += size) size += CODE_STEP;
  return codeOfSize(size, Math.floor(at / CODE_BLOCK));
}

async function fill(db: Db, name: string, names: readonly string[], codeOf: (at: number) => string): Promise<Collection<Row>> {
  const collection = db.collection<Row>(name);
  for (let from = 0; from < names.length; from += BATCH) {
    const rows = names.slice(from, from + BATCH).map((one, offset) => {
      const at = from + offset;
      const createdAt = new Date(1_700_000_000_000 + at * 1000);
      return withSearch({ _id: String(at).padStart(9, '0'), name: one, code: codeOf(at), createdAt, deletedAt: null }, ['name']);
    });
    await collection.insertMany(rows, { ordered: false });
  }
  // once all is there: filled one by one, an index of this size takes minutes
  const live = { partialFilterExpression: { deletedAt: null } };
  await collection.createIndexes([
    { key: { createdAt: -1, _id: -1 }, ...live },
    { key: { code: 1, createdAt: -1, _id: -1 }, ...live },
    { key: { [searchPath('name')]: 1 }, ...live },
  ]);
  return collection;
}

const query = (collection: Collection<Row>, pairs: ParameterPairs) =>
  runListQuery(texts, pairs, {
    collection,
    maxTimeMs: MAX_TIME_MS,
    search: (resource, text) => searching(text, resource.searched),
  });

/**
 * @returns how many rows each search finds
 * @throws Error for a search or `contains` that finds other rows than reading every name does
 */
async function compareWithReading(
  collection: Collection<Row>,
  names: readonly string[],
  parts: readonly string[],
): Promise<number[]> {
  const words = names.map((name) => name.split(' '));
  const matches: number[] = [];
  for (const part of parts) {
    const isInside = part.length >= (/^[a-zа-яα-ω]/.test(part) ? 3 : 2);
    const fits = (word: string) => (isInside ? word.includes(part) : word.startsWith(part));
    const matching = words.filter((of) => of.some(fits)).length;
    await expectTotal(collection, ['$search', part], matching);
    matches.push(matching);
    if (!isInside) continue;
    const found = names.filter((name) => name.includes(part)).length;
    await expectTotal(collection, ['$filter', `contains(name, '${part}')`], found);
  }
  return matches;
}

async function expectTotal(collection: Collection<Row>, asked: [string, string], expected: number): Promise<void> {
  const { total } = await query(collection, [asked]);
  if (total !== expected) throw new Error(`${asked.join('=')} finds ${total} of ${expected} rows`);
}

/** Searches against equality filters by an index, and the price of writes that keep what is found. */
export const search: Scenario<TimeComparison[]> = async ({ db, tandem }) => {
  const next = numbers();
  const scripts = vocabulary(next);
  const pick = () => {
    const words = scripts[next(scripts.length)] as string[];
    return words[next(words.length)] as string;
  };
  const names = Array.from({ length: ROWS }, () => `${pick()} ${pick()} ${pick()}`);
  const compared = await fill(db, 'compared', names.slice(0, COMPARED), codeOfCompared);
  const all = await fill(db, 'texts', names, (at) => `code ${at % CODES}`);
  const partOf = (word: string) => {
    const from = next(3) === 0 ? next(word.length - 1) : 0;
    return word.slice(from, from + 2 + next(word.length));
  };
  const parts = Array.from({ length: SEARCHES }, () => partOf(pick()));
  const matches = await compareWithReading(compared, names.slice(0, COMPARED), parts);
  const timed = parts
    .map((part, at) => ({ part, rows: matches[at] as number }))
    .filter(({ rows }) => rows > 0 && rows <= MATCHES_MAX);

  let turn = 0;
  const byCode = () => query(all, [['$filter', `code eq 'code ${(turn++ * 7919) % CODES}'`]]);
  const nextTimed = () => timed[turn++ % timed.length] as (typeof timed)[number];
  const byPart = () => query(compared, [['$search', nextTimed().part]]);
  const bySize = () => query(compared, [['$filter', `code eq '${codeOfSize(nextTimed().rows, turn % CODE_BLOCKS)}'`]]);
  const words = Array.from({ length: 4 * SEARCHES }, pick).filter((word) => word.length >= WORD_LETTERS);
  const byWord = () => query(all, [['$search', words[turn++ % words.length]]]);

  const { accessToken } = await signUpAdmin(tandem.url, db);
  const create = async (name: string, description: string) => {
    const { status } = await fetch(`${tandem.url}/products`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({ name, description }),
    });
    if (status !== 201) throw new Error(`a product was answered ${status}`);
  };
  const description = 'Baked in the morning from whole grain, keeps for a week in a dry place';
  const signs = (text: string) => text.replace(/\w/g, '-');

  return [
    {
      name: 'search for a word among 1,000,000 rows, p95',
      of: 'time',
      target: 5,
      share: 0.95,
      run: byWord,
      against: 'an equality with as many rows',
      runOther: byCode,
    },
    {
      name: 'search for parts of words with up to 1,000 matches among 100,000 rows, p95',
      of: 'time',
      target: 5,
      targetMs: 15,
      share: 0.95,
      run: byPart,
      against: 'an equality with as many rows',
      runOther: bySize,
    },
    {
      name: 'creating a product of words',
      of: 'time',
      target: 1.15,
      run: () => create('Rye loaf of the house', description),
      against: 'one of punctuation, of which no search needs anything',
      runOther: () => create(signs('Rye loaf of the house'), signs(description)),
    },
  ];
};
