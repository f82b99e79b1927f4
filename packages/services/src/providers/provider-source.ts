import type { Configuration, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';

/** What the two kinds of providers do in their own ways. */
export interface ProviderSource {
  configuration(): Promise<Configuration>;
  usesNonce: boolean;
  /** @param withEmail whether the email is needed: it may cost a request */
  readAccount(
    configuration: Configuration,
    tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
    withEmail: boolean,
  ): Promise<{ subject: unknown; email: unknown; isEmailVerified: boolean }>;
}
