import type { Collection } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { createGate, defineListResource, LIMITS, runListQuery } from './index.js';

const notes = defineListResource({
  name: 'notes',
  fields: { name: 'string', text: { type: 'string', absent: '' }, tags: 'string[]', size: 'number', kind: 'string' },
});

/** Documents with a letter as id. */
const documents = [
  { _id: 'a', name: 'Rye loaf', text: 'Salt', tags: ['Bread', 'dark'], kind: 'x' },
  { _id: 'b', name: 'ÄRGER İ ΟΔΟΣ', text: null, tags: [], kind: 'x' },
  { _id: 'c', name: null, text: '', tags: null, kind: 'y' },
  { _id: 'd', kind: 'y' },
  { _id: 'e', name: 'two\nlines\n', text: 'a\0b', tags: ['İ'], kind: 'z' },
  // only a host can have written these
  { _id: 'f', name: 5, text: { a: 1 }, tags: null, kind: 'z' },
];

let collection: Collection<Stored>;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'notes', documents);
});

const ask = (query: Record<string, string>, options: object = {}) =>
  runListQuery(notes, Object.entries(query), { collection, ...options });

describe('a function finds, as a filter and inside a group,', () => {
  it.each([
    ["contains(name, 'loa')", 'a'],
    ["contains(name, 'LOA')", ''],
    ["contains(tolower(name), 'rye l')", 'a'],
    ["contains(name, '')", 'abe'],
    ["endswith(name, 'two')", ''],
    ["startswith(name, 'lines')", ''],
    ["endswith(name, 'lines')", ''],
    ["endswith(name, 'lines\n')", 'e'],
    ["contains(text, '\0')", 'e'],
    ["tolower(name) eq 'ärger i οδοσ'", 'b'],
    ["tolower(name) gt 's'", 'be'],
    ["not (contains(name, 'loa'))", 'be'],
    ["not (not (contains(name, 'loa')))", 'a'],
    ["not (contains(name, 'loa') and kind eq 'x')", 'bcdef'],
    ["contains(text, '')", 'abcde'],
    ["not (contains(text, 'S'))", 'bcde'],
    ["not (contains(text, ''))", ''],
    ["tolower(text) eq ''", 'bcd'],
    ["contains(tags, 'rea')", 'a'],
    ["startswith(tolower(tags), 'bread')", 'a'],
    ["tolower(tags) in ('dark', 'i')", 'ae'],
    ["not (contains(tags, 'rea'))", 'be'],
  ])('%s', async ($filter, expected) => {
    const found = (await ask({ $filter, $orderby: 'id' })).value.map(({ id }) => id).join('');
    const counted = await ask({ $apply: `groupby((id), filter(${$filter}) then aggregate($count as n)) then filter(n gt 0)` });
    expect([found, counted.value.map(({ id }) => id).join('')]).toEqual([expected, expected]);
  });
});

it.each([
  ["contains(size, 'a')", "calls 'contains' with 'size', a number, at offset 9"],
  ["tolower(size) eq 'a'", "calls 'tolower' with 'size', a number, at offset 8"],
  ['contains(name, 5)', "needs a string instead of '5' at offset 15"],
  ["contains(name 'a')", "needs ',' instead of a string at offset 14"],
  ["contains 'a'", 'needs an operator (eq, ne, gt, ge, lt, le, in) instead of a string at offset 9'],
])('%s is refused', async ($filter, problem) => {
  await expect(ask({ $filter })).rejects.toMatchObject({ message: `query parameter '$filter' ${problem}` });
});

describe('without an index, text is read', () => {
  const many = LIMITS.scan + 1;
  let large: Collection<Stored>;
  beforeAll(async () => {
    const rows = Array.from({ length: many }, (_, n) => ({ _id: `n${n}`, name: `Note ${n}`, kind: n === 0 ? 'first' : 'other' }));
    large = await filled(await openTestDatabase(), 'notes', rows);
  });
  const refusal = (parameter: string) => ({
    status: 400,
    message: `query parameter '${parameter}' looks for text without an index in more than 10000 rows`,
  });

  it.each([
    ['$filter', "contains(name, 'e 1')"],
    ['$filter', "kind ne 'none' and tolower(name) eq 'x'"],
    ['$filter', "kind eq 'first' or contains(name, 'e 1')"],
    ['$apply', "filter(contains(name, 'e 1')) then aggregate($count as n)"],
    ['$apply', "groupby((kind), filter(contains(name, 'e 1')) then aggregate($count as n))"],
    ['$apply', "groupby((name), filter(contains(name, 'e 1')) then groupby((kind)))"],
  ])('in no more than 10,000 rows: %s=%s', async (parameter, text) => {
    await expect(ask({ [parameter]: text }, { collection: large })).rejects.toMatchObject(refusal(parameter));
  });

  it('in those that the other conditions and the scope leave', async () => {
    const total = async (query: Record<string, string>, options = {}) =>
      (await ask(query, { collection: large, ...options })).total;
    expect(await total({ $filter: "kind eq 'other' and contains(name, 'e 1000')" })).toBe(2);
    expect(await total({ $filter: "contains(name, 'e 1000')" }, { scope: { kind: 'other' } })).toBe(2);
    expect(await total({ $filter: "kind eq 'other'", $apply: "filter(startswith(name, 'Note 1000'))" })).toBe(2);
    expect(await total({ $apply: "groupby((name)) then filter(startswith(name, 'Note 1000'))" })).toBe(2);
  });

  it("when it is the caller's turn", async () => {
    const gate = createGate({ atOnce: 1 });
    const caller = { key: 'x', isAnonymous: false };
    let end = () => {};
    const before = gate(caller, () => new Promise<void>((resolve) => { end = resolve; })); // prettier-ignore
    const options = { collection: large, gate, caller, scope: { kind: 'first' } };
    const order: string[] = [];
    const scanned = ask({ $filter: "contains(name, 'e')" }, options).then(() => order.push('scan'));
    await ask({}, options).then(() => order.push('page'));
    end();
    await Promise.all([before, scanned]);
    expect(order).toEqual(['page', 'scan']);
  });
});
