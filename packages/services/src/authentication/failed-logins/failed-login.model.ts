import { defineModel, type BaseRecord } from '@tandem/storage';

/** An attempt that is being checked. It expires by itself if its process dies. */
export interface AttemptUnderWay {
  id: string;
  network: string;
  until: Date;
}

/** Failures from one network. */
export interface NetworkFailures {
  /** Keyed hash of the network. */
  network: string;
  failures: number;
  lockedUntil: Date | null;
  /** Time of the last failure. */
  at: Date;
}

/**
 * Failed logins of one email address, whether or not an identity has it (decisions A9, H9). `_id` is the hash of the address. All
 * networks share one record, so that one write counts each of many parallel guesses.
 */
export interface FailedLoginRecord extends BaseRecord {
  networks: NetworkFailures[];
  /** Times of the last hour's failures, over all networks. */
  recent: Date[];
  /** A network never has more places than failures left before its next lock. */
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
