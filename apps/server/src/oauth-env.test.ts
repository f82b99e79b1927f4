import { TEST_SECRETS } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { readConfig } from './config.js';
import { EnvironmentError } from './env.js';

const SECRETS = { AUTH_ENC_SECRET: TEST_SECRETS.authEncSecret, AUTH_SIGN_SECRET: TEST_SECRETS.authSignSecret };
const REDIRECT_URLS = 'https://app.example.org/welcome, http://localhost:5173/callback';

function read(environment: Record<string, string>) {
  return readConfig({ ...SECRETS, REDIRECT_URLS, ...environment });
}
function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    read(environment);
  } catch (error) {
    return (error as EnvironmentError).problems;
  }
  return [];
}

describe('the identity providers of an environment', () => {
  it('are those with an id and a secret, by their names in paths', () => {
    const { providers, redirectUrls, lifetimes } = read({
      OAUTH_GOOGLE_CLIENT_ID: 'g',
      OAUTH_GOOGLE_CLIENT_SECRET: 'gs',
      OAUTH_LINE_CLIENT_ID: 'l',
      OAUTH_LINE_CLIENT_SECRET: 'ls',
      OAUTH_LINE_TRUST_EMAIL: 'true',
      OAUTH_MY_COMPANY_CLIENT_ID: 'm',
      OAUTH_MY_COMPANY_CLIENT_SECRET: 'ms',
      OAUTH_MY_COMPANY_ISSUER: 'https://id.example.org/realm',
      OAUTH_TWITTER_CLIENT_ID: '',
      PROVIDER_TOKEN_EXPIRE_TIME: '2m',
    });
    expect(providers).toEqual({
      google: { clientId: 'g', clientSecret: 'gs', trustEmail: false },
      line: { clientId: 'l', clientSecret: 'ls', trustEmail: true },
      'my-company': { clientId: 'm', clientSecret: 'ms', trustEmail: false, issuer: 'https://id.example.org/realm' },
    });
    expect(redirectUrls).toEqual(['https://app.example.org/welcome', 'http://localhost:5173/callback']);
    expect(lifetimes.providerTokenExpireTime).toBe('2m');
  });

  it('are empty where nothing is set', () => {
    expect(readConfig(SECRETS)).toMatchObject({ providers: {}, redirectUrls: [], lifetimes: { providerTokenExpireTime: '5m' } });
  });

  it('report each missing or wrong value on a line', () => {
    expect(problemsOf({ OAUTH_GOOGLE_CLIENT_ID: 'g' })).toEqual([
      'OAUTH_GOOGLE_CLIENT_SECRET is not set, but other settings of this provider are',
    ]);
    expect(
      problemsOf({ OAUTH_ACME_CLIENT_SECRET: 's', OAUTH_LINE_ISSUER: 'http://id.example.org', OAUTH_LINE_TRUST_EMAIL: 'yes' }),
    ).toEqual([
      'OAUTH_ACME_CLIENT_ID is not set, but other settings of this provider are',
      'OAUTH_ACME_ISSUER is not set: only google, line, twitter need none',
      'OAUTH_LINE_CLIENT_ID is not set, but other settings of this provider are',
      'OAUTH_LINE_CLIENT_SECRET is not set, but other settings of this provider are',
      'OAUTH_LINE_ISSUER must be an https address, or http on loopback',
      'OAUTH_LINE_TRUST_EMAIL must be true or false',
    ]);
  });

  it('need an address to return to, https or on loopback', () => {
    const google = { OAUTH_GOOGLE_CLIENT_ID: 'g', OAUTH_GOOGLE_CLIENT_SECRET: 's' };
    expect(problemsOf({ ...google, REDIRECT_URLS: '' })).toEqual([
      'REDIRECT_URLS is not set: identity providers could not send people back',
    ]);
    expect(problemsOf({ ...google, REDIRECT_URLS: 'https://app.example.org/,http://app.example.org/' })).toEqual([
      'REDIRECT_URLS must be https addresses, or http on loopback, without query and fragment, not "http://app.example.org/"',
    ]);
  });
});
