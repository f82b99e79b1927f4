import type { Model } from '@tandem/storage';
import DataLoader from 'dataloader';
import type { FileRecord } from './file.model.js';

/** Maximum number of calls that one query answers, each for the records of a page. */
const CALLS_MAX = 20;

interface Asked {
  purpose: string;
  resourceIds: readonly string[];
}

const ATTACHED = { state: 'attached' } as const;
export const attachedTo = (purpose: string, resourceId: unknown) => ({ purpose, resourceId, ...ATTACHED });

/** Finds the files of records, oldest first: those asked for at the same time with one query, whatever they are for. */
export function createFileLookup({ collection }: Model<FileRecord>) {
  async function read(calls: readonly Asked[]): Promise<FileRecord[][]> {
    const purposes = [...new Set(calls.map(({ purpose }) => purpose))].map((name) => {
      const ids = calls.flatMap(({ purpose, resourceIds }) => (purpose === name ? resourceIds : []));
      return { purpose: name, resourceId: { $in: ids } };
    });
    // outside of `$or`, else the index of attached files does not serve it
    const filter = { ...ATTACHED, ...(purposes.length === 1 ? purposes[0] : { $or: purposes }) } as object;
    const found = await collection.find(filter, { sort: { attachedAt: 1, _id: 1 } }).toArray();
    return calls.map(({ purpose, resourceIds }) => {
      const asked = new Set<string | null>(resourceIds);
      const files = found as unknown as FileRecord[];
      return files.filter((file) => file.purpose === purpose && asked.has(file.resourceId));
    });
  }
  // its cache would keep every key for good
  const loader = new DataLoader(read, { cache: false, maxBatchSize: CALLS_MAX });

  return async (purpose: string, resourceIds: readonly string[]): Promise<FileRecord[]> =>
    resourceIds.length === 0 ? [] : loader.load({ purpose, resourceIds });
}
export type FileLookup = ReturnType<typeof createFileLookup>;
