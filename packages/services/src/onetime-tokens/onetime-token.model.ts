import { defineModel, type BaseRecord } from '@tandem/storage';
import type { OnetimeTarget } from './onetime-targets.js';

/** `generated` and `restored` ones can be used; `used` ones never again. */
export type OnetimeState = 'generated' | 'used' | 'invalidated' | 'restored';

/**
 * The state of a one-time token. `_id` is the hash of the token's id: neither the token nor anything it could be made of again is
 * stored.
 */
export interface OnetimeTokenRecord extends BaseRecord {
  target: OnetimeTarget;
  state: OnetimeState;
  /** Whose it is: an identity, or an invitation. */
  subject: string;
  /** The identity's `onetimeEpoch` when it was made: it counts while the two are equal. Null where the subject is no identity. */
  epoch: number | null;
  /** The address that it proves. */
  email: string | null;
  /** What an admin attached, as JSON. */
  data: string | null;
  /** Of the fingerprint that the session to come is bound to. */
  fingerprintHash: string | null;
  /** Of a sign-in through a provider: the link that lets it, and the secret of the browser that was there, hashed, if it is bound to that. */
  linkId?: string | null;
  browserHash?: string | null;
  /** Of an MFA challenge: codes tried, codes sent, and when the last one was. */
  attempts: number;
  sends: number;
  sentAt: Date | null;
  expiresAt: Date;
  /** Some time after it has expired. */
  removeAt: Date;
}

export const onetimeTokenModel = defineModel<OnetimeTokenRecord>('onetimeTokens', {
  softDelete: false,
  fields: {
    target: { type: String, required: true },
    state: { type: String, required: true },
    subject: { type: String, required: true },
    epoch: { type: Number, default: null },
    email: { type: String, default: null },
    data: { type: String, default: null },
    fingerprintHash: { type: String, default: null },
    linkId: { type: String, default: null },
    browserHash: { type: String, default: null },
    attempts: { type: Number, default: 0 },
    sends: { type: Number, default: 0 },
    sentAt: { type: Date, default: null },
    expiresAt: { type: Date, required: true },
    removeAt: { type: Date, required: true },
  },
  expires: 'removeAt',
  indexes: [],
});
