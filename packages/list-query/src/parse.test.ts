import { describe, expect, it } from 'vitest';
import { withoutOffsets } from '../test/arbitraries.js';
import { ListQueryError } from './errors.js';
import { parseApply } from './parse-apply.js';
import { parseFilter } from './parse-condition.js';
import { parseExpand } from './parse-expand.js';
import { parseOrder } from './parse-order.js';

/** The problem of a text: `offset: message`. */
function problemOf(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    if (error instanceof ListQueryError) return `${error.offset}: ${error.message}`;
    throw error;
  }
  return 'none';
}

describe('$filter', () => {
  it.each([
    ['', "0: query parameter '$filter' needs a property instead of the end at offset 0"],
    ['price eq 20 and', "15: query parameter '$filter' needs a property instead of the end at offset 15"],
    ['price 20', "6: query parameter '$filter' needs an operator (eq, ne, gt, ge, lt, le, in) instead of '20' at offset 6"],
    ['price EQ 20', "6: query parameter '$filter' needs an operator (eq, ne, gt, ge, lt, le, in) instead of 'EQ' at offset 6"],
    ['price eq 20)', "11: query parameter '$filter' needs the end instead of ')' at offset 11"],
    ['(price eq 20', "12: query parameter '$filter' needs ')' instead of the end at offset 12"],
    ["name eq 'Alpha", "8: query parameter '$filter' has an unclosed string at offset 8"],
    ["name eq 'Al''pha''", "8: query parameter '$filter' has an unclosed string at offset 8"],
    ['name eq "Alpha"', "8: query parameter '$filter' has an unexpected character at offset 8"],
    ["name eq'Alpha'", "7: query parameter '$filter' lacks a space at offset 7"],
    ["name eq 'a''b'and x eq 1", "14: query parameter '$filter' lacks a space at offset 14"],
    ['price eq 1.2.3', "9: query parameter '$filter' has a malformed number at offset 9"],
    ['price eq 0x10', "9: query parameter '$filter' has a malformed number at offset 9"],
    ['price eq 1e999', "9: query parameter '$filter' has a number that is too large at offset 9"],
    ['price in ()', "10: query parameter '$filter' needs a value instead of ')' at offset 10"],
    ['price in 5', "9: query parameter '$filter' needs '(' instead of '5' at offset 9"],
    ['price eq maybe', "9: query parameter '$filter' needs a value instead of 'maybe' at offset 9"],
    [
      "price 'eq' 20",
      "6: query parameter '$filter' needs an operator (eq, ne, gt, ge, lt, le, in) instead of a string at offset 6",
    ],
    ["'not' (a eq 1)", "0: query parameter '$filter' needs a property instead of a string at offset 0"],
    ['exists (a eq 1)', "7: query parameter '$filter' needs an operator (eq, ne, gt, ge, lt, le, in) instead of '(' at offset 7"],
    ['20 eq price', "0: query parameter '$filter' needs a property instead of '20' at offset 0"],
    ['price eq\u00a020', "8: query parameter '$filter' lacks a space at offset 8"],
  ])('%s', (text, problem) => expect(problemOf(() => parseFilter(text))).toBe(problem));

  it('takes every kind of value', () => {
    const kinds = parseFilter("a in ('it''s', -1.5, +2, 8e2, 1E-3, true, null, 2024-02-29, 2024-02-29T10:00:00+09:00, '')");
    expect(withoutOffsets(kinds)).toMatchObject({
      values: [
        { kind: 'string', value: "it's" },
        { kind: 'number', value: -1.5 },
        { kind: 'number', value: 2 },
        { kind: 'number', value: 800 },
        { kind: 'number', value: 0.001 },
        { kind: 'boolean', value: true },
        { kind: 'null' },
        { kind: 'date', value: '2024-02-29' },
        { kind: 'date', value: '2024-02-29T10:00:00+09:00' },
        { kind: 'string', value: '' },
      ],
    });
  });

  it('takes minus zero for zero', () => expect(parseFilter('a eq -0')).toMatchObject({ value: { kind: 'number', value: 0 } }));

  it('binds and tighter than or, from left to right', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((path) => ({
      kind: 'compare',
      path,
      operator: 'eq',
      value: { kind: 'number', value: 1 },
    }));
    expect(withoutOffsets(parseFilter('a eq 1 or b eq 1 and c eq 1 or d eq 1'))).toEqual({
      kind: 'or',
      terms: [a, { kind: 'and', terms: [b, c] }, d],
    });
  });

  it('takes keywords as names where a name is expected', () => {
    expect(withoutOffsets(parseFilter('not eq 1 and in in (1) and and ne 2'))).toMatchObject({
      terms: [{ path: 'not' }, { path: 'in', kind: 'in' }, { path: 'and' }],
    });
  });
});

