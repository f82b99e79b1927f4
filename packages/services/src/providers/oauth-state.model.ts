import { defineModel, type BaseRecord } from '@tandem/storage';

/** What an authorization is for. */
export const OAUTH_PURPOSES = ['oauth-login', 'oauth-signup', 'oauth-link'] as const;
export type OauthPurpose = (typeof OAUTH_PURPOSES)[number];

/** An authorization that has been begun and not ended. `_id` is the hash of its state, which the provider hands back. */
export interface OauthStateRecord extends BaseRecord {
  provider: string;
  purpose: OauthPurpose;
  /** Where the browser goes in the end: it was on the allow-list. */
  redirectUrl: string;
  /** Of the device, for the login to come. */
  fingerprintHash: string | null;
  codeVerifier: string;
  nonce: string;
  /** Hash of the secret that only the browser that began has, in a cookie. */
  browserHash: string;
  /** Who links, in which session. */
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
  indexes: [],
});
