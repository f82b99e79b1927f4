import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { condition, expand, order, steps, withoutOffsets } from '../test/arbitraries.js';
import { LIMITS } from './limits.js';
import { parseApply } from './parse-apply.js';
import { parseFilter } from './parse-condition.js';
import { parseExpand } from './parse-expand.js';
import { parseOrder } from './parse-order.js';
import { printApply, printExpand, printFilter, printOrder } from './print.js';

function expectRoundTrip<Tree>(trees: Arbitrary<Tree>, print: (tree: Tree) => string, parse: (text: string) => Tree): void {
  fc.assert(
    fc.property(trees, (tree) => {
      const text = print(tree);
      fc.pre(text.length <= LIMITS.text);
      expect(withoutOffsets(parse(text))).toEqual(withoutOffsets(tree));
    }),
    { seed: 20_240_701, numRuns: 2000 },
  );
}

describe('parsing printed text gives the same tree', () => {
  it('of conditions', () => expectRoundTrip(condition, printFilter, parseFilter));
  it('of orders', () => expectRoundTrip(order, printOrder, parseOrder));
  it('of expansions', () => expectRoundTrip(expand, printExpand, parseExpand));
  it('of transformations', () => expectRoundTrip(steps, printApply, parseApply));
});

it('a tree keeps its shape: necessary parentheses stay, others go', () => {
  const printed = (text: string) => printFilter(parseFilter(text));
  expect(printed('a eq 1 or b eq 2 and c eq 3')).toBe('a eq 1 or b eq 2 and c eq 3');
  expect(printed('(a eq 1 or b eq 2) and ((c eq 3))')).toBe('(a eq 1 or b eq 2) and c eq 3');
  expect(printed("not  (name in('it''s',null))")).toBe("not (name in ('it''s', null))");
});
