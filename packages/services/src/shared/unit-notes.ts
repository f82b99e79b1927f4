import type { BaseRecord, Fence, Model } from '@tandem/storage';

/**
 * A record in which units of work leave a note, because their writes leave no other lasting trace. The field never leaves the
 * server.
 */
export interface NotedRecord extends BaseRecord {
  /** Units under way that have written the record, so that a sweep recognizes their writes after later changes. */
  notes?: string[];
}
export const notesField = { type: [String], default: undefined, select: false };

/** Filter condition: this unit has not written the record yet. */
export const notNoted = (unitId: string) => ({ notes: { $ne: unitId } });

/** The update stage that adds a unit's note. `beside` is an expression for more notes: an array. */
export const noting = (unitId: string, beside: object | [] = []) => ({
  $set: { notes: { $setUnion: [{ $ifNull: ['$notes', []] }, [{ $literal: unitId }], beside] } },
});

/** What a write adds to its own filter and update when it is part of a unit. */
export interface UnitWrite {
  open: Fence['open'];
  note: string;
}

/** Reads and removes the notes of a model's records. */
export function createUnitNotes<R extends NotedRecord>(model: Model<R>) {
  const records = model as unknown as Model<NotedRecord>;
  const everyone = { deleted: 'include', timestamps: false } as const;
  return {
    /** Whether a unit has written a record. */
    has: async (id: string, unitId: string) =>
      (await records.exists({ _id: id, notes: unitId }).setOptions({ deleted: 'include' })) !== null,

    /** Removes a unit's note, and what it has noted beside. Nobody reads them once the unit's intent records a later step. */
    remove: (id: string, unitId: string, beside: readonly string[] = []) =>
      records.updateOne({ _id: id, notes: unitId }, { $pull: { notes: { $in: [unitId, ...beside] } } }, everyone),
  };
}
