import type { ProviderSettings } from './provider-settings.js';

/** The scopes of the account and its email. */
export const SCOPES = {
  openid: 'openid email',
  // names the account only with `profile`
  microsoft: 'openid profile email',
  // returns the confirmed email only with `users.email`, if the app may request it
  x: 'users.read tweet.read users.email',
  github: 'user:email',
} as const;

/** What a provider is known by, where no address is given. */
export const KNOWN: Readonly<Record<string, Partial<ProviderSettings>>> = {
  apple: { issuer: 'https://appleid.apple.com' },
  github: {
    endpoints: {
      authorization: 'https://github.com/login/oauth/authorize',
      token: 'https://github.com/login/oauth/access_token',
      account: 'https://api.github.com/user',
      emails: 'https://api.github.com/user/emails?per_page=100',
    },
  },
  google: { issuer: 'https://accounts.google.com' },
  // the algorithm in LINE's discovery document is for apps; for web clients LINE signs with the client secret
  line: { issuer: 'https://access.line.me', idTokenAlgorithm: 'HS256' },
  microsoft: { tenant: 'common' },
  twitter: {
    endpoints: {
      authorization: 'https://x.com/i/oauth2/authorize',
      token: 'https://api.x.com/2/oauth2/token',
      account: 'https://api.x.com/2/users/me?user.fields=confirmed_email',
    },
  },
};

/** Providers that need no issuer. */
export const KNOWN_PROVIDERS: readonly string[] = Object.keys(KNOWN);
