import { percentile } from './load.js';
import { spreadOf, type RoundPlan, type Spread } from './rounds.js';

/** How long answers take while nothing else happens, and while something does. */
export interface LatencyComparison {
  name: string;
  of: 'p99';
  /** At most this many times the quiet value. */
  target: number;
  /** The rate of the disturbance that is wanted. */
  atLeast?: number;
  /** The most rounds, where one takes long. */
  roundsMax?: number;
  /** Length of a round, as a multiple of the plan's: the 99th percentile of few answers is arbitrary. */
  roundMsFactor: number;
  /** Reads at a steady rate for this time. @returns milliseconds of each answer */
  measure(milliseconds: number): Promise<number[]>;
  /**
   * Starts the disturbance; resolves when it is under way. @returns a function that ends it, and tells its rate per
   * second
   */
  disturb(): Promise<() => Promise<number>>;
}

/** Percentiles of one round, in milliseconds. */
interface Latencies {
  answers: number;
  median: number;
  p99: number;
}

interface Pair {
  quiet: Latencies;
  disturbed: Latencies & { disturbances: number };
}

export interface LatencyResult {
  name: string;
  of: 'p99';
  target: number;
  /** See `LatencyComparison`. */
  atLeast?: number;
  isMet: boolean;
  /** Ratios of the disturbed 99th percentile to the quiet one, each of one pair of rounds. */
  ratios: { p99: Spread };
  /** Medians over the rounds, in milliseconds; `disturbances` a second. */
  quiet: { median: number; p99: number };
  disturbed: { median: number; p99: number; disturbances: number };
  /** Every round, in order. */
  pairs: Pair[];
}

function summarize(latencies: readonly number[]): Latencies {
  return { answers: latencies.length, median: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
}

/** Alternates quiet and disturbed rounds; each pair of rounds gives one ratio. */
export async function compareLatency(comparison: LatencyComparison, plan: RoundPlan): Promise<LatencyResult> {
  const { name, of, target, atLeast, roundsMax = plan.rounds, roundMsFactor, measure, disturb } = comparison;
  const milliseconds = plan.roundMs * roundMsFactor;
  await measure(plan.warmUpMs);
  const pairs: Pair[] = [];
  for (let round = 0; round < Math.min(plan.rounds, roundsMax); round++) {
    const quiet = summarize(await measure(milliseconds));
    const end = await disturb();
    const latencies = await measure(milliseconds);
    pairs.push({ quiet, disturbed: { ...summarize(latencies), disturbances: await end() } });
  }
  const medianOf = (figure: (pair: Pair) => number) => spreadOf(pairs.map(figure)).median;
  const ratios = { p99: spreadOf(pairs.map(({ quiet, disturbed }) => disturbed.p99 / quiet.p99)) };
  return {
    name,
    of,
    target,
    isMet: ratios.p99.median <= target && medianOf(({ disturbed }) => disturbed.disturbances) >= (atLeast ?? 0),
    ...(atLeast !== undefined && { atLeast }),
    ratios,
    quiet: { median: medianOf(({ quiet }) => quiet.median), p99: medianOf(({ quiet }) => quiet.p99) },
    disturbed: {
      median: medianOf(({ disturbed }) => disturbed.median),
      p99: medianOf(({ disturbed }) => disturbed.p99),
      disturbances: medianOf(({ disturbed }) => disturbed.disturbances),
    },
    pairs,
  };
}
