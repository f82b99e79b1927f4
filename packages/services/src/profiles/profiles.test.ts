import { FACES, NO_ID, OK, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { profileModel } from './profile.model.js';
import type { Profile } from './profiles.schemas.js';

const MISSING = { ok: false, status: 404, message: 'Profile not found' };
const NO_IDENTITY = { ok: false, status: 404, message: 'Identity not found' };

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());

const create = (person: Person, name = 'Ann'): Promise<Profile> =>
  person.rest('POST', '/profiles', { identityId: person.id, name }).expect<Profile>(201);
const namesIn = (outcome: unknown) => (outcome as { value: { data: Profile[] } }).value.data.map(({ name }) => name);

describe.each(FACES)('a profile over %s', (face) => {
  const call = (person: Person, procedure: string, profileId: string, input: object = {}) =>
    person.call(face, `profiles.${procedure}`, { profileId, ...input });

  it('belongs to the identity it was made for, and shows its fields', async () => {
    const outcome = await ann.call(face, 'profiles.create', { identityId: ann.id, name: ' Ann ' });
    const { value } = outcome as { value: Profile };
    expect(value).toEqual({
      id: expect.any(String) as string,
      identityId: ann.id,
      name: 'Ann',
      avatar: null,
      metadata: {},
      createdAt: value.createdAt,
      updatedAt: value.createdAt,
    });
    expect(await call(ann, 'get', value.id)).toEqual(outcome);
    expect(await call(admin, 'get', value.id)).toEqual(outcome);
  });

  it('is created for another existing identity by admins only', async () => {
    const [bob, name] = [await app.signUp(), 'Bob'];
    expect(await ann.call(face, 'profiles.create', { identityId: bob.id, name })).toMatchObject({ status: 403 });
    expect(await admin.call(face, 'profiles.create', { identityId: bob.id, name })).toMatchObject(OK);
    expect(await admin.call(face, 'profiles.create', { identityId: NO_ID, name })).toEqual(NO_IDENTITY);
    expect(await app.storage.model(profileModel).countDocuments({ identityId: NO_ID }).setOptions({ deleted: 'include' })).toBe(
      0,
    );
  });

  it('changes its name, and nothing else', async () => {
    const before = await create(ann);
    app.clock.advance(1000);
    const outcome = await call(ann, 'patch', before.id, { name: 'Anna' });
    const { value } = outcome as { value: Profile };
    expect(value).toEqual({ ...before, name: 'Anna', updatedAt: value.updatedAt });
    expect(value.updatedAt > before.updatedAt).toBe(true);
    expect(await call(ann, 'get', before.id)).toEqual(outcome);
    expect(await call(ann, 'patch', before.id)).toEqual({ ok: false, status: 400, message: 'Failed to update profile' });
    expect(await call(ann, 'patch', before.id, { name: ' ', identityId: admin.id })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: [
        'request body/name must NOT have fewer than 1 characters',
        "request body must NOT have additional properties: 'identityId'",
      ],
    });
  });

  it('is soft-deleted, and restored by an admin', async () => {
    const before = await create(ann);
    expect(await call(ann, 'delete', before.id)).toEqual(OK);
    expect(await call(ann, 'get', before.id)).toMatchObject({ status: 403 });
    for (const procedure of ['get', 'delete']) expect(await call(admin, procedure, before.id)).toEqual(MISSING);
    expect(await call(admin, 'patch', before.id, { name: 'x' })).toEqual(MISSING);
    const outcome = await call(admin, 'restore', before.id);
    expect(outcome).toMatchObject({ ok: true, value: { id: before.id, name: before.name } });
    expect(await call(ann, 'get', before.id)).toEqual(outcome);
    expect(await call(admin, 'restore', before.id)).toEqual(MISSING);
    expect(await call(admin, 'restore', NO_ID)).toEqual(MISSING);
  });

  it('is listed for its identity and, with all others, for the admin, newest first', async () => {
    const bob = await app.signUp();
    expect(await bob.call(face, 'profiles.listOfIdentity', { identityId: bob.id })).toEqual({
      ok: true,
      value: {
        data: [],
        metadata: { pagination: { page: 1, limit: 10, total: 0, totalPages: 1, hasNext: false, hasPrev: false } },
      },
    });
    const [first, second] = [await create(bob, 'First'), await create(bob, 'Second')];
    await create(ann);
    const outcome = await bob.call(face, 'profiles.listOfIdentity', { identityId: bob.id, limit: 1 });
    expect(outcome).toMatchObject({ value: { data: [second], metadata: { pagination: { total: 2, hasNext: true } } } });
    const next = await bob.call(face, 'profiles.listOfIdentity', { identityId: bob.id, limit: 1, page: 2 });
    expect(next).toMatchObject({ value: { data: [first], metadata: { pagination: { hasPrev: true } } } });
    expect(namesIn(await admin.call(face, 'profiles.list', { limit: 3 }))).toEqual(['Ann', 'Second', 'First']);
    expect(namesIn(await admin.call(face, 'profiles.list', { $filter: `id eq '${first.id}'` }))).toEqual(['First']);
  });

  it('is deleted and restored unchanged with its identity, unless it was deleted before', async () => {
    const bob = await app.signUp();
    const [kept, deleted] = [await create(bob, 'Kept'), await create(bob, 'Deleted')];
    expect(await call(bob, 'delete', deleted.id)).toEqual(OK);
    app.clock.advance(1000);
    expect(await admin.call(face, 'identities.delete', { identityId: bob.id })).toEqual(OK);
    for (const { id } of [kept, deleted]) {
      expect(await call(admin, 'get', id)).toEqual(MISSING);
      expect(await call(admin, 'restore', id)).toEqual(NO_IDENTITY);
      expect(await call(admin, 'get', id)).toEqual(MISSING);
    }
    expect(await admin.call(face, 'identities.restore', { identityId: bob.id })).toMatchObject(OK);
    expect(await call(admin, 'get', kept.id)).toEqual({ ok: true, value: kept });
    expect(await call(admin, 'get', deleted.id)).toEqual(MISSING);
    expect(await call(admin, 'restore', deleted.id)).toMatchObject({ value: { name: 'Deleted' } });
  });
});

