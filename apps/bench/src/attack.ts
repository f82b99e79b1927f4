import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { percentile } from './load.js';
import type { MeasuredProcess } from './measured-process.js';
import { spreadOf, type RoundPlan, type Spread } from './rounds.js';

/** What other callers notice while one attacker does everything allowed against a server. */
export interface AttackComparison {
  name: string;
  of: 'attack';
  /** The 95th percentile of others' reads may be at most this many times the quiet one. */
  target: number;
  /** The server may grow by at most this many bytes. */
  memoryTarget: number;
  /** Length of a round, as a multiple of the plan's: an attack needs time to build up. */
  roundMsFactor: number;
  process: MeasuredProcess;
  /** Reads at a steady rate for this time. @returns milliseconds of each answer, and the number of failures */
  measure(milliseconds: number): Promise<Reads>;
  /** Starts the attack; resolves when it is under way. @returns a function that ends it and counts its answers */
  attack(): Promise<() => Promise<Record<string, number>>>;
}

export interface Reads {
  latencies: number[];
  failures: number;
}

export interface AttackResult {
  name: string;
  of: 'attack';
  target: number;
  memoryTarget: number;
  isMet: boolean;
  /** Ratios of the 95th percentile to the quiet one: during the attack, and two seconds after its end. */
  ratios: { during: Spread; after: Spread };
  /** Medians of the 95th percentiles, in milliseconds. */
  quiet: number;
  during: number;
  /** Reads that were refused or not answered, over all rounds that were tried. */
  failures: number;
  /** Largest growth of the process since before the first attack, in bytes. */
  growth: number;
  /** The attacker's answers by status. */
  answers: Record<string, number>;
}

/** An attack's effects must be over after this time. */
const RECOVERY_MS = 2000;
/** "As before", within the difference of two quiet rounds. */
const AFTER_TARGET = 1.5;
const SAMPLE_MS = 100;
/**
 * The share of the cores' time that a hypervisor may give to its other guests: more of it slows the reads of a quiet
 * server several times, and hides what the attack does.
 */
const STOLEN_LIMIT = 0.05;
/** How many rounds may be tried for each that counts. */
const TRIES = 2;

const p95 = ({ latencies }: Reads): number => percentile(latencies, 0.95);

/** Records the largest size of a process until stopped. */
function watchMemory(process: MeasuredProcess) {
  let most = 0;
  const sample = () => (most = Math.max(most, process.residentBytes()));
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    return most;
  };
}

/** Starts to measure the share of the cores' time that a hypervisor gives to its other guests ("steal"). */
function watchStolenTime() {
  const read = () => {
    const ticks = (/^cpu +(.+)/.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '').split(' ').map(Number);
    return { stolen: ticks[7] as number, all: ticks.reduce((sum, count) => sum + count, 0) };
  };
  const before = read();
  return () => {
    const after = read();
    return (after.stolen - before.stolen) / (after.all - before.all);
  };
}

/**
 * Rounds of quiet, attack and recovery; each gives two ratios. A round during which a hypervisor took the cores away is
 * repeated; if too few remain, those with the least stolen time count. Failures and memory count in every round.
 */
export async function compareAttack(comparison: AttackComparison, plan: RoundPlan): Promise<AttackResult> {
  const { name, of, target, memoryTarget, roundMsFactor, process, measure, attack } = comparison;
  const milliseconds = plan.roundMs * roundMsFactor;
  await measure(plan.warmUpMs);
  const sizeBefore = process.residentBytes();
  const memoryOf = watchMemory(process);
  const answers: Record<string, number> = {};
  const tried: { quiet: number; during: number; after: number; stolen: number }[] = [];
  const wanted = Math.ceil(plan.rounds / 3);
  const isEnough = () => tried.filter(({ stolen }) => stolen <= STOLEN_LIMIT).length === wanted;
  let failures = 0;
  try {
    while (!isEnough() && tried.length < wanted * TRIES) {
      const stolenTime = watchStolenTime();
      const quiet = await measure(milliseconds);
      const end = await attack();
      const during = await measure(milliseconds);
      for (const [status, count] of Object.entries(await end())) answers[status] = (answers[status] ?? 0) + count;
      await wait(RECOVERY_MS);
      const after = await measure(milliseconds);
      failures += quiet.failures + during.failures + after.failures;
      tried.push({ quiet: p95(quiet), during: p95(during), after: p95(after), stolen: stolenTime() });
    }
  } finally {
    memoryOf();
  }
  const rounds = tried.toSorted((a, b) => a.stolen - b.stolen).slice(0, wanted);
  const growth = memoryOf() - sizeBefore;
  const ratioOf = (part: 'during' | 'after') => spreadOf(rounds.map((round) => round[part] / round.quiet));
  const ratios = { during: ratioOf('during'), after: ratioOf('after') };
  return {
    name,
    of,
    target,
    memoryTarget,
    isMet: ratios.during.median <= target && ratios.after.median <= AFTER_TARGET && failures === 0 && growth <= memoryTarget,
    ratios,
    quiet: spreadOf(rounds.map(({ quiet }) => quiet)).median,
    during: spreadOf(rounds.map(({ during }) => during)).median,
    failures,
    growth,
    answers,
  };
}
