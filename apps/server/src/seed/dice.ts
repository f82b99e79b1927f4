/** Numbers and choices as by chance. */
export interface Dice {
  /** A whole number from 0 to below the limit. */
  below(limit: number): number;
  pick<T>(from: readonly T[]): T;
  /** Different ones, as many as asked for, or all. */
  some<T>(from: readonly T[], count: number): T[];
}

/** Makes the same choices at each run, so that everybody gets the same data (a linear congruential generator). */
export function createDice(seed: number): Dice {
  let state = seed;
  const next = () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (from) => from[below(from.length)] as (typeof from)[number],
    some(from, count) {
      const left = [...from];
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(below(left.length), 1)).flat();
    },
  };
}
