import { defineModel, type BaseRecord } from '@tandem/storage';

/** A challenge that was answered. `_id` is its hash. Those that nobody answers are not stored. */
export interface UsedChallengeRecord extends BaseRecord {
  /** Later than the end of the challenge. */
  expiresAt: Date;
}

export const usedChallengeModel = defineModel<UsedChallengeRecord>('usedChallenges', {
  softDelete: false,
  fields: { expiresAt: { type: Date, required: true } },
  expires: 'expiresAt',
  indexes: [],
});
