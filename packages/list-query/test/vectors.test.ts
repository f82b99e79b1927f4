import type { Collection, Db } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineListResource, type ListQueryOptions, type ParameterPairs } from '../src/index.js';
import { filled, openTestDatabase, type Stored } from './database.js';
import { idsOf, shortcomings } from './vector-checks.js';
import { answer, getNextToken, type Answer } from './vector-endpoint.js';
import { readVectors, type Vector } from './vector-file.js';

const { resource: declared, data, vectors } = readVectors();
const DEFAULT_MAX_MS = 2000;
/** Test machines may be slower than the one that the time limits were written for. */
const PATIENCE = 3;

const resource = defineListResource({
  name: declared.name,
  fields: declared.types,
  hidden: declared.hidden,
  relations: declared.relations,
});
const dates = new Set(Object.keys(declared.types).filter((name) => declared.types[name] === 'date'));
dates.add('deletedAt');

function stored({ id, ...record }: Record<string, unknown>): Stored {
  const typed = Object.entries(record).map(([key, value]) => [
    key,
    dates.has(key) && typeof value === 'string' ? new Date(value) : value,
  ]);
  return { _id: String(id), ...Object.fromEntries(typed) } as Stored;
}

let db: Db;
let collection: Collection<Stored>;
let options: ListQueryOptions;
beforeAll(async () => {
  db = await openTestDatabase();
  const relations = Object.fromEntries(
    await Promise.all(
      Object.entries(declared.relations).map(async ([name, { to = '' }]) => {
        const related = to.split('.', 1)[0] ?? '';
        return [name, await filled(db, related, (data[related] ?? []).map(stored))] as const;
      }),
    ),
  );
  options = { collection: db.collection<Stored>(declared.name), cursorSecret: 'the secret of the vectors', relations };
});
/** Whether the last vector left the data unchanged. */
let isFresh = false;
beforeEach(async () => {
  if (!isFresh) collection = await filled(db, declared.name, (data[declared.name] ?? []).map(stored));
  isFresh = true;
});

function ask(query: ParameterPairs, scope: Record<string, unknown> | null | undefined): Promise<Answer> {
  return answer(resource, query, scope ? { ...options, scope } : options);
}

async function run(vector: Vector): Promise<{ last: Answer; problems: string[] }> {
  if (vector.expect.walk) return walk(vector);
  const query = [...vector.query];
  if (vector.tokenFrom) {
    const from = Array.isArray(vector.tokenFrom) ? vector.tokenFrom : Object.entries(vector.tokenFrom);
    const token = getNextToken(await ask(from, vector.tokenScope === undefined ? vector.scope : vector.tokenScope));
    if (token === undefined) return { last: { status: 0, body: {} }, problems: ['there is no cursor to begin with'] };
    query.push(['$nextToken', tampered(token, vector.tamper ?? 'none')]);
  }
  return { last: await ask(query, vector.scope), problems: [] };
}

function tampered(token: string, how: string): string {
  const middle = Math.floor(token.length / 2);
  if (how === 'flip-middle-char') return token.slice(0, middle) + (token[middle] === 'A' ? 'B' : 'A') + token.slice(middle + 1);
  if (how === 'drop-last-4') return token.slice(0, -4);
  return how.startsWith('append:') ? token + how.slice('append:'.length) : token;
}

/** All pages in sequence, as one answer. */
async function walk(vector: Vector): Promise<{ last: Answer; problems: string[] }> {
  const problems: string[] = [];
  const value: Record<string, unknown>[] = [];
  let total: number | undefined;
  let token: string | undefined;
  let page = 0;
  do {
    const top = vector.topByPage?.[Math.min(page, vector.topByPage.length - 1)];
    const query = vector.query.map(([key, text]) => [key, key === '$top' && top !== undefined ? top : text] as [string, string]);
    const size = Number(query.find(([key]) => key === '$top')?.[1] ?? 20);
    const given = await ask(token === undefined ? query : [...query, ['$nextToken', token]], vector.scope);
    if (given.status !== 200) return { last: given, problems };
    const rows = given.body.value ?? [];
    if (rows.length > size) problems.push(`page ${page + 1} has ${rows.length} rows`);
    if (rows.length === 0 && page > 0) problems.push(`page ${page + 1} is empty`);
    total ??= given.body.total;
    value.push(...rows);
    token = getNextToken(given);
    if (page === 0) await change(vector);
    page += 1;
  } while (token !== undefined && page < 1000);
  if (new Set(idsOf(value)).size !== value.length) problems.push('a row came twice');
  return { last: { status: 200, body: { ...(total !== undefined && { total }), count: value.length, value } }, problems };
}

async function change({ afterPage1 }: Vector): Promise<void> {
  if (!afterPage1) return;
  isFresh = false;
  const { softDelete = [], insert = [], delete: removed = [], update = {}, ...unknown } = afterPage1;
  if (Object.keys(unknown).length > 0) throw new Error(`No way is known to ${Object.keys(unknown).join()} after page 1`);
  await collection.updateMany({ _id: { $in: softDelete } }, { $set: { deletedAt: new Date() } });
  await collection.deleteMany({ _id: { $in: removed } });
  if (insert.length > 0) await collection.insertMany(insert.map(stored));
  for (const [id, fields] of Object.entries(update)) {
    const { _id, ...set } = stored({ id, ...fields });
    await collection.updateOne({ _id }, { $set: set });
  }
}

describe('the conformance set', () => {
  it.each(vectors.map((vector, n) => [`${n + 1}. ${vector.name}`, vector] as const))('%s', async (_, vector) => {
    const started = performance.now();
    const { last, problems } = await run(vector);
    const elapsed = performance.now() - started;

    expect(problems).toEqual([]);
    const failures = [vector.expect, ...(vector.alsoAccept ?? [])].map((expected) => shortcomings(last, expected, vector));
    expect(failures.some((failure) => failure.length === 0) ? [] : failures[0]).toEqual([]);
    expect(elapsed).toBeLessThan((vector.maxMs ?? DEFAULT_MAX_MS) * PATIENCE);
  });
});
