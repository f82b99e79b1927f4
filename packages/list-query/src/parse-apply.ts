import { problemAt } from './errors.js';
import { LIMITS } from './limits.js';
import { readCondition } from './parse-condition.js';
import { readOrder } from './parse-order.js';
import { deeper, expectEnd, expectName, expectSign, openReader, peek, readList, take, takeSign, takeWord, unexpected, type Reader } from './reader.js'; // prettier-ignore
import type { AggregateFunction, AggregateItem, Step } from './tree.js';

const FUNCTIONS: ReadonlySet<string> = new Set<AggregateFunction>(['sum', 'average', 'min', 'max', 'countdistinct']);
const ALIAS = /^[A-Za-z_]\w{0,63}$/;
/** Refused as keys of shown rows: the store's id, and properties of every object. */
const RESERVED = new Set(['_id', '__proto__', 'constructor', 'prototype']);

/**
 * Parses `$apply`: transformations joined by `then` (spec, "List query conventions").
 * @throws ListQueryError
 */
export function parseApply(text: string, parameter = '$apply'): Step[] {
  const reader = openReader(text, parameter);
  const steps = readSteps(reader);
  expectEnd(reader);
  return steps;
}

function readSteps(reader: Reader): Step[] {
  const steps = [readStep(reader)];
  while (takeWord(reader, 'then')) steps.push(readStep(reader));
  return steps;
}

function readStep(reader: Reader): Step {
  const { text: name, at } = peek(reader);
  const read = peek(reader).kind === 'word' ? STEPS.get(name) : undefined;
  if (!read) throw unexpected(reader, 'a transformation (aggregate, groupby, filter, orderby, top)');
  take(reader);
  reader.steps += 1;
  if (reader.steps > LIMITS.steps) throw problemAt(reader.parameter, at, `has more than ${LIMITS.steps} transformations`);
  expectSign(reader, '(');
  const step = deeper(reader, () => read(reader));
  expectSign(reader, ')');
  return { ...step, at };
}

/** Parsers for the parentheses of each transformation. The specification writes both `orderby` and `orderBy`. */
const STEPS = new Map<string, (reader: Reader) => Step>([
  [
    'aggregate',
    (reader) => ({ kind: 'aggregate', items: readList(reader, LIMITS.aggregates, 'aggregates', () => readItem(reader)) }),
  ],
  ['groupby', readGroupby],
  ['filter', (reader) => ({ kind: 'filter', condition: readCondition(reader) })],
  ['orderby', (reader) => ({ kind: 'orderby', keys: readOrder(reader) })],
  ['orderBy', (reader) => ({ kind: 'orderby', keys: readOrder(reader) })],
  ['top', (reader) => ({ kind: 'top', count: readCount(reader) })],
]);

function readGroupby(reader: Reader): Step {
  expectSign(reader, '(');
  const keys = readList(reader, LIMITS.groupKeys, 'group properties', () => {
    const { text: path, at } = expectName(reader, 'a property');
    return { path, at };
  });
  expectSign(reader, ')');
  return { kind: 'groupby', keys, steps: takeSign(reader, ',') ? readSteps(reader) : [] };
}

function readItem(reader: Reader): AggregateItem {
  const { text: path, at } = expectName(reader, 'a property or $count');
  if (path === '$count') return { kind: 'count', alias: readAlias(reader), at };
  if (!takeWord(reader, 'with')) throw unexpected(reader, "'with'");
  const called = peek(reader);
  if (called.kind !== 'word' || !FUNCTIONS.has(called.text))
    throw unexpected(reader, `a function (${[...FUNCTIONS].join(', ')})`);
  take(reader);
  return { kind: 'value', path, with: called.text as AggregateFunction, alias: readAlias(reader), at };
}

function readAlias(reader: Reader): string {
  if (!takeWord(reader, 'as')) throw unexpected(reader, "'as'");
  const { text, at } = expectName(reader, 'an alias');
  if (!ALIAS.test(text) || RESERVED.has(text))
    throw problemAt(reader.parameter, at, 'has an invalid alias (letters, digits and _, at most 64)');
  return text;
}

function readCount(reader: Reader): number {
  const { kind, text, at } = peek(reader);
  if (kind !== 'value' || !/^\d{1,9}$/.test(text)) throw unexpected(reader, 'a whole number');
  take(reader);
  if (Number(text) > LIMITS.stepTop) throw problemAt(reader.parameter, at, `must be <= ${LIMITS.stepTop}`);
  return Number(text);
}
