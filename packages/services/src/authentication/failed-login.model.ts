import { defineModel, type BaseRecord } from '@tandem/storage';

/** An attempt that is being compared. One whose process died ends by itself. */
export interface AttemptUnderWay {
  id: string;
  until: Date;
}

/** Failed logins of one email address, whether an identity has it or not (decisions A9). `_id` is the address's hash. */
export interface FailedLoginRecord extends BaseRecord {
  failures: number;
  lockedUntil: Date | null;
  /** Never more than there are failures left until the next wait. */
  underWay: AttemptUnderWay[];
  expiresAt: Date;
}

export const failedLoginModel = defineModel<FailedLoginRecord>('failedLogins', {
  softDelete: false,
  fields: {
    failures: { type: Number, default: 0 },
    lockedUntil: { type: Date, default: null },
    underWay: { type: [{ _id: false, id: String, until: Date }], default: [] },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [],
});
