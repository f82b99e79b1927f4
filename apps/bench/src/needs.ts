import { spreadOf, type Spread } from './rounds.js';

export const MEGABYTE = 1_000_000;

/** What the server under test needs, and the bare one if it is compared with that. */
export interface Need {
  tandem: number;
  bare?: number;
}

/** The memory or the time that a process needs for something. */
export interface NeedComparison {
  name: string;
  of: 'need';
  unit: 'bytes' | 'microseconds';
  /** The most that the server under test may need. */
  target?: number;
  /** At most this many times what the bare server needs. */
  ratioTarget?: number;
  measure(): Promise<Need[]>;
}

export interface NeedResult {
  name: string;
  of: 'need';
  unit: 'bytes' | 'microseconds';
  target: number | undefined;
  ratioTarget: number | undefined;
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
  const { name, of, unit, target, ratioTarget, measure } = comparison;
  const needs = await measure();
  const tandem = spreadOf(needs.map((need) => need.tandem)).median;
  const pairs = needs.flatMap((need) => (need.bare === undefined ? [] : [{ ...need, bare: need.bare }]));
  const bare = pairs.length > 0 ? spreadOf(pairs.map((pair) => pair.bare)).median : undefined;
  const ratio = pairs.length > 0 ? spreadOf(pairs.map((pair) => pair.tandem / pair.bare)) : undefined;
  const hasTarget = target !== undefined || ratioTarget !== undefined;
  const isMet = hasTarget ? tandem <= (target ?? Infinity) && (ratio?.median ?? 0) <= (ratioTarget ?? Infinity) : undefined;
  return { name, of, unit, target, ratioTarget, isMet, tandem, bare, ratio, needs };
}
