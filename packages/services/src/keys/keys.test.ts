import { FACES, NO_ID, OK, fixture, startTestServer, type Face, type Outcome, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { makeKey } from '../../test/api-keys.js';
import { valueOf } from '../../test/chat-world.js';
import { apiKeyModel } from './api-key.model.js';
import type { ApiKey, CreatedApiKey } from './keys.schemas.js';

const MINUTE = 60_000;
const NOT_ADMIN = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
const NEEDS_PROOF = { ok: false, status: 403, message: 'A fresh proof is needed' };
const FULL = { ok: false, status: 409, message: 'An identity must NOT have more than 50 API keys' };
const MISSING = { ok: false, status: 404, message: 'API key not found' };

const app = fixture(startTestServer);
const second = fixture(() => startTestServer({ clock: app.clock }));

const GIVEN = { name: 'nightly report', scopes: ['products.*', '*:read'] };
const create = (face: Face, caller: Person, given: object = {}, identityId = caller.id) =>
  caller.call(face, 'auth.createKey', { identityId, ...GIVEN, ...given });
async function list(face: Face, caller: Person, identityId = caller.id): Promise<ApiKey[]> {
  return (valueOf(await caller.call(face, 'auth.keys', { identityId })) as { data: ApiKey[] }).data;
}
const invalid = (...data: string[]): Outcome => ({ ok: false, status: 400, message: 'Validation Error', data });

describe.each(FACES)('the API keys of an identity over %s', (face) => {
  it('are shown in full only when they are made, and are stored as a hash', async () => {
    const ann = await app.signUp();
    const { key, ...shown } = valueOf(await create(face, ann, { networks: ['127.0.0.0/8'] })) as CreatedApiKey;
    expect(key).toMatch(/^tdm_[\w-]{48}$/);
    expect(shown).toEqual({
      ...GIVEN,
      id: expect.any(String) as unknown,
      networks: ['127.0.0.0/8'],
      expiresAt: null,
      lastUsedAt: null,
      createdAt: expect.any(String) as unknown,
    });
    expect(await list(face, ann)).toEqual([shown]);
    const stored = await app.storage.model(apiKeyModel).collection.find({}).toArray();
    expect(JSON.stringify(stored)).not.toContain(key.slice(4, 20));
    expect(app.logs()).not.toContain(key.slice(4, 20));
  });

  it('are for oneself and the admin', async () => {
    const [ann, bob, admin] = [await app.signUp(), await app.signUp(), await app.signUpAdmin()];
    const { id } = await makeKey(ann);
    expect(await create(face, bob, {}, ann.id)).toEqual(NOT_ADMIN);
    expect(await bob.call(face, 'auth.keys', { identityId: ann.id })).toEqual(NOT_ADMIN);
    expect(await bob.call(face, 'auth.deleteKey', { identityId: ann.id, keyId: id })).toEqual(NOT_ADMIN);
    expect(await list(face, admin, ann.id)).toHaveLength(1);
    expect(await create(face, admin, {}, ann.id)).toMatchObject({ ok: true });
    expect(await admin.call(face, 'auth.deleteKey', { identityId: ann.id, keyId: id })).toEqual(OK);
    expect(await create(face, admin, {}, NO_ID)).toEqual({ ok: false, status: 404, message: 'Identity not found' });
    expect(await app.call(face, 'auth.keys', { identityId: ann.id })).toMatchObject({ status: 422 });
  });

  it('are made only soon after a sign-in, whoever asks, before it is told whether there is such an identity', async () => {
    const ann = await app.signUp();
    const boss = await app.signUpAdmin();
    app.clock.advance(10 * MINUTE);
    expect(await create(face, ann)).toEqual(NEEDS_PROOF);
    expect(await create(face, boss, {}, NO_ID)).toEqual(NEEDS_PROOF);
    const again = await app.signIn(ann.email);
    app.clock.advance(9 * MINUTE);
    expect(await create(face, again)).toMatchObject({ ok: true });
    // the others need none
    app.clock.advance(2 * MINUTE);
    const [key] = await list(face, again);
    expect(await again.call(face, 'auth.deleteKey', { identityId: ann.id, keyId: key?.id })).toEqual(OK);
  });

  it('end once: a key that is missing or another’s is 404', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { id: keyId } = await makeKey(ann);
    expect(await bob.call(face, 'auth.deleteKey', { identityId: bob.id, keyId })).toEqual(MISSING);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () => ann.call(face, 'auth.deleteKey', { identityId: ann.id, keyId })),
    );
    expect(outcomes.filter(({ ok }) => ok)).toEqual([OK]);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 9 }, () => MISSING));
    expect(await list(face, ann)).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['a service that is not there', { scopes: ['nothing.*'] }, 'scopes/0'],
    ['a procedure that is not there', { scopes: ['products.*', 'products.steal'] }, 'scopes/1'],
    ['a write that would be a read', { scopes: ['products.create:read'] }, 'scopes/0'],
    ['sign-in', { scopes: ['auth.*'] }, 'scopes/0'],
    ['keys', { scopes: ['auth.createKey'] }, 'scopes/0'],
    ['reads of sign-in', { scopes: ['auth.*:read'] }, 'scopes/0'],
    ['a service without its procedures', { scopes: ['products'] }, 'scopes/0'],
    ['part of a name', { scopes: ['prod*'] }, 'scopes/0'],
    ['nothing', { scopes: [''] }, 'scopes/0'],
  ])('have no scope for %s', async (_name, given, at) => {
    const ann = await app.signUp();
    expect(await create(face, ann, given)).toEqual(invalid(`request body/${at} must name operations that API keys may call`));
  });

  it('are checked as other inputs', async () => {
    const ann = await app.signUp();
    expect(await create(face, ann, { scopes: [], networks: [], name: ' ', foo: 1 })).toEqual(
      invalid(
        'request body/name must NOT have fewer than 1 characters',
        'request body/scopes must NOT have fewer than 1 items',
        'request body/networks must NOT have fewer than 1 items',
        "request body must NOT have additional properties: 'foo'",
      ),
    );
    const wrong = 'must be an address or a network such as 10.0.0.0/8';
    const networks = ['10.0.0.0/33', '::/129', 'example.org', '10.0.0.0/', '::ffff:10.0.0.0/95', '10.0.0.0/8/8', 'fe80::1%eth0'];
    expect(await create(face, ann, { networks })).toEqual(
      invalid(...networks.map((_, n) => `request body/networks/${n} ${wrong}`)),
    );
    expect(await create(face, ann, { expiresAt: app.clock.now().toISOString() })).toEqual(
      invalid('request body/expiresAt must be in the future'),
    );
    expect(await create(face, ann, { expiresAt: 'soon' })).toMatchObject({ status: 400 });
    expect(await create(face, ann, { scopes: ['*', '*'] })).toEqual(invalid('request body/scopes/1 must NOT be repeated'));
  });
});

