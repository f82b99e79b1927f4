import { spreadOf, type Spread } from './rounds.js';

export const MEGABYTE = 1_000_000;

export type Unit = 'answers' | 'bytes' | 'files' | 'microseconds' | 'streams';

/** What the server under test needs, and the bare one, or another, if it is compared with that. */
export interface Need {
  tandem: number;
  bare?: number;
}

/** The memory, the open files or the time that a process needs for something. */
export interface NeedComparison {
  name: string;
  of: 'need';
  unit: Unit;
  /** The most that the server under test may need. */
  target?: number;
  /** At most this many times what the other needs. */
  ratioTarget?: number;
  /** What the other is, in a few words. Default: the bare server. */
  against?: string;
  measure(): Promise<Need[]>;
}

export interface NeedResult {
  name: string;
  of: 'need';
  unit: Unit;
  target: number | undefined;
  ratioTarget: number | undefined;
  against: string;
  /** Undefined without a target. */
  isMet: boolean | undefined;
  /** Medians. */
  tandem: number;
  bare: number | undefined;
  ratio: Spread | undefined;
  /** What was measured, in order. */
  needs: Need[];
}

export async function measureNeed(comparison: NeedComparison): Promise<NeedResult> {
  const { name, of, unit, target, ratioTarget, against = 'the bare server', measure } = comparison;
  const needs = await measure();
  const tandem = spreadOf(needs.map((need) => need.tandem)).median;
  const pairs = needs.flatMap((need) => (need.bare === undefined ? [] : [{ ...need, bare: need.bare }]));
  const bare = pairs.length > 0 ? spreadOf(pairs.map((pair) => pair.bare)).median : undefined;
  const ratio = pairs.length > 0 ? spreadOf(pairs.map((pair) => pair.tandem / pair.bare)) : undefined;
  const hasTarget = target !== undefined || ratioTarget !== undefined;
  const isMet = hasTarget ? tandem <= (target ?? Infinity) && (ratio?.median ?? 0) <= (ratioTarget ?? Infinity) : undefined;
  return { name, of, unit, target, ratioTarget, against, isMet, tandem, bare, ratio, needs };
}
