import { useEffect, useState } from 'react';

/** Rows that are drawn whole in one frame: more take longer than a frame may. */
const A_FRAME = 6;

/**
 * Which rows in view are drawn whole: those of the first view all at once, later ones some in each frame, the nearest to the middle
 * first, so that fast scrolling stays smooth.
 * @param indexes of the rows in view, in their order
 */
export function useRowsInTurn(indexes: readonly number[]): ReadonlySet<number> {
  const [drawn, draw] = useState<ReadonlySet<number>>(new Set());
  const isFirst = drawn.size === 0;
  useEffect(() => {
    const waiting = indexes.filter((index) => !drawn.has(index));
    const middle = indexes[indexes.length >> 1] ?? 0;
    const nearest = waiting.toSorted((one, other) => Math.abs(one - middle) - Math.abs(other - middle));
    const next = isFirst ? waiting : [...indexes.filter((index) => drawn.has(index)), ...nearest.slice(0, A_FRAME)];
    const frame = waiting.length > 0 ? requestAnimationFrame(() => draw(new Set(next))) : 0;
    return () => cancelAnimationFrame(frame);
  }, [indexes, drawn, isFirst]);
  return isFirst ? new Set(indexes) : drawn;
}
