import { generateKeyPairSync } from 'node:crypto';
import { TEST_SECRETS } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { readConfig } from './config.js';
import { EnvironmentError } from './read-env.js';

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
      'OAUTH_ACME_ISSUER is not set: only apple, github, google, line, microsoft, twitter need none',
      'OAUTH_LINE_CLIENT_ID is not set, but other settings of this provider are',
      'OAUTH_LINE_CLIENT_SECRET is not set, but other settings of this provider are',
      'OAUTH_LINE_ISSUER must be an https address, or http on loopback',
      'OAUTH_LINE_TRUST_EMAIL must be true or false',
    ]);
  });

  it('are known by name: GitHub, Apple with a key in place of a secret, Microsoft with a tenant', () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const privateKey = key.replaceAll('\n', '\\n');
    const { providers } = read({
      OAUTH_GITHUB_CLIENT_ID: 'h',
      OAUTH_GITHUB_CLIENT_SECRET: 'hs',
      OAUTH_APPLE_CLIENT_ID: 'org.example.web',
      OAUTH_APPLE_TEAM_ID: 'TEAM123456',
      OAUTH_APPLE_KEY_ID: 'KEY1234567',
      OAUTH_APPLE_PRIVATE_KEY: privateKey,
      OAUTH_MICROSOFT_CLIENT_ID: 'm',
      OAUTH_MICROSOFT_CLIENT_SECRET: 'ms',
      OAUTH_MICROSOFT_TENANT: 'organizations',
    });
    const apple = { clientId: 'org.example.web', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey, trustEmail: false };
    expect(providers).toEqual({
      github: { clientId: 'h', clientSecret: 'hs', trustEmail: false },
      apple,
      microsoft: { clientId: 'm', clientSecret: 'ms', tenant: 'organizations', trustEmail: false },
    });
  });

  it('report what is wrong with those by the variable, and nothing of a key', () => {
    expect(problemsOf({ OAUTH_APPLE_CLIENT_ID: 'a', OAUTH_APPLE_CLIENT_SECRET: 's', OAUTH_GITHUB_CLIENT_ID: 'h' })).toEqual([
      'OAUTH_APPLE_TEAM_ID is not set, but other settings of this provider are',
      'OAUTH_APPLE_KEY_ID is not set, but other settings of this provider are',
      'OAUTH_APPLE_PRIVATE_KEY is not set, but other settings of this provider are',
      'OAUTH_GITHUB_CLIENT_SECRET is not set, but other settings of this provider are',
    ]);
    const apple = {
      OAUTH_APPLE_CLIENT_ID: 'a',
      OAUTH_APPLE_TEAM_ID: 't',
      OAUTH_APPLE_KEY_ID: 'k',
      OAUTH_APPLE_PRIVATE_KEY: 'a secret',
    };
    expect(problemsOf(apple)).toEqual(["OAUTH_APPLE_PRIVATE_KEY must be the text of the key's file: a P-256 key in PEM"]);
    const microsoft = { OAUTH_MICROSOFT_CLIENT_ID: 'm', OAUTH_MICROSOFT_CLIENT_SECRET: 's' };
    expect(problemsOf({ ...microsoft, OAUTH_MICROSOFT_TENANT: '../x' })).toEqual([
      'OAUTH_MICROSOFT_TENANT must be the id or domain of a tenant, common, organizations or consumers',
    ]);
    expect(problemsOf({ ...microsoft, OAUTH_MICROSOFT_TRUST_EMAIL: 'true' })).toEqual([
      'OAUTH_MICROSOFT_TRUST_EMAIL: this provider says which addresses it has verified',
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
