import { FACES, NO_ID, OK, fixture, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { organizationModel } from './organization.model.js';
import type { Organization } from './organizations.schemas.js';

const MISSING = { ok: false, status: 404, message: 'Organization not found' };
const taken = (name: string, status = 400) => ({
  ok: false,
  status,
  message: `Organization with name ${name} already exists with same owner`,
});

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());

const newName = () => `Bakery ${crypto.randomUUID()}`;
const bakery = (name = newName()) => ({ name, description: 'Bread', contact_email: 'bread@example.org' });
async function create(person: Person, name?: string): Promise<Organization> {
  return person.rest('POST', '/organizations', { organization: bakery(name) }).expect<Organization>(201);
}

describe.each(FACES)('an organization over %s', (face) => {
  const call = (person: Person, procedure: string, organizationId: string, input: object = {}) =>
    person.call(face, `organizations.${procedure}`, { organizationId, ...input });

  it('belongs to its creator, and shows its fields without its members', async () => {
    const organization = {
      ...bakery(),
      name: ` ${newName()} `,
      contact_phone: '+49 30 1234',
      branchName: 'North',
      typeId: 'shop',
      address: { addressLine1: 'Main Street 1', city: 'Berlin' },
      certifiedQualifications: [{ name: 'Halal', status: 'valid', value: '7' }],
    };
    const outcome = await ann.call(face, 'organizations.create', { organization });
    const { value } = outcome as { value: Organization };
    expect(value).toEqual({
      ...organization,
      name: organization.name.trim(),
      metadata: {},
      auditStatus: null,
      mfaRequired: false,
      parentId: null,
      ancestors: [],
      id: expect.any(String) as string,
      logo: null,
      createdAt: value.createdAt,
      updatedAt: value.createdAt,
    });
    expect(await call(ann, 'get', value.id)).toEqual(outcome);
    expect(await call(admin, 'get', value.id)).toEqual(outcome);
    expect(await call(ann, 'memberRole', value.id, { identityId: ann.id })).toEqual({
      ok: true,
      value: { inheritedFrom: null, role: 'owner' },
    });
  });

  it('shows null for missing fields', async () => {
    const { value } = (await ann.call(face, 'organizations.create', { organization: bakery() })) as { value: Organization };
    expect(value).toMatchObject({
      contact_phone: null,
      branchName: null,
      typeId: null,
      address: null,
      certifiedQualifications: [],
    });
  });

  it('may be created for another existing identity, by admins only', async () => {
    const bob = await app.signUp();
    const organization = bakery();
    expect(await ann.call(face, 'organizations.create', { organization, ownerId: bob.id })).toMatchObject({ status: 403 });
    expect(await ann.call(face, 'organizations.create', { organization: bakery(), ownerId: ann.id })).toMatchObject(OK);
    const outcome = await admin.call(face, 'organizations.create', { organization, ownerId: bob.id });
    const { value } = outcome as { value: Organization };
    expect(await call(bob, 'get', value.id)).toEqual(outcome);
    expect(await call(bob, 'isMember', value.id, { identityId: admin.id })).toEqual({
      ok: true,
      value: { isMemberOfOrganization: false },
    });
    expect(await admin.call(face, 'organizations.create', { organization: bakery(), ownerId: NO_ID })).toEqual({
      ok: false,
      status: 404,
      message: 'Identity not found',
    });
  });

  it('has a name that no other organization of the same owner has', async () => {
    const [bob, name] = [await app.signUp(), newName()];
    const first = await create(bob, name);
    expect(await bob.call(face, 'organizations.create', { organization: bakery(name) })).toEqual(taken(name));
    expect(await ann.call(face, 'organizations.create', { organization: bakery(name) })).toMatchObject(OK);
    const other = await create(bob);
    expect(await call(admin, 'patchAsAdmin', other.id, { name })).toEqual(taken(name));
    expect(await call(admin, 'patchAsAdmin', first.id, { name })).toMatchObject(OK);
    // neither does who becomes an owner of a second one
    const third = await create(await app.signUp(), name);
    expect(await call(admin, 'upsertMembers', third.id, { members: [{ identityId: bob.id, role: 'owner' }] })).toEqual(
      taken(name),
    );
    expect(await call(admin, 'upsertMembers', third.id, { members: [{ identityId: bob.id, role: 'admin' }] })).toEqual(OK);
    // a name that was given up, or whose organization is deleted, is free
    expect(await call(admin, 'patchAsAdmin', first.id, { name: newName() })).toMatchObject(OK);
    expect(await call(admin, 'patchAsAdmin', other.id, { name })).toMatchObject({ value: { name } });
  });

  it.each(['', 'a'])(
    'has a name that no other of the same owner has, however long and in whichever letters: %séé…',
    async (start) => {
      const [bob, name] = [await app.signUp(), start + 'é'.repeat(190)];
      await create(bob, name);
      const other = await create(bob);
      expect(await bob.call(face, 'organizations.create', { organization: bakery(name) })).toEqual(taken(name));
      expect(await call(admin, 'patchAsAdmin', other.id, { name })).toEqual(taken(name));
    },
  );

  it('is changed by its owner in branch, contact and description, and by an admin in every field', async () => {
    const before = await create(ann);
    app.clock.advance(1000);
    const owners = { description: 'Cake', contact_email: ' CAKE@example.org ', contact_phone: '1', branchName: 'South' };
    const outcome = await call(ann, 'patch', before.id, owners);
    const { value } = outcome as { value: Organization };
    expect(value).toEqual({ ...before, ...owners, contact_email: 'cake@example.org', updatedAt: value.updatedAt });
    expect(value.updatedAt > before.updatedAt).toBe(true);
    expect(await call(ann, 'get', before.id)).toEqual(outcome);
    const name = newName();
    expect(await call(admin, 'patchAsAdmin', before.id, { name, typeId: 'shop', branchName: null })).toMatchObject({
      value: { name, typeId: 'shop', branchName: null, contact_phone: '1' },
    });
    const patchAddress = (address: unknown) => call(admin, 'patchAsAdmin', before.id, { address });
    await patchAddress({ addressLine1: '$name', city: 'Berlin' });
    const merged = { addressLine1: '$name', city: 'Bonn', country: 'DE' };
    expect(await patchAddress({ city: 'Bonn', country: 'DE' })).toMatchObject({ value: { address: merged } });
    expect(await patchAddress({ addressLine1: null, city: null, country: null })).toMatchObject({ value: { address: {} } });
    expect(await patchAddress(null)).toMatchObject({ value: { address: null } });
    expect(await patchAddress({ $set: 'x' })).toMatchObject({ status: 400 });
    expect(await call(ann, 'patch', before.id, { name: newName(), typeId: 'x', description: null })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: [
        'request body/description must be string',
        "request body must NOT have additional properties: 'name'",
        "request body must NOT have additional properties: 'typeId'",
      ],
    });
    for (const [person, procedure] of [
      [ann, 'patch'],
      [admin, 'patchAsAdmin'],
    ] as const)
      expect(await call(person, procedure, before.id)).toEqual({
        ok: false,
        status: 400,
        message: 'Failed to update organization',
      });
  });

  it('keeps text as it is, whatever it would mean to a database', async () => {
    const organization = await create(ann);
    const name = `$name ${crypto.randomUUID()}`;
    expect(await call(admin, 'patchAsAdmin', organization.id, { name, description: '$members' })).toMatchObject({
      value: { name, description: '$members' },
    });
    expect(await ann.call(face, 'organizations.create', { organization: bakery(name) })).toEqual(taken(name));
  });

  it('is soft-deleted: hidden, its name free, and back when restored', async () => {
    const [bob, name] = [await app.signUp(), newName()];
    const before = await create(bob, name);
    expect(await call(bob, 'delete', before.id)).toEqual(OK);
    expect(await call(bob, 'get', before.id)).toMatchObject({ status: 403 });
    for (const procedure of ['get', 'delete', 'listMembers']) expect(await call(admin, procedure, before.id)).toEqual(MISSING);
    expect(await call(admin, 'patch', before.id, { branchName: 'x' })).toEqual(MISSING);
    expect(await call(admin, 'upsertMembers', before.id, { members: [{ identityId: bob.id, role: 'owner' }] })).toEqual(MISSING);
    expect(await call(admin, 'removeMember', before.id, { identityId: bob.id })).toEqual(MISSING);
    expect(await bob.call(face, 'organizations.listOfIdentity', { identityId: bob.id })).toMatchObject({ value: { data: [] } });

    const second = await create(bob, name);
    expect(await call(admin, 'restore', before.id)).toEqual(taken(name, 409));
    await call(admin, 'delete', second.id);
    expect(await call(admin, 'restore', before.id)).toMatchObject({ ok: true, value: { id: before.id, name } });
    expect(await call(admin, 'restore', before.id)).toEqual(MISSING);
    expect(await call(bob, 'get', before.id)).toMatchObject(OK);
  });

  it('is listed for admins, newest first', async () => {
    const [first, second] = [await create(ann), await create(ann)];
    const outcome = await admin.call(face, 'organizations.list', { limit: 2 });
    expect(outcome).toMatchObject({
      value: { data: [second, first], metadata: { pagination: { page: 1, limit: 2, hasNext: true } } },
    });
  });

  it('is validated, and reports all problems at once', async () => {
    expect(await ann.call(face, 'organizations.create', { organization: { name: ' ', contact_email: 'x', foo: 1 } })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: [
        'request body/organization/name must NOT have fewer than 1 characters',
        "request body/organization must have required property 'description'",
        'request body/organization/contact_email must match format "email"',
        "request body/organization must NOT have additional properties: 'foo'",
      ],
    });
  });
});

it.each(FACES)('names are unique over %s even if many requests race, on two servers', async (face: Face) => {
  await using other = await startTestServer({ clock: app.clock });
  const [bob, name] = [await app.signUp(), newName()];
  const bobElsewhere = await other.signIn(bob.email);
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      (n % 2 ? bob : bobElsewhere).call(face, 'organizations.create', { organization: bakery(name) }),
    ),
  );
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 19 }, () => taken(name)));
});

describe('every query', () => {
  it.each([
    ['the admin’s list', {}],
    ['the organizations of an identity', { 'members.identityId': NO_ID }],
    [
      'those where it has a role',
      { 'members.identityId': NO_ID, members: { $elemMatch: { identityId: NO_ID, role: { $in: ['owner'] } } } },
    ],
  ])('of %s has an index, also for its order', async (_, filter) => {
    const { collection } = app.storage.model(organizationModel);
    const found = collection.find({ ...filter, deletedAt: null } as object, { sort: { createdAt: -1, _id: -1 } });
    expect(JSON.stringify(await found.explain('queryPlanner'))).not.toMatch(/"stage":"(COLLSCAN|SORT)"/);
  });
});
