import { TEST_SECRETS, fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createTandem, relyingPartyOf } from './index.js';

const app = fixture(startTestServer);

it.each([
  [{ mfaRequired: 'admin' }, 'mfaRequired must be one of none, admins, all, not "admin"'],
  [{ erasedMessages: 'remove' }, 'erasedMessages must be one of keep, blank, not "remove"'],
  [{ passkeyRpId: 'https://example.org' }, 'passkeyRpId must be a host name'],
  [{ erasureDelay: 'soon' }, 'erasureDelay must be a duration'],
  [{ files: { quota: 'much' } }, 'files.quota must be a size such as 1mb, not "much"'],
  [{ bodyLimit: '2m' }, 'bodyLimit must be a size such as 1mb, not "2m"'],
  [{ cookies: { domain: 'https://example.org' } }, 'cookies.domain must be a host name such as example.org'],
])('a wrong setting is named, and makes no server: %j', async (setting, problem) => {
  const given = { storage: app.storage, authSecrets: TEST_SECRETS, ...setting } as unknown as Parameters<typeof createTandem>[0];
  await expect(createTandem(given)).rejects.toThrow(problem);
});

it.each(['http://tandem_web:3000', 'http://192.0.2.7', 'https://example.org.'])('%s has no passkeys', (publicUrl) => {
  expect(relyingPartyOf({ publicUrl }, 'Shop')).toBeUndefined();
});
