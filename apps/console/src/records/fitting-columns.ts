import { useSyncExternalStore } from 'react';

/** How many columns fit a phone, and a tablet: those beyond are not drawn, for each takes time while one scrolls. */
const FITTING = [
  [matchMedia('(width < 48rem)'), 2],
  [matchMedia('(width < 60rem)'), 5],
] as const;

const mostColumns = () => FITTING.find(([{ matches }]) => matches)?.[1];
function onResized(listener: () => void): () => void {
  for (const [query] of FITTING) query.addEventListener('change', listener);
  return () => FITTING.forEach(([query]) => query.removeEventListener('change', listener));
}

/** How many columns of a table fit the window; undefined where all do. */
export const useFittingColumns = () => useSyncExternalStore(onResized, mostColumns);
