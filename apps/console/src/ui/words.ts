const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
/** What `$search` takes: words, and characters of all together. */
const [WORDS, SHORTEST, LONGEST] = [10, 2, 200];

/** What is typed so far as a text to search for; empty as long as it is too little. */
export function wordsOf(typed: string): string {
  const words = (typed.normalize('NFKC').match(WORD) ?? []).slice(0, WORDS);
  const text = Array.from(words.join(' ')).slice(0, LONGEST).join('').trimEnd();
  return Array.from(text).length < SHORTEST ? '' : text;
}
