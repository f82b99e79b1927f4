import { defineModel, type BaseRecord } from '@tandem/storage';

/** Bytes reserved for a file about to be attached. */
export interface QuotaReservation {
  key: string;
  fileId: string;
  size: number;
  /** In the store's time. The file cannot be attached later. */
  until: Date;
}

/** The reservations of one identity, whose id the record has. Attached bytes are summed from the files themselves. */
export interface FileQuotaRecord extends BaseRecord {
  reservations: QuotaReservation[];
}

export const fileQuotaModel = defineModel<FileQuotaRecord>('fileQuotas', {
  softDelete: false,
  people: { _id: { erased: 'remove', exported: false } },
  fields: { reservations: { type: [Object], default: [] } },
  indexes: [],
});
