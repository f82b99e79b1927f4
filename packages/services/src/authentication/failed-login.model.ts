import { defineModel, type BaseRecord } from '@tandem/storage';

/** Failed logins of one email address, whether an identity has it or not (decisions A9). `_id` is the address's hash. */
export interface FailedLoginRecord extends BaseRecord {
  failures: number;
  lockedUntil: Date | null;
  expiresAt: Date;
}

export const failedLoginModel = defineModel<FailedLoginRecord>('failedLogins', {
  softDelete: false,
  fields: {
    failures: { type: Number, default: 0 },
    lockedUntil: { type: Date, default: null },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [],
});