it('20 concurrent deletions delete a profile once, and as many restores bring it back once', async () => {
  const { id } = await create(ann);
  const deletions = await Promise.all(Array.from({ length: 20 }, () => ann.rest('DELETE', `/profiles/${id}`)));
  const statuses = deletions.map(({ status }) => status);
  expect(statuses.filter((status) => status === 204)).toHaveLength(1);
  expect(statuses.filter((status) => status === 403 || status === 404)).toHaveLength(19);
  const restores = await Promise.all(Array.from({ length: 20 }, () => admin.rest('POST', `/profiles/${id}/restore`)));
  expect(restores.map(({ status }) => status)).toContain(200);
  await ann.rest('GET', `/profiles/${id}`).expect(200);
});

it('no profile survives the deletion of its identity while profiles are created', async () => {
  const bob = await app.signUp();
  await Promise.all([
    ...Array.from({ length: 10 }, () => admin.rest('POST', '/profiles', { identityId: bob.id, name: 'Bob' })),
    admin.rest('DELETE', `/identities/${bob.id}`).expect(204),
    ...Array.from({ length: 10 }, () => admin.rest('POST', '/profiles', { identityId: bob.id, name: 'Bob' })),
  ]);
  expect(await app.storage.model(profileModel).countDocuments({ identityId: bob.id })).toBe(0);
});

describe('every query', () => {
  // those of the lists are explained with all other lists', over many records
  it('of what comes back with an identity has an index', async () => {
    const { collection } = app.storage.model(profileModel);
    const found = collection.find({ deletionId: NO_ID, deletedAt: { $ne: null } } as object);
    expect(JSON.stringify(await found.explain('queryPlanner'))).not.toMatch(/"stage":"COLLSCAN"/);
  });
});
