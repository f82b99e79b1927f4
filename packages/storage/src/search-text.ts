/**
 * Marks beyond the thirty that Unicode's Stream-Safe Text Format allows a letter: putting a run of them in order takes time by
 * the square of its length. Two halfwidth letters become marks.
 */
const EXCESS_MARKS = /([\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;
/** A letter whose accents do not count. */
const ACCENTED = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])(\p{M}+)/gu;
const BREVE = '\u0306';
const ASCII = /^[\0-\x7f]*$/; // oxlint-disable-line no-control-regex -- the range of ASCII
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** Letters of scripts that write no spaces between words. */
const SPACELESS = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+$/u;

/** Letters of an n-gram. Longer words are found by their first letters, then compared. */
export const GRAM = 6;

/** The text without differences of case and width, and without the accents of Latin, Greek and Cyrillic, but й. */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const bare = text
    .replace(EXCESS_MARKS, '$1')
    .normalize('NFKD')
    .replace(ACCENTED, (_, letter: string, marks: string) => {
      return /[иИ]/.test(letter) && marks.includes(BREVE) ? letter + BREVE : letter;
    });
  // by way of the capitals, ß is ss; those of ẞ are itself; σ has two forms
  return bare.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** The most n-grams of one field: more would make one write fill a large part of the index. */
const GRAMS_MAX = 1000;
/** The most places of a text that are looked at: where letters repeat, so do n-grams. */
const PLACES_MAX = 10_000;
/** Stands among the n-grams of a text that has more, whose words must be read. No word has it. */
export const LONG = '…';

/** The distinct words of a text, folded: runs of letters and digits. */
export function wordsOf(text: string): string[] {
  return [...new Set(foldText(text).match(WORD))];
}

/**
 * What the index holds of some words: after a space their first letters, and from each other place where a search may
 * begin inside a word the next ones. A prefix of these, read as a range of the index, finds every such part of a word,
 * except in texts marked `LONG`.
 */
export function gramsOf(words: readonly string[]): string[] {
  const grams = new Set<string>();
  let places = 0;
  for (const word of words) {
    const letters = Array.from(word);
    places += letters.length;
    if (places > PLACES_MAX) return [...grams, LONG];
    grams.add(` ${letters.slice(0, GRAM).join('')}`);
    for (let at = 1; at < letters.length - 1 && grams.size < GRAMS_MAX; at += 1) {
      const gram = letters.slice(at, at + GRAM).join('');
      if (at < letters.length - 2 || SPACELESS.test(gram)) grams.add(gram);
    }
    if (grams.size >= GRAMS_MAX) return [...grams, LONG];
  }
  return [...grams];
}

/** A word to find: at the beginning of words alone, or anywhere in them. */
export function isFoundInside(word: string): boolean {
  const letters = Array.from(word).filter((letter) => !/\p{M}/u.test(letter)).length;
  return letters >= (SPACELESS.test(word) ? 2 : 3);
}

/** Marks that join the letter before, which the text may have and the part of it not. */
const JOINING = /^[\p{M}\u1160-\u11ff]+/u;
/** Letters that stay the same whatever follows. The others may become another letter with it. */
const STABLE = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Han}\p{N}ーンンっッ]$|[^\P{Script=Cyrillic}и]$/u;

/** Where a text stands in another. */
export type Place = 'anywhere' | 'at the start' | 'whole';

/**
 * The longest part of a text that the index finds in the words of every text where it stands; after a space if it
 * begins a word there. Undefined where there is none.
 */
export function partOf(text: string, place: Place = 'anywhere'): string | undefined {
  const folded = foldText(text);
  if (place === 'whole') return longestOf((folded.match(WORD) ?? []).map((word) => ` ${word}`));
  const runs = Array.from(folded.matchAll(/[\p{L}\p{N}\p{M}]+/gu), ({ 0: run, index }) => {
    const part = run.replace(JOINING, '');
    const stable = STABLE.test(part) ? part : Array.from(part).slice(0, -1).join('');
    const begins = (index > 0 || place === 'at the start') && part === run;
    // a letter that becomes another with what follows still counts as one
    return begins ? ` ${stable}` : isFoundInside(part) ? stable : '';
  });
  return longestOf(runs);
}

function longestOf(parts: string[]): string | undefined {
  const [longest] = parts.sort((one, other) => other.length - one.length);
  return longest?.trimStart() ? longest : undefined;
}
