import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { defineModel, type BaseRecord } from '@tandem/storage';

/** An exchanged refresh token, kept while a repeated exchange yields the same successor. */
export interface Rotation {
  jti: string;
  successor: string;
  /** Start and end of the exchange. A crash or outage may leave out the end. */
  at: Date;
  endedAt?: Date | undefined;
}

/**
 * One sign-in on one device, with its family of refresh tokens; only the newest is valid (decisions A6). Rotation is one write to
 * this record. A token itself names its family, so that reuse of an old one is detected without storing it.
 */
export interface SessionRecord extends BaseRecord {
  identityId: string;
  /** Id of the only valid refresh token. */
  jti: string;
  rotations: Rotation[];
  /** The identity's `sessionEpoch` at sign-in. A session is live while the two are equal. */
  epoch: number;
  /** The provider link used to sign in; the session ends with it. Null for other sign-ins. */
  linkId: string | null;
  fingerprintHash: string | null;
  ip: string;
  userAgent: string;
  lastUsedAt: Date;
  /** When its holder last proved themselves anew; missing since the sign-in (decisions F2). */
  provenAt?: Date;
  expiresAt: Date;
}

export const sessionResource = defineListResource({
  name: 'sessions',
  fields: { ip: 'string', userAgent: 'string', createdAt: 'date', lastUsedAt: 'date', expiresAt: 'date' },
  hidden: ['identityId', 'jti', 'rotations', 'epoch', 'linkId', 'fingerprintHash', 'provenAt', 'updatedAt'],
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
    provenAt: { type: Date },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  people: {
    identityId: { erased: 'remove', exported: ['ip', 'userAgent', 'createdAt', 'lastUsedAt', 'expiresAt'] },
  },
  // also serves ending the sessions of an identity
  indexes: listIndexes(sessionResource, { within: ['identityId'] }),
});
