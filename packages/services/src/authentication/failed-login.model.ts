import { defineModel, type BaseRecord } from '@tandem/storage';

/** An attempt that is being compared. One whose process died ends by itself. */
export interface AttemptUnderWay {
  id: string;
  network: string;
  until: Date;
}

/** Failures that came from one network. */
export interface NetworkFailures {
  /** A keyed hash of the network. */
  network: string;
  failures: number;
  lockedUntil: Date | null;
  /** Of the last failure. */
  at: Date;
}

/**
 * Failed logins of one email address, whether an identity has it or not (decisions A9, H9). `_id` is the address's hash. One record for all
 * networks: of guesses made at once from many of them, one write counts each.
 */
export interface FailedLoginRecord extends BaseRecord {
  networks: NetworkFailures[];
  /** Times of the failures of the last hour, from whatever network. */
  recent: Date[];
  /** Never more from a network than it has failures left until its next wait. */
  underWay: AttemptUnderWay[];
  expiresAt: Date;
}

export const failedLoginModel = defineModel<FailedLoginRecord>('failedLogins', {
  softDelete: false,
  fields: {
    networks: { type: [{ _id: false, network: String, failures: Number, lockedUntil: Date, at: Date }], default: [] },
    recent: { type: [Date], default: [] },
    underWay: { type: [{ _id: false, id: String, network: String, until: Date }], default: [] },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [],
});
