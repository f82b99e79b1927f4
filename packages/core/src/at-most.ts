/** Limits an LRU cache to so many entries. Its option `max` would take the memory for all of them at once. */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
