import { defineModel, type BaseRecord } from '@tandem/storage';

/** Bytes that an identity is about to attach. */
export interface QuotaReservation {
  key: string;
  fileId: string;
  size: number;
  /** By the store's clock. What has not been attached by then is not attached any more. */
  until: Date;
}

/** What an identity, whose id it has, is attaching at this moment. What has been attached is counted where it stands, in the files. */
export interface FileQuotaRecord extends BaseRecord {
  reservations: QuotaReservation[];
}

export const fileQuotaModel = defineModel<FileQuotaRecord>('fileQuotas', {
  softDelete: false,
  fields: { reservations: { type: [Object], default: [] } },
  indexes: [],
});
