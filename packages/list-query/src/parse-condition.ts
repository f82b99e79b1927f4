import { problemAt } from './errors.js';
import { LIMITS } from './limits.js';
import { deeper, expectEnd, expectName, expectSign, isSign, openReader, peek, readList, take, takeWord, unexpected, type Reader } from './reader.js'; // prettier-ignore
import type { Comparison, Condition, Literal, Subject, TextFunction } from './tree.js';

const COMPARISONS: ReadonlySet<string> = new Set<Comparison>(['eq', 'ne', 'gt', 'ge', 'lt', 'le']);
const TEXT_FUNCTIONS: ReadonlySet<string> = new Set<TextFunction>(['contains', 'startswith', 'endswith']);
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const DATE = /^\d{4}-\d\d-\d\d/;

/**
 * Parses the conditions of `$filter` (decisions L3).
 * @throws ListQueryError
 */
export function parseFilter(text: string, parameter = '$filter'): Condition {
  const reader = openReader(text, parameter);
  const condition = readCondition(reader);
  expectEnd(reader);
  return condition;
}

/** Reads conditions as far as they go: `and` binds tighter than `or`. */
export function readCondition(reader: Reader): Condition {
  return readJoined(reader, 'or', () => readJoined(reader, 'and', () => readTerm(reader)));
}

function readJoined(reader: Reader, kind: 'and' | 'or', readTerm: () => Condition): Condition {
  const first = readTerm();
  if (!takeWord(reader, kind)) return first;
  const terms = [first];
  do terms.push(readTerm());
  while (takeWord(reader, kind));
  return { kind, terms };
}

function readTerm(reader: Reader): Condition {
  if (isSign(reader, '(')) return readParentheses(reader);
  if (takeCall(reader, 'not')) return { kind: 'not', term: readParentheses(reader) };
  const called = peek(reader).text;
  return TEXT_FUNCTIONS.has(called) && takeCall(reader, called)
    ? readTextFunction(reader, called as TextFunction)
    : readComparison(reader);
}

/** Takes the name of an operator or function. Only a parenthesis behind it makes it one: fields may have these names. */
function takeCall(reader: Reader, name: string): boolean {
  return isSign(reader, '(', 1) && takeWord(reader, name);
}

function readParentheses(reader: Reader): Condition {
  expectSign(reader, '(');
  const condition = deeper(reader, () => readCondition(reader));
  expectSign(reader, ')');
  return condition;
}

/** `contains(name, 'x')`, from the parenthesis. */
function readTextFunction(reader: Reader, called: TextFunction): Condition {
  expectSign(reader, '(');
  const subject = readSubject(reader);
  expectSign(reader, ',');
  if (peek(reader).kind !== 'string') throw unexpected(reader, 'a string');
  const { text } = take(reader);
  expectSign(reader, ')');
  return { kind: 'text', called, text, ...subject };
}

function readSubject(reader: Reader): Subject {
  const isLower = takeCall(reader, 'tolower');
  if (isLower) expectSign(reader, '(');
  const { text: path, at } = expectName(reader, 'a property');
  if (isLower) expectSign(reader, ')');
  reader.comparisons += 1;
  if (reader.comparisons > LIMITS.comparisons)
    throw problemAt(reader.parameter, at, `has more than ${LIMITS.comparisons} comparisons`);
  if (isLower) reader.lowered += 1;
  if (reader.lowered > LIMITS.lowered) throw problemAt(reader.parameter, at, `calls 'tolower' more than ${LIMITS.lowered} times`);
  return { path, ...(isLower && { lower: true }), at };
}

function readComparison(reader: Reader): Condition {
  const subject = readSubject(reader);
  if (takeWord(reader, 'in')) return { kind: 'in', ...subject, values: readValues(reader) };
  const operator = peek(reader);
  if (operator.kind !== 'word' || !COMPARISONS.has(operator.text))
    throw unexpected(reader, 'an operator (eq, ne, gt, ge, lt, le, in)');
  take(reader);
  return { kind: 'compare', ...subject, operator: operator.text as Comparison, value: readLiteral(reader) };
}

function readValues(reader: Reader): Literal[] {
  expectSign(reader, '(');
  const values = readList(reader, LIMITS.inValues, "values of an 'in'", () => readLiteral(reader));
  expectSign(reader, ')');
  return values;
}

function readLiteral(reader: Reader): Literal {
  const { kind, text, at } = peek(reader);
  // only words can be keywords: strings and values never are
  const literal: Literal | undefined = kind === 'string' ? { kind, value: text, at } : named(text, at);
  if (literal) {
    take(reader);
    return literal;
  }
  if (kind !== 'value') throw unexpected(reader, 'a value');
  take(reader);
  if (DATE.test(text)) return { kind: 'date', value: text, at };
  if (!NUMBER.test(text)) throw problemAt(reader.parameter, at, 'has a malformed number');
  // Adding zero turns minus zero into zero.
  const value = Number(text) + 0;
  if (!Number.isFinite(value)) throw problemAt(reader.parameter, at, 'has a number that is too large');
  return { kind: 'number', value, at };
}

function named(word: string, at: number): Literal | undefined {
  if (word === 'null') return { kind: 'null', at };
  return word === 'true' || word === 'false' ? { kind: 'boolean', value: word === 'true', at } : undefined;
}
