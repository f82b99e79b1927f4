import { defineModel, type BaseRecord } from '@tandem/storage';

/** The times of the invitations that count toward one limit: never more than it allows. No address stands in it, but as a hash. */
export interface InvitationCountRecord extends BaseRecord {
  at: Date[];
  expiresAt: Date;
}

export const invitationCountModel = defineModel<InvitationCountRecord>('invitationCounts', {
  softDelete: false,
  fields: { at: { type: [Date], default: [] }, expiresAt: { type: Date, required: true } },
  expires: 'expiresAt',
  indexes: [],
});
