import { newId, type Clock } from '@tandem/storage';

/** One deletion and all that it takes along: the records bear its id, so that a restore brings back these and no others (decisions R2). */
export interface Deletion {
  id: string;
  at: Date;
}

export function newDeletion(clock: Clock): Deletion {
  return { id: newId(clock), at: clock.now() };
}

/** What is deleted, and restored, together with a record. Each may run more than once. */
export interface Children {
  take(parentId: string, deletion: Deletion): Promise<void>;
  bringBack(parentId: string, deletionId: string): Promise<void>;
}

/** How a record is marked deleted; the mark of a deletion stays while it lives again. */
export function markOf({ id, at }: Deletion): { deletedAt: Date; deletionId: string } {
  return { deletedAt: at, deletionId: id };
}
