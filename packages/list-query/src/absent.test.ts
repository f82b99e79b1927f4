import type { Collection } from 'mongodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { defineListResource, runListQuery } from './index.js';

const notes = defineListResource({
  name: 'notes',
  fields: { isRead: { type: 'boolean', absent: false }, text: { type: 'string', absent: '' }, kind: 'string' },
});

/** Documents with a letter as id: missing, null, the value itself, another. */
const documents = [
  { _id: 'a', kind: 'x' },
  { _id: 'b', isRead: null, text: null, kind: 'x' },
  { _id: 'c', isRead: false, text: '', kind: 'y' },
  { _id: 'd', isRead: true, text: 'hi', kind: 'y' },
];

let collection: Collection<Stored>;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'notes', documents);
});

async function ask(query: Record<string, string>) {
  return (await runListQuery(notes, Object.entries(query), { collection })).value;
}

describe('a field that may be missing', () => {
  it.each([
    ['isRead eq false', 'abc'],
    ['isRead ne false', 'd'],
    ['isRead ne true', 'abc'],
    ['isRead eq null', ''],
    ['isRead ne null', 'abcd'],
    ['isRead in (false, null)', 'abc'],
    ['isRead in (true)', 'd'],
    ['not (isRead in (true))', 'abc'],
    ['isRead lt true', 'abc'],
    ['isRead ge false', 'abcd'],
    ['isRead gt false', 'd'],
    ["text eq ''", 'abc'],
    ["text lt 'z'", 'abcd'],
    ["text lt ''", ''],
    ["text le ''", 'abc'],
    ["text ge 'a'", 'd'],
  ])('counts as its value where %s', async ($filter, expected) => {
    const found = await ask({ $filter, $orderby: 'id' });
    expect(found.map(({ id }) => id).join('')).toBe(expected);
    const counted = await ask({ $apply: `groupby((id), filter(${$filter}) then aggregate($count as n)) then filter(n gt 0)` });
    expect(counted.map(({ id }) => id).join('')).toBe(expected);
  });

  it('is one group with its value, counts as one value, and sorts beside it', async () => {
    const byRead = 'groupby((isRead), aggregate($count as n, text with countdistinct as texts))';
    const groups = [
      { isRead: false, n: 3, texts: 1 },
      { isRead: true, n: 1, texts: 1 },
    ];
    expect(await ask({ $apply: byRead })).toEqual(groups);
    expect(await ask({ $apply: 'groupby((isRead, kind), aggregate($count as n))' })).toEqual([
      { isRead: false, kind: 'x', n: 2 },
      { isRead: false, kind: 'y', n: 1 },
      { isRead: true, kind: 'y', n: 1 },
    ]);
    expect((await ask({ $orderby: 'isRead desc' })).map(({ id }) => id)).toEqual(['d', 'c', 'a', 'b']);
  });

  it('cannot declare a value of another type as absent', () => {
    expect(() => defineListResource({ name: 'x', fields: { n: { type: 'number', absent: false } } })).toThrow(
      'n cannot count as',
    );
  });
});