describe('$orderby and $expand', () => {
  it.each([
    ['', "0: query parameter '$orderby' needs a property instead of the end at offset 0"],
    ['price,,name', "6: query parameter '$orderby' needs a property instead of ',' at offset 6"],
    ['price up', "6: query parameter '$orderby' needs the end instead of 'up' at offset 6"],
    ['price desc asc', "11: query parameter '$orderby' needs the end instead of 'asc' at offset 11"],
    ['price,', "6: query parameter '$orderby' needs a property instead of the end at offset 6"],
    ['-price', "0: query parameter '$orderby' has an unexpected character at offset 0"],
    ['a,b,c,d,e,f', "10: query parameter '$orderby' has more than 5 sort keys at offset 10"],
  ])('%s', (text, problem) => expect(problemOf(() => parseOrder(text))).toBe(problem));

  it.each([
    ['', "0: query parameter '$expand' needs a relation instead of the end at offset 0"],
    ['category(', "8: query parameter '$expand' needs the end instead of '(' at offset 8"],
    ['*', "0: query parameter '$expand' has an unexpected character at offset 0"],
    ['a,b,c,d,e,f', "10: query parameter '$expand' has more than 5 relations at offset 10"],
  ])('%s', (text, problem) => expect(problemOf(() => parseExpand(text))).toBe(problem));
});

describe('$apply', () => {
  const functions = 'sum, average, min, max, countdistinct';
  const transformations = 'aggregate, groupby, filter, orderby, top';
  it.each([
    ['', `0: query parameter '$apply' needs a transformation (${transformations}) instead of the end at offset 0`],
    ['identity()', `0: query parameter '$apply' needs a transformation (${transformations}) instead of 'identity' at offset 0`],
    ['top(1) then', `11: query parameter '$apply' needs a transformation (${transformations}) instead of the end at offset 11`],
    ['top(2) top(1)', "7: query parameter '$apply' needs the end instead of 'top' at offset 7"],
    ['top(1.5)', "4: query parameter '$apply' needs a whole number instead of '1.5' at offset 4"],
    ['top(-1)', "4: query parameter '$apply' needs a whole number instead of '-1' at offset 4"],
    ['top(100001)', "4: query parameter '$apply' must be <= 100000 at offset 4"],
    ['topRated(1)', `0: query parameter '$apply' needs a transformation (${transformations}) instead of 'topRated' at offset 0`],
    ['groupby(status)', "8: query parameter '$apply' needs '(' instead of 'status' at offset 8"],
    ['aggregate(price as s)', "16: query parameter '$apply' needs 'with' instead of 'as' at offset 16"],
    [
      'aggregate(price with median as m)',
      `21: query parameter '$apply' needs a function (${functions}) instead of 'median' at offset 21`,
    ],
    ['aggregate(price with sum)', "24: query parameter '$apply' needs 'as' instead of ')' at offset 24"],
    [
      'aggregate($count as $n)',
      "20: query parameter '$apply' has an invalid alias (letters, digits and _, at most 64) at offset 20",
    ],
    [
      'aggregate($count as __proto__)',
      "20: query parameter '$apply' has an invalid alias (letters, digits and _, at most 64) at offset 20",
    ],
  ])('%s', (text, problem) => expect(problemOf(() => parseApply(text))).toBe(problem));

  it('is read with both spellings of orderby', () => {
    expect(withoutOffsets(parseApply('orderby(a) then orderBy(b desc)'))).toEqual([
      { kind: 'orderby', keys: [{ path: 'a', direction: 'asc' }] },
      { kind: 'orderby', keys: [{ path: 'b', direction: 'desc' }] },
    ]);
  });
});

