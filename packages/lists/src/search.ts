import type { ListResource, StoreFilter } from '@tandem/list-query';
import { searching } from '@tandem/storage';

/**
 * Answers `$search`. The built-in one uses the index that storage keeps with the records; a host may put another
 * service in its place, which it feeds itself.
 */
export interface SearchDriver {
  find(asked: {
    /** Name of the collection. */
    collection: string;
    /** Names of the searched fields, names of things first. */
    fields: readonly string[];
    /** As the caller wrote it: 2 to 200 characters, 1 to 10 words. */
    text: string;
  }): FoundRecords | Promise<FoundRecords>;
}

/** What was found. The list's own conditions, scope and pages apply to it as to any other filter. */
export interface FoundRecords {
  /** A filter of the store; of another service, `{ _id: { $in: ids } }`. */
  filter: StoreFilter;
  /** An expression of the store, a number: the least is the best, as `{ $indexOfArray: [ids, '$_id'] }`. */
  rank?: unknown;
}

/** Finds by the index that storage keeps. */
export const storedSearch: SearchDriver = { find: ({ text, fields }) => searching(text, fields) };

export function searchWith(driver: SearchDriver) {
  return ({ name, searched }: ListResource, text: string) => driver.find({ collection: name, fields: searched, text });
}
