import { spreadOf, type RoundPlan, type Spread } from './rounds.js';

/** Two ways to do something in this process, one call after the other. */
export interface TimeComparison {
  name: string;
  of: 'time';
  /** At most so many times what it is compared with takes. */
  target: number;
  run(): Promise<unknown>;
  /** What it is compared with, in a word or two. */
  against: string;
  runOther(): Promise<unknown>;
}

export interface TimeResult {
  name: string;
  of: 'time';
  against: string;
  target: number;
  isMet: boolean;
  /** Ratios of the medians of one pair of rounds. */
  ratios: { time: Spread };
  /** Medians over the rounds, in milliseconds. */
  time: number;
  other: number;
}

async function medianOf(run: () => Promise<unknown>, milliseconds: number): Promise<number> {
  const end = performance.now() + milliseconds;
  const times: number[] = [];
  do {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  } while (performance.now() < end);
  return spreadOf(times).median;
}

/** Both in turn; each pair of rounds gives one ratio. */
export async function compareTimes(comparison: TimeComparison, { rounds, roundMs }: RoundPlan): Promise<TimeResult> {
  const { name, of, against, target, run, runOther } = comparison;
  for (const way of [run, runOther]) await medianOf(way, roundMs);
  const pairs: { time: number; other: number }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({ time: await medianOf(run, roundMs), other: await medianOf(runOther, roundMs) });
  const ratio = spreadOf(pairs.map(({ time, other }) => time / other));
  const [time, other] = [spreadOf(pairs.map((pair) => pair.time)).median, spreadOf(pairs.map((pair) => pair.other)).median];
  return { name, of, against, target, isMet: ratio.median <= target, ratios: { time: ratio }, time, other };
}
