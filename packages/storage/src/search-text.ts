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
  const bare = text.normalize('NFKD').replace(ACCENTED, (_, letter: string, marks: string) => {
    return /[иИ]/.test(letter) && marks.includes(BREVE) ? letter + BREVE : letter;
  });
  // by way of the capitals, ß is ss; σ has two forms
  return bare.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** The distinct words of a text, folded: runs of letters and digits. */
export function wordsOf(text: string): string[] {
  return [...new Set(foldText(text).match(WORD))];
}

/**
 * What the index holds of some words: from each place in a word the next letters, and after `^` its first two. A prefix
 * of these, read as a range of the index, finds every part of a word.
 */
export function gramsOf(words: readonly string[]): string[] {
  const grams = new Set<string>();
  for (const word of words) {
    const letters = Array.from(word);
    grams.add(`^${letters.slice(0, 2).join('')}`);
    for (let at = 0; at < letters.length; at += 1) grams.add(letters.slice(at, at + GRAM).join(''));
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

/** The longest part of a text that stands in the words of every text which contains it; undefined where there is none. */
export function partOf(text: string): string | undefined {
  const runs = foldText(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const parts = runs.map((run) => {
    const part = run.replace(JOINING, '');
    return STABLE.test(part) ? part : Array.from(part).slice(0, -1).join('');
  });
  const [longest] = parts.sort((one, other) => other.length - one.length);
  return longest === undefined || longest === '' ? undefined : longest;
}
