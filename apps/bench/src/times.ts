import { spreadOf, type RoundPlan, type Spread } from './rounds.js';

/** Two ways to do something, one call after the other. */
export interface TimeComparison {
  name: string;
  of: 'time';
  /** At most this many times the time of the other. */
  target: number;
  /** And at most so many milliseconds. */
  targetMs?: number;
  /** Length of the warm-up, as a multiple of the plan's; 1 by default. */
  warmUpFactor?: number;
  /** The compared figure of a round: the median, or another percentile. */
  share?: 0.5 | 0.95 | 0.99;
  run(): Promise<unknown>;
  /** The name of the other, in a word or two. */
  against: string;
  runOther(): Promise<unknown>;
}

export interface TimeResult {
  name: string;
  of: 'time';
  against: string;
  target: number;
  targetMs: number | undefined;
  isMet: boolean;
  /** Ratios of one pair of rounds. */
  ratios: { time: Spread };
  /** Medians over the rounds, in milliseconds. */
  time: number;
  other: number;
}

async function timeOf(run: () => Promise<unknown>, milliseconds: number, share: number): Promise<number> {
  const end = performance.now() + milliseconds;
  const times: number[] = [];
  do {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  } while (performance.now() < end);
  times.sort((a, b) => a - b);
  return share === 0.5 ? spreadOf(times).median : (times[Math.floor(times.length * share)] as number);
}

/** Warms both up until V8 has compiled the hot code, then alternates them; each pair of rounds gives one ratio. */
export async function compareTimes(comparison: TimeComparison, { rounds, roundMs, warmUpMs }: RoundPlan): Promise<TimeResult> {
  const { name, of, against, target, targetMs, share = 0.5, warmUpFactor = 1, run, runOther } = comparison;
  for (const way of [run, runOther]) await timeOf(way, warmUpMs * warmUpFactor, share);
  const pairs: { time: number; other: number }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({ time: await timeOf(run, roundMs, share), other: await timeOf(runOther, roundMs, share) });
  const ratio = spreadOf(pairs.map(({ time, other }) => time / other));
  const [time, other] = [spreadOf(pairs.map((pair) => pair.time)).median, spreadOf(pairs.map((pair) => pair.other)).median];
  const isMet = ratio.median <= target && time <= (targetMs ?? Infinity);
  return { name, of, against, target, targetMs, isMet, ratios: { time: ratio }, time, other };
}
