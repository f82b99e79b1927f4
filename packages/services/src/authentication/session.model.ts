import { defineListResource } from '@tandem/list-query';
import { defineModel, type BaseRecord } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';

/** A refresh token that has been exchanged, remembered for the time in which a second try gets the same successor. */
export interface Rotation {
  jti: string;
  successor: string;
  /** When its exchange began, and when it had ended; an exchange that a crash or an outage cut off has no end. */
  at: Date;
  endedAt?: Date | undefined;
}

/**
 * One sign-in on one device: the family of its refresh tokens, of which only the newest counts (decisions A6). Rotation is a single
 * write to this record. Tokens prove themselves which family they are of, so that an old one needs no row to be known as reused.
 */
export interface SessionRecord extends BaseRecord {
  identityId: string;
  /** Id of the refresh token that may be used next. */
  jti: string;
  rotations: Rotation[];
  /** The identity's `sessionEpoch` at login: the session lives while the two are equal. */
  epoch: number;
  /** The link to a provider account by which this sign-in came: the session ends with it. Null where it came by none. */
  linkId: string | null;
  fingerprintHash: string | null;
  ip: string;
  userAgent: string;
  lastUsedAt: Date;
  expiresAt: Date;
}

export const sessionResource = defineListResource({
  name: 'sessions',
  fields: { ip: 'string', userAgent: 'string', createdAt: 'date', lastUsedAt: 'date', expiresAt: 'date' },
  hidden: ['identityId', 'jti', 'rotations', 'epoch', 'linkId', 'fingerprintHash', 'updatedAt'],
  defaultOrder: 'createdAt desc, id desc',
  softDelete: false,
});

export const sessionModel = defineModel<SessionRecord>('sessions', {
  softDelete: false,
  fields: {
    identityId: { type: String, required: true },
    jti: { type: String, required: true },
    rotations: { type: [{ _id: false, jti: String, successor: String, at: Date, endedAt: Date }], default: [] },
    epoch: { type: Number, required: true },
    linkId: { type: String, default: null },
    fingerprintHash: { type: String, default: null },
    ip: { type: String, default: '' },
    userAgent: { type: String, default: '' },
    lastUsedAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  // it also serves ending them
  indexes: listIndexes(sessionResource, { within: ['identityId'] }),
});