describe('limits', () => {
  it.each([
    ['text', () => parseFilter(`a eq '${'x'.repeat(4096)}'`), 'must NOT have more than 4096 characters'],
    ['depth', () => parseFilter(`${'('.repeat(33)}a eq 1${')'.repeat(33)}`), 'nests deeper than 32'],
    ['depth of not', () => parseFilter(`${'not ('.repeat(33)}a eq 1${')'.repeat(33)}`), 'nests deeper than 32'],
    ['comparisons', () => parseFilter(Array(101).fill('a eq 1').join(' or ')), 'has more than 100 comparisons'],
    [
      'calls of tolower',
      () => parseFilter(Array(11).fill("contains(tolower(a), 'b')").join(' and ')),
      "calls 'tolower' more than 10 times",
    ],
    [
      'comparisons of a chain',
      () =>
        parseApply(
          Array(10)
            .fill(`filter(${Array(11).fill('a eq 1').join(' or ')})`)
            .join(' then '),
        ),
      'has more than 100 comparisons',
    ],
    ['values', () => parseFilter(`a in (${Array(101).fill('1').join()})`), "has more than 100 values of an 'in'"],
    ['steps', () => parseApply(Array(11).fill('top(1)').join(' then ')), 'has more than 10 transformations'],
    [
      'steps in groups',
      () => parseApply(`${'groupby((a),'.repeat(10)}top(1)${')'.repeat(10)}`),
      'has more than 10 transformations',
    ],
    ['keys', () => parseApply(`groupby((${Array(9).fill('a').join()}))`), 'has more than 8 group properties'],
    ['aggregates', () => parseApply(`aggregate(${Array(21).fill('$count as n').join()})`), 'has more than 20 aggregates'],
  ])('%s', (_, parse, problem) => expect(problemOf(parse)).toContain(problem));

  it('allow what is just within them', () => {
    expect(problemOf(() => parseFilter(`${'('.repeat(32)}a eq 1${')'.repeat(32)}`))).toBe('none');
    expect(problemOf(() => parseFilter(Array(100).fill('a eq 1').join(' or ')))).toBe('none');
    expect(problemOf(() => parseFilter(`a in (${Array(100).fill('1').join()})`))).toBe('none');
    expect(problemOf(() => parseFilter(`a eq '${'x'.repeat(4089)}'`))).toBe('none');
    expect(problemOf(() => parseOrder('a,b,c,d,e'))).toBe('none');
    expect(problemOf(() => parseExpand('a,b,c,d,e'))).toBe('none');
    expect(problemOf(() => parseApply(Array(10).fill('top(100000)').join(' then ')))).toBe('none');
    expect(problemOf(() => parseApply(`groupby((${Array(8).fill('a').join()}))`))).toBe('none');
    expect(problemOf(() => parseApply(`aggregate(${Array(20).fill('$count as n').join()})`))).toBe('none');
  });

  it('keep messages from echoing more than a little of the text', () => {
    const [most, more] = [60, 61].map((length) => problemOf(() => parseOrder(`price ${'x'.repeat(length)}`)));
    expect(most).toContain(`instead of '${'x'.repeat(60)}' at`);
    expect(more).toContain(`instead of '${'x'.repeat(60)}…' at`);
  });
});
