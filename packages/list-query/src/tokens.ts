import { problemAt, problemOf } from './errors.js';
import { LIMITS } from './limits.js';

export interface Token {
  /** `value` is a number or a date, beginning with a digit or sign; the parser decides which. */
  kind: 'word' | 'value' | 'string' | 'sign' | 'end';
  /** The text, for a string without its quotes and with doubled quotes made single. */
  text: string;
  at: number;
}

const SPACE = /[ \t\r\n]*/y;
const WORD = /[A-Za-z_$][\w.$]*/y;
const VALUE = /[+-]?\d[\w.:+-]*/y;
const SIGN = /[(),]/y;

/**
 * Splits the text of one parameter in one pass. White space is optional around signs and required between other tokens.
 * @throws ListQueryError for a text that is too long, an unknown character, an unclosed string
 */
export function tokenize(text: string, parameter: string): Token[] {
  if (text.length > LIMITS.text) throw problemOf(parameter, `must NOT have more than ${LIMITS.text} characters`);
  const tokens: Token[] = [];
  let at = skipSpace(text, 0);
  while (at < text.length) {
    const token = readString(text, at, parameter) ?? readToken(text, at, parameter);
    const end = token.kind === 'string' ? endOfString(text, at) : at + token.text.length;
    tokens.push(token);
    const next = skipSpace(text, end);
    if (next === end && next < text.length && token.kind !== 'sign' && !matches(SIGN, text, next))
      throw problemAt(parameter, next, 'lacks a space');
    at = next;
  }
  tokens.push({ kind: 'end', text: '', at: text.length });
  return tokens;
}

function readToken(text: string, at: number, parameter: string): Token {
  for (const [kind, pattern] of [
    ['word', WORD],
    ['value', VALUE],
    ['sign', SIGN],
  ] as const) {
    const found = matches(pattern, text, at);
    if (found !== undefined) return { kind, text: found, at };
  }
  throw problemAt(parameter, at, 'has an unexpected character');
}

function readString(text: string, at: number, parameter: string): Token | undefined {
  if (text[at] !== "'") return undefined;
  const end = endOfString(text, at);
  if (end < 0) throw problemAt(parameter, at, 'has an unclosed string');
  return { kind: 'string', text: text.slice(at + 1, end - 1).replaceAll("''", "'"), at };
}

/** The end of the string that begins at `at`, closing quote included; -1 for an unclosed one. */
function endOfString(text: string, at: number): number {
  let quote = text.indexOf("'", at + 1);
  while (quote >= 0 && text[quote + 1] === "'") quote = text.indexOf("'", quote + 2);
  return quote < 0 ? -1 : quote + 1;
}

function skipSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.test(text);
  return SPACE.lastIndex;
}

/** What a sticky pattern matches at a place. */
function matches(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
