import type { Credentials, Person } from '@tandem/testing';
import type { CreatedApiKey } from '../src/keys/keys.schemas.js';

/** An API key, as a program sends it. */
export interface TestKey extends CreatedApiKey {
  credentials: Credentials;
}

/** Makes a key that may do everything, unless `given` says otherwise, for the maker or another identity. */
export async function makeKey(maker: Person, given: object = {}, identityId = maker.id): Promise<TestKey> {
  const body = { name: 'nightly report', scopes: ['*'], ...given };
  const made = await maker.rest('POST', `/auth/${identityId}/keys`, body).expect<CreatedApiKey>(201);
  return { ...made, credentials: { accessToken: made.key } };
}
