import type { Clock } from './clock.js';
import { newId } from './ids.js';

/** An id after another, whatever the clock says. */
export function idAfter(last: string, clock: Clock): string {
  const id = newId(clock);
  if (id > last) return id;
  const next = (BigInt(`0x${last.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Sorts before all ids of a time and later. */
export function firstIdAt(milliseconds: number): string {
  const hex = Math.max(0, milliseconds).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
