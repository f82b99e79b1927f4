import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';

/** The differences between OpenID Connect and OAuth 2 providers. */
export interface ProviderSource {
  configuration(): Promise<Configuration>;
  usesNonce: boolean;
  /** Whether its issuer is known, to compare with the one that a callback may name (RFC 9207). */
  knowsIssuer: boolean;
  /** Whether it sends the browser back by a form that it submits, instead of a redirect. */
  returnsByForm: boolean;
  /** @param withEmail whether the email is needed, which may take another request */
  readAccount(
    configuration: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
    withEmail: boolean,
  ): Promise<{ subject: unknown; email: unknown; isEmailVerified: boolean }>;
}
