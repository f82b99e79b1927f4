import { useSyncExternalStore } from 'react';

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

/** The parts of the address behind `#/`: enough of a router for a few views. */
export function useHash(): string[] {
  return useSyncExternalStore(subscribe, () => location.hash)
    .replace('#/', '')
    .split('/');
}
