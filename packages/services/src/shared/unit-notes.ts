import type { BaseRecord, Fence, Model } from '@tandem/storage';

/** A record that units of work write whose writes leave no other trace that lasts. The field never leaves the server. */
export interface NotedRecord extends BaseRecord {
  /** The units under way that have written it: so that a sweep sees it, whatever was written since. */
  notes?: string[];
}
export const notesField = { type: [String], default: undefined };

/** A condition beside the filter of a unit's write: that it has not been made yet. */
export const notNoted = (unitId: string) => ({ notes: { $ne: unitId } });

/** The stage that adds the note to the update of a unit. */
export const noting = (unitId: string) => ({
  $set: { notes: { $setUnion: [{ $ifNull: ['$notes', []] }, [{ $literal: unitId }]] } },
});

/** What a write has beside its own filter and update where it is part of a unit. */
export interface UnitWrite {
  open: Fence['open'];
  note: string;
}

/** The notes of a kind of records. */
export function createUnitNotes<R extends NotedRecord>(model: Model<R>) {
  const records = model as unknown as Model<NotedRecord>;
  const everyone = { deleted: 'include', timestamps: false } as const;
  return {
    /** Whether a unit has written a record. */
    has: async (id: string, unitId: string) =>
      (await records.exists({ _id: id, notes: unitId }).setOptions({ deleted: 'include' })) !== null,

    /** Removes the note: once the intent of a unit says that it has come further, nobody asks for it. */
    remove: (id: string, unitId: string) => records.updateOne({ _id: id, notes: unitId }, { $pull: { notes: unitId } }, everyone),
  };
}