it('an identity has fifty keys at most, however many are made at once on two instances', async () => {
  const ann = await app.signUp();
  const elsewhere = await second.signIn(ann.email);
  const outcomes = await Promise.all(Array.from({ length: 60 }, (_, n) => create('rest', n % 2 ? ann : elsewhere)));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(50);
  expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 10 }, () => FULL));
  const keys = (valueOf(await ann.call('rest', 'auth.keys', { identityId: ann.id, limit: 50 })) as { data: ApiKey[] }).data;
  expect(keys).toHaveLength(50);
  expect(await create('rest', await app.signUpAdmin(), {}, ann.id)).toEqual(FULL);
  await ann.rest('DELETE', `/auth/${ann.id}/keys/${keys[7]?.id}`).expect(204);
  expect(await create('rest', ann)).toMatchObject({ ok: true });
});

it('keys that have ended are not listed, and make room', async () => {
  const ann = await app.signUp();
  const expiresAt = new Date(app.clock.now().getTime() + MINUTE).toISOString();
  for (let n = 0; n < 50; n++) await makeKey(ann, { expiresAt });
  expect(await create('rest', ann)).toEqual(FULL);
  app.clock.advance(MINUTE);
  expect(await list('rest', ann)).toEqual([]);
  await makeKey(ann);
  expect(await list('rest', ann)).toHaveLength(1);
});

it('a key tells when it was last used, which is written once a minute at most', async () => {
  const ann = await app.signUp();
  const { credentials } = await makeKey(ann);
  const use = (server = app) => server.rest('GET', `/identities/${ann.id}`, undefined, credentials).expect(200);
  const lastUse = async () => Date.parse((await list('rest', ann))[0]?.lastUsedAt ?? '');
  const before = app.clock.now().getTime();
  await use();
  await expect.poll(lastUse).toBeGreaterThanOrEqual(before);
  const first = await lastUse();
  app.clock.advance(MINUTE / 2);
  await Promise.all([use(), use(second)]);
  await app.tandem.services.keyAccess.settle();
  await second.tandem.services.keyAccess.settle();
  expect(await lastUse()).toBe(first);
  app.clock.advance(MINUTE / 2);
  await use();
  await expect.poll(lastUse).toBeGreaterThanOrEqual(first + MINUTE);
});

it('making and deleting a key are security events, which name the key by its id alone', async () => {
  const ann = await app.signUp();
  const { id: keyId, key } = await makeKey(ann, { scopes: ['products.*'] });
  await ann.rest('DELETE', `/auth/${ann.id}/keys/${keyId}`).expect(204);
  const { data } = await ann
    .rest('GET', `/auth/${ann.id}/events?limit=2`)
    .expect<{ data: { type: string; details: object }[] }>(200);
  expect(data.map(({ type, details }) => [type, details])).toEqual([
    ['key.deleted', { keyId }],
    ['key.created', { keyId, scopes: ['products.*'] }],
  ]);
  expect(app.logs()).not.toContain(key.slice(4, 20));
});
