import { problemAt, shorten, type ListQueryError } from './errors.js';
import { LIMITS } from './limits.js';
import { tokenize, type Token } from './tokens.js';

/** The tokens of one parameter, read from left to right, and the counts against its limits. */
export interface Reader {
  readonly parameter: string;
  readonly tokens: readonly Token[];
  next: number;
  depth: number;
  comparisons: number;
  /** Calls of `tolower`. */
  lowered: number;
  steps: number;
}

/** @throws ListQueryError for text that is empty or cannot be tokenized */
export function openReader(text: string, parameter: string): Reader {
  return { parameter, tokens: tokenize(text, parameter), next: 0, depth: 0, comparisons: 0, lowered: 0, steps: 0 };
}

/** The next token, or one further ahead. */
export function peek(reader: Reader, ahead = 0): Token {
  return (reader.tokens[reader.next + ahead] ?? reader.tokens.at(-1)) as Token;
}

export function take(reader: Reader): Token {
  const token = peek(reader);
  reader.next += 1;
  return token;
}

/** Whether that sign is next. */
export function isSign(reader: Reader, sign: '(' | ')' | ',', ahead = 0): boolean {
  const { kind, text } = peek(reader, ahead);
  return kind === 'sign' && text === sign;
}

/** Takes the sign if it is next. */
export function takeSign(reader: Reader, sign: '(' | ')' | ','): boolean {
  const found = isSign(reader, sign);
  if (found) reader.next += 1;
  return found;
}

/** Takes the keyword if it is next. */
export function takeWord(reader: Reader, word: string): boolean {
  const { kind, text } = peek(reader);
  const found = kind === 'word' && text === word;
  if (found) reader.next += 1;
  return found;
}

export function expectSign(reader: Reader, sign: '(' | ')' | ','): void {
  if (!takeSign(reader, sign)) throw unexpected(reader, `'${sign}'`);
}

/** Takes any word: where a name is expected, keywords are names. */
export function expectName(reader: Reader, what: string): Token {
  const token = peek(reader);
  if (token.kind !== 'word') throw unexpected(reader, what);
  return take(reader);
}

export function expectEnd(reader: Reader): void {
  if (peek(reader).kind !== 'end') throw unexpected(reader, 'the end');
}

/** The problem of finding something other than `wanted`. */
export function unexpected(reader: Reader, wanted: string): ListQueryError {
  const { kind, text, at } = peek(reader);
  const found = kind === 'end' ? 'the end' : kind === 'string' ? 'a string' : `'${shorten(text)}'`;
  return problemAt(reader.parameter, at, `needs ${wanted} instead of ${found}`);
}

/** Reads a nested part, up to the depth limit. */
export function deeper<T>(reader: Reader, read: () => T): T {
  reader.depth += 1;
  if (reader.depth > LIMITS.depth) throw problemAt(reader.parameter, peek(reader).at, `nests deeper than ${LIMITS.depth}`);
  const result = read();
  reader.depth -= 1;
  return result;
}

/** Reads one or more items, separated by commas. @throws ListQueryError for more than `limit` */
export function readList<T>(reader: Reader, limit: number, what: string, readItem: () => T): T[] {
  const items: T[] = [];
  do {
    if (items.length === limit) throw problemAt(reader.parameter, peek(reader).at, `has more than ${limit} ${what}`);
    items.push(readItem());
  } while (takeSign(reader, ','));
  return items;
}
