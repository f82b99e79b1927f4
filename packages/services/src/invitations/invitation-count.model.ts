import { defineModel, type BaseRecord } from '@tandem/storage';

/** Times of the invitations counted toward one limit, at most as many as it allows. Addresses appear only as hashes. */
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
