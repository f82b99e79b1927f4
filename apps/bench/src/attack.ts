import { setTimeout as wait } from 'node:timers/promises';
import type { MeasuredProcess } from './measured-process.js';
import { spreadOf, type RoundPlan, type Spread } from './rounds.js';

/** What others notice while somebody does all that one is able to do against a server. */
export interface AttackComparison {
  name: string;
  of: 'attack';
  /** The 95th percentile of others' reads is at most so many times the quiet one. */
  target: number;
  /** The server grows by at most so many bytes. */
  memoryTarget: number;
  /** How many times as long a round is as one of the plan: an attack needs time to build up. */
  roundMsFactor: number;
  process: MeasuredProcess;
  /** Reads at a steady rate for so long. @returns milliseconds that each answer took; failures are counted */
  measure(milliseconds: number): Promise<Reads>;
  /** Begins the attack, and is back when it is under way. @returns ends it, and counts its answers */
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
  /** Ratios of the 95th percentile to the quiet one: while the attack lasts, and two seconds after its end. */
  ratios: { during: Spread; after: Spread };
  /** Medians of the 95th percentiles, in milliseconds. */
  quiet: number;
  during: number;
  /** Reads that were refused or not answered, in all rounds. */
  failures: number;
  /** By how many bytes the process grew at most, over its size before the first attack. */
  growth: number;
  /** Answers that the attacker got, by their status. */
  answers: Record<string, number>;
}

/** What is left of an attack is to be over by then. */
const RECOVERY_MS = 2000;
/** "As before" within what two quiet rounds differ by. */
const AFTER_TARGET = 1.5;
const SAMPLE_MS = 100;

function p95({ latencies }: Reads): number {
  const sorted = latencies.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] as number;
}

/** Keeps the largest size of a process until it is stopped. */
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

/** Rounds of quiet, attack, and what comes after; each gives two ratios. */
export async function compareAttack(comparison: AttackComparison, plan: RoundPlan): Promise<AttackResult> {
  const { name, of, target, memoryTarget, roundMsFactor, process, measure, attack } = comparison;
  const milliseconds = plan.roundMs * roundMsFactor;
  await measure(plan.warmUpMs);
  const sizeBefore = process.residentBytes();
  const memoryOf = watchMemory(process);
  const answers: Record<string, number> = {};
  const rounds: { quiet: number; during: number; after: number; failures: number }[] = [];
  for (let round = 0; round < Math.ceil(plan.rounds / 4); round++) {
    const quiet = await measure(milliseconds);
    const end = await attack();
    const during = await measure(milliseconds);
    for (const [status, count] of Object.entries(await end())) answers[status] = (answers[status] ?? 0) + count;
    await wait(RECOVERY_MS);
    const after = await measure(milliseconds);
    const failures = quiet.failures + during.failures + after.failures;
    rounds.push({ quiet: p95(quiet), during: p95(during), after: p95(after), failures });
  }
  const growth = memoryOf() - sizeBefore;
  const ratioOf = (part: 'during' | 'after') => spreadOf(rounds.map((round) => round[part] / round.quiet));
  const ratios = { during: ratioOf('during'), after: ratioOf('after') };
  const failures = rounds.reduce((sum, round) => sum + round.failures, 0);
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
