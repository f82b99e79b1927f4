import { defineModel, type BaseRecord } from '@tandem/storage';
import type { OnetimeTarget } from './onetime-targets.js';

/** `generated` and `restored` tokens are usable; `used` ones never become usable again. */
export type OnetimeState = 'generated' | 'used' | 'invalidated' | 'restored';

/** The state of a one-time token. `_id` is the hash of the token's id. The token cannot be derived from the record. */
export interface OnetimeTokenRecord extends BaseRecord {
  target: OnetimeTarget;
  state: OnetimeState;
  /** The identity or invitation of the token. */
  subject: string;
  /** The identity's `onetimeEpoch` at creation. The token is valid while the two are equal. Null for an invitation. */
  epoch: number | null;
  /** The address that the token proves. */
  email: string | null;
  /** Data attached by an admin, as JSON. */
  data: string | null;
  /** Hash of the fingerprint to bind the next session to. */
  fingerprintHash: string | null;
  /** For a sign-in through a provider: its link, and the hashed secret of the browser, if bound to one. */
  linkId?: string | null;
  browserHash?: string | null;
  /** For an MFA challenge: codes tried, codes sent, and time of the last mail. */
  attempts: number;
  sends: number;
  sentAt: Date | null;
  expiresAt: Date;
  /** Some time after `expiresAt`. */
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
  goesWith: [{ with: 'invitations', by: 'subject' }],
  people: {
    subject: { erased: 'remove', exported: ['target', 'state', 'createdAt', 'expiresAt'] },
    email: { erased: 'remove', by: 'email', exported: false },
  },
  indexes: [{ keys: { subject: 1 }, serves: 'the tokens of a person, or of an invitation' }],
});
