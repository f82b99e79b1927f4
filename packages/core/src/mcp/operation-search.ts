import { serviceOf, type Operation } from '../operation.js';
import { whoOf } from '../rest/openapi.js';
import { effectOf, type Effect } from './described-operation.js';

/** Most operations that a search finds. */
const FOUND_MAX = 10;
/** Words of a query that count: each is compared with every operation. */
const WORDS_MAX = 16;

/** What agents say for the verbs of names. */
const ALSO: Record<string, string> = {
  create: 'add new make send post',
  patch: 'update change edit modify set',
  delete: 'remove',
  remove: 'delete',
  get: 'read show fetch',
  list: 'find all show get',
};

/** A found operation. */
export interface FoundOperation {
  operation: string;
  summary: string;
  who: string;
  effect: Effect;
}

/** A service by its name, and what it is for. */
export interface DescribedService {
  name: string;
  description: string;
}

/** The words of a text, in lower case and the singular: `productVariants.list` gives `product`, `variant`, `list`. */
function wordsOf(text: string): string[] {
  const apart = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return (apart.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => word.replace(/ies$/, 'y').replace(/(?<=..)s$/, ''));
}

/** How well a word fits the first words that it fits: all of one, the beginning of one, or none. */
function fit(word: string, ranked: readonly (readonly [words: ReadonlySet<string>, weight: number])[]): number {
  for (const [words, weight] of ranked) if (words.has(word)) return weight;
  if (word.length < 3) return 0;
  for (const [words, weight] of ranked) for (const one of words) if (one.startsWith(word)) return weight / 2;
  return 0;
}

/**
 * Finds operations by words of their names, summaries and services, best first.
 * @param services what services are for; those without operations are left out
 */
export function createOperationSearch(operations: readonly Operation[], services: readonly DescribedService[]) {
  const purposes = new Map(services.map(({ name, description }) => [name, description]));
  const entries = operations.map((operation) => {
    const { name, options } = operation;
    const ofName = wordsOf(name);
    const found: FoundOperation = {
      operation: name,
      summary: options.summary,
      who: whoOf(operation),
      effect: effectOf(operation),
    };
    const ranked = [
      [new Set(ofName), 6],
      [new Set(ofName.flatMap((word) => wordsOf(ALSO[word] ?? ''))), 4],
      [new Set(wordsOf(options.summary)), 3],
      [new Set(wordsOf(purposes.get(serviceOf(name)) ?? '')), 1],
    ] as const;
    return { found, ranked, isRead: found.effect === 'reads', length: ofName.length };
  });
  const names = new Set(operations.map(({ name }) => serviceOf(name)));
  const exposed = [...names].sort().map((name) => ({ name, description: purposes.get(name) ?? '' }));

  /** At most ten operations; where there is none, all services instead. */
  return (query: string): { operations: FoundOperation[]; services?: DescribedService[] } => {
    const scores = entries.map((entry) => ({ ...entry, score: 0 }));
    for (const word of new Set(wordsOf(query).slice(0, WORDS_MAX))) {
      const fits = entries.map(({ ranked }) => fit(word, ranked));
      // a word that fits few of them tells more: `a` and `of` fit most
      const rarity = Math.log(1 + entries.length / Math.max(1, fits.filter((one) => one > 0).length));
      for (const [at, entry] of scores.entries()) entry.score += (fits[at] as number) * rarity;
    }
    const found = scores
      .filter(({ score }) => score > 0)
      // of equal ones those that change nothing come first, then the plainest
      .sort((a, b) => b.score - a.score || Number(b.isRead) - Number(a.isRead) || a.length - b.length)
      .slice(0, FOUND_MAX)
      .map((entry) => entry.found);
    return found.length > 0 ? { operations: found } : { operations: [], services: exposed };
  };
}
