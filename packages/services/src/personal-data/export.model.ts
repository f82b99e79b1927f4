import { defineModel, type BaseRecord } from '@tandem/storage';

/** The archive of a person's data, and how far it has come; `_id` is the identity's. Removed with the archive. */
export interface ExportRecord extends BaseRecord {
  requestedAt: Date;
  /** `erased`: the archive is gone, and is removed again should somebody have been writing it then. */
  state: 'asked' | 'stored' | 'mailed' | 'erased';
  /** When there is something to do; after `mailed`, when the archive is removed. */
  dueAt: Date;
  /** Failures since it was asked for or stored. */
  attempts?: number;
  /** Where the archive is, or may be; null before. */
  objectId: string | null;
  size: number;
  /** Until when its address works. */
  endsAt: Date | null;
}

export const exportModel = defineModel<ExportRecord>('exports', {
  softDelete: false,
  // see `exports.service.ts`: the archive goes with it
  people: { _id: { erased: 'own', exported: false } },
  fields: {
    requestedAt: { type: Date, required: true },
    state: { type: String, required: true },
    dueAt: { type: Date, required: true },
    attempts: { type: Number, default: 0 },
    objectId: { type: String, default: null },
    size: { type: Number, default: 0 },
    endsAt: { type: Date, default: null },
  },
  indexes: [{ keys: { dueAt: 1 }, serves: 'the archive that is due' }],
});
