import type { Model } from '@tandem/storage';
import DataLoader from 'dataloader';
import type { FileRecord } from './file.model.js';

/** Maximum number of records in one query. */
const RECORDS_MAX = 1000;

interface Place {
  purpose: string;
  resourceId: string;
}
const keyOf = ({ purpose, resourceId }: Pick<FileRecord, 'purpose' | 'resourceId'>) => `${purpose} ${resourceId}`;

export const attachedTo = (purpose: string, resourceId: unknown) => ({ purpose, resourceId, state: 'attached' });

/** Finds the files of records, oldest first: those asked for at the same time with one query, whatever they are for. */
export function createFileLookup({ collection }: Model<FileRecord>) {
  async function read(places: readonly Place[]): Promise<FileRecord[][]> {
    const purposes = [...new Set(places.map(({ purpose }) => purpose))].map((name) => {
      const ids = places.filter(({ purpose }) => purpose === name).map(({ resourceId }) => resourceId);
      return attachedTo(name, { $in: ids });
    });
    const filter = (purposes.length === 1 ? purposes[0] : { $or: purposes }) as object;
    const found = await collection.find(filter, { sort: { attachedAt: 1, _id: 1 } }).toArray();
    const files = new Map<string, FileRecord[]>();
    for (const file of found as unknown as FileRecord[]) files.set(keyOf(file), [...(files.get(keyOf(file)) ?? []), file]);
    return places.map((place) => files.get(keyOf(place)) ?? []);
  }
  // its cache would keep every key for good
  const loader = new DataLoader(read, { cache: false, maxBatchSize: RECORDS_MAX });

  return (purpose: string, resourceIds: readonly string[]): Promise<FileRecord[][]> =>
    Promise.all(resourceIds.map((resourceId) => loader.load({ purpose, resourceId })));
}
export type FileLookup = ReturnType<typeof createFileLookup>;
