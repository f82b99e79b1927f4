import { defineModel, type BaseRecord } from '@tandem/storage';

/** The purposes of an authorization. */
export const OAUTH_PURPOSES = ['oauth-login', 'oauth-signup', 'oauth-link'] as const;
export type OauthPurpose = (typeof OAUTH_PURPOSES)[number];

/** An authorization in progress. `_id` is the hash of its state, which the provider returns. */
export interface OauthStateRecord extends BaseRecord {
  provider: string;
  purpose: OauthPurpose;
  /** The return address, already checked against the allow-list. */
  redirectUrl: string;
  /** Fingerprint of the device, for the following login. */
  fingerprintHash: string | null;
  codeVerifier: string;
  nonce: string;
  /** Hash of the secret in the cookie of the browser that began. */
  browserHash: string;
  /** The identity and session that link an account. */
  identityId: string | null;
  sessionId: string | null;
  expiresAt: Date;
}

export const oauthStateModel = defineModel<OauthStateRecord>('oauthStates', {
  softDelete: false,
  fields: {
    provider: { type: String, required: true },
    purpose: { type: String, enum: OAUTH_PURPOSES, required: true },
    redirectUrl: { type: String, required: true },
    fingerprintHash: { type: String, default: null },
    codeVerifier: { type: String, required: true },
    nonce: { type: String, required: true },
    browserHash: { type: String, required: true },
    identityId: { type: String, default: null },
    sessionId: { type: String, default: null },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  people: { identityId: { erased: 'remove', exported: false } },
  indexes: [],
});
