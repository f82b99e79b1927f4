import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readProviders, type ProviderSettings } from './provider-settings.js';

const SECRET = { clientId: 'a', clientSecret: 'b' };
const pem = (namedCurve: string) =>
  generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const APPLE = { clientId: 'a', teamId: 'T', keyId: 'K', privateKey: pem('P-256') };
const one = (name: string, settings: ProviderSettings) => readProviders({ [name]: settings })[0];

describe('the settings of providers', () => {
  it('know Microsoft’s tenant, and all tenants without one', () => {
    const issuerOf = (settings: Partial<ProviderSettings>, name = 'microsoft') =>
      String((one(name, { ...SECRET, ...settings }) as { issuer?: URL }).issuer);
    expect(issuerOf({})).toBe('https://login.microsoftonline.com/common/v2.0');
    expect(issuerOf({ tenant: 'contoso.example' })).toBe('https://login.microsoftonline.com/contoso.example/v2.0');
    expect(issuerOf({ tenant: 'consumers' }, 'work')).toBe('https://login.microsoftonline.com/consumers/v2.0');
    const issuer = 'https://login.microsoftonline.us/common/v2.0';
    expect(one('microsoft', { ...SECRET, issuer, tenant: 'common' })).toMatchObject({
      kind: 'microsoft',
      issuer: new URL(issuer),
    });
    expect(one('microsoft', { ...SECRET, issuer })).toMatchObject({ kind: 'openid' });
  });

  it('take Apple’s key as a file or in one line; without one `apple` is any provider', () => {
    for (const privateKey of [APPLE.privateKey, APPLE.privateKey.replaceAll('\n', '\\n')])
      expect(one('apple', { ...APPLE, privateKey })).toMatchObject({
        kind: 'apple',
        issuer: new URL('https://appleid.apple.com'),
      });
    expect(one('apple', { ...SECRET, issuer: 'https://id.example.org' })).toMatchObject({ kind: 'openid' });
  });

  it.each<[string, string, Partial<ProviderSettings>, string]>([
    ['an Apple without a key', 'apple', { clientId: 'a', clientSecret: 'b' }, 'providers.apple.teamId is missing'],
    ['half a key', 'apple', { ...APPLE, keyId: '' }, 'providers.apple.keyId is missing'],
    ['a key that is none', 'apple', { ...APPLE, privateKey: 'k' }, "providers.apple.privateKey must be the text of the key's file: a P-256 key in PEM"],
    ['a key of another curve', 'apple', { ...APPLE, privateKey: pem('P-384') }, "providers.apple.privateKey must be the text of the key's file: a P-256 key in PEM"],
    ['a tenant that leads elsewhere', 'microsoft', { ...SECRET, tenant: 'x/../y' }, 'providers.microsoft.tenant must be the id or domain of a tenant, common, organizations or consumers'],
    ['trust in Apple', 'apple', { ...APPLE, trustEmail: true }, 'providers.apple.trustEmail: this provider says which addresses it has verified'],
    ['trust in GitHub', 'github', { ...SECRET, trustEmail: true }, 'providers.github.trustEmail: this provider says which addresses it has verified'],
    ['trust in Microsoft', 'microsoft', { ...SECRET, trustEmail: true }, 'providers.microsoft.trustEmail: this provider says which addresses it has verified'],
    ['an address in the clear', 'github', { ...SECRET, endpoints: { authorization: 'https://a', token: 'https://a', account: 'https://a', emails: 'http://a.example' } }, 'providers.github.endpoints.emails: "http://a.example" must be an https address, or http on loopback'],
    ['an unknown name without an issuer', 'acme', SECRET, 'providers.acme.issuer is missing: only apple, github, google, line, microsoft, twitter need none'],
  ])('refuse %s', (_, name, settings, problem) => {
    expect(() => one(name, settings as ProviderSettings)).toThrow(new Error(problem));
  }); // prettier-ignore
});
