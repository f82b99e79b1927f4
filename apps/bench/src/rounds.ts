import type { MeasuredProcess } from './measured-process.js';
import type { LoadResult } from './load.js';

export interface Figures {
  /** Requests a second. */
  rate: number;
  /** CPU time of the server's process per request, in microseconds. */
  cpu: number;
  /** 99th percentile of the time until an answer, in milliseconds; NaN where that is not measured. */
  p99: number;
}

/** The figures of one side in one round. */
interface Measurement extends Figures {
  requests: number;
}

/** One side of a comparison: a process, and its load. */
export interface Side {
  process: Pick<MeasuredProcess, 'cpu'>;
  /** Called before each round, outside the measurement. */
  prepare?(): Promise<void>;
  run(milliseconds: number): Promise<LoadResult>;
}

export interface Comparison {
  name: string;
  /** The target's measure: at most this many times the CPU per request, or at least this many times the rate. */
  of: 'cpu' | 'rate';
  target?: number;
  /** And at most this many times the 99th percentile. */
  p99Target?: number;
  /** Requests to warm up each side with, if time allows. */
  warmUpRequests: number;
  /** Length of the warm-up, as a multiple of the plan's; 1 by default. More where requests are slow. */
  warmUpFactor?: number;
  /** Number of rounds, as a multiple of the plan's; 1 by default. More where rounds are short. */
  roundsFactor?: number;
  tandem: Side;
  bare: Side;
}

export interface RoundPlan {
  rounds: number;
  roundMs: number;
  /** Longest warm-up of one side. */
  warmUpMs: number;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
}

export interface ComparisonResult {
  name: string;
  of: 'cpu' | 'rate';
  target: number | undefined;
  p99Target: number | undefined;
  /** Undefined without a target. */
  isMet: boolean | undefined;
  /** Ratios of the server under test to the bare one, each of one pair of rounds. */
  ratios: Record<keyof Figures, Spread>;
  /** Medians over the rounds. */
  tandem: Figures;
  bare: Figures;
  /** Every round, in order. */
  pairs: Pair[];
}

interface Pair {
  tandem: Measurement;
  bare: Measurement;
}

async function measure(side: Side, milliseconds: number): Promise<Measurement> {
  await side.prepare?.();
  const before = await side.process.cpu();
  const { requests, rate, p99 = Number.NaN } = await side.run(milliseconds);
  const spent = (await side.process.cpu()) - before;
  return { requests, rate, cpu: spent / requests, p99 };
}

/** Until V8 has compiled the hot code, the figures are of interpreted code, and worse for the side with more code. */
async function warmUp(side: Side, requests: number, { roundMs, warmUpMs }: RoundPlan): Promise<void> {
  const end = performance.now() + warmUpMs;
  for (let left = requests; left > 0 && performance.now() < end;) left -= (await measure(side, roundMs)).requests;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (place: number) => sorted[place] as number;
  const middle = (sorted.length - 1) / 2;
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, min: at(0), max: at(sorted.length - 1) };
}

/** Alternates both sides, so that disturbances of the machine affect both; each pair of rounds gives one ratio. */
export async function compare(comparison: Comparison, plan: RoundPlan): Promise<ComparisonResult> {
  const { name, of, target, p99Target, warmUpRequests, warmUpFactor = 1, roundsFactor = 1, tandem, bare } = comparison;
  const warming = { ...plan, warmUpMs: plan.warmUpMs * warmUpFactor };
  for (const side of [tandem, bare]) await warmUp(side, warmUpRequests, warming);
  const pairs: Pair[] = [];
  for (let round = 0; round < plan.rounds * roundsFactor; round++)
    pairs.push({ tandem: await measure(tandem, plan.roundMs), bare: await measure(bare, plan.roundMs) });

  const ratioOf = (figure: keyof Figures) => spreadOf(pairs.map((pair) => pair.tandem[figure] / pair.bare[figure]));
  const medianOf = (side: 'tandem' | 'bare', figure: keyof Figures) => spreadOf(pairs.map((pair) => pair[side][figure])).median;
  const ratios = { cpu: ratioOf('cpu'), rate: ratioOf('rate'), p99: ratioOf('p99') };
  const isQuick = p99Target === undefined || ratios.p99.median <= p99Target;
  const figuresOf = (side: 'tandem' | 'bare'): Figures => ({
    rate: medianOf(side, 'rate'),
    cpu: medianOf(side, 'cpu'),
    p99: medianOf(side, 'p99'),
  });
  return {
    name,
    of,
    target,
    p99Target,
    isMet:
      target === undefined ? undefined : isQuick && (of === 'cpu' ? ratios.cpu.median <= target : ratios.rate.median >= target),
    ratios,
    tandem: figuresOf('tandem'),
    bare: figuresOf('bare'),
    pairs,
  };
}
