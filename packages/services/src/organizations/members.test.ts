import { FACES, NO_ID, OK, REFUSED, fixture, startTestServer, type Outcome, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { organizationModel } from './organization.model.js';
import type { Member, Organization } from './organizations.schemas.js';

const NO_OWNER = { ok: false, status: 409, message: 'There must be at least one owner remaining in the organization' };
const INVALID_ROLES = { ok: false, status: 422, message: 'One or more members have invalid roles' };

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

async function create(person: Person): Promise<string> {
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  return (await person.rest('POST', '/organizations', { organization }).expect<Organization>(201)).id;
}
const members = async (organizationId: string) => {
  const { data } = await admin.rest('GET', `/organizations/${organizationId}/members?limit=50`).expect<{ data: Member[] }>(200);
  return Object.fromEntries(data.map(({ identityId, role }) => [identityId, role]));
};

describe.each(FACES)('members over %s', (face) => {
  let [owner, manager, member, stranger]: Person[] = [];
  let organizationId = '';
  beforeAll(async () => {
    [owner, manager, member, stranger] = await Promise.all([app.signUp(), app.signUp(), app.signUp(), app.signUp()]);
    organizationId = await create(owner);
  });
  const call = (person: Person | undefined, procedure: string, input: object = {}): Promise<Outcome> =>
    (person as Person).call(face, `organizations.${procedure}`, { organizationId, ...input });
  const upsert = (person: Person | undefined, ...given: [Person | undefined, string][]) =>
    call(person, 'upsertMembers', { members: given.map(([of, role]) => ({ identityId: of?.id, role })) });
  const remove = (person: Person | undefined, of: Person | undefined) => call(person, 'removeMember', { identityId: of?.id });
  const idOf = (person: Person | undefined) => (person as Person).id;

  it('are added and changed by one upsert, and say when they joined', async () => {
    const before = app.clock.now().getTime();
    expect(await upsert(owner, [manager, 'member'], [member, 'member'])).toEqual(OK);
    expect(await upsert(owner, [manager, 'admin'])).toEqual(OK);
    expect(await members(organizationId)).toEqual({ [idOf(owner)]: 'owner', [idOf(manager)]: 'admin', [idOf(member)]: 'member' });
    const { value } = (await call(owner, 'listMembers')) as { value: { data: Member[] } };
    for (const { joinedAt } of value.data.slice(0, 2)) expect(Date.parse(joinedAt ?? '')).toBeGreaterThanOrEqual(before);
    expect(value.data[2]).toMatchObject({ identityId: owner?.id, role: 'owner' });
  });

  it('are listed a page at a time, latest first', async () => {
    const page = await call(manager, 'listMembers', { page: 2, limit: 2 });
    expect(page).toMatchObject({
      value: {
        data: [{ identityId: owner?.id }],
        metadata: { pagination: { page: 2, limit: 2, total: 3, totalPages: 2, hasNext: false, hasPrev: true } },
      },
    });
  });

  it('are looked up by role and by existence', async () => {
    expect(await call(manager, 'memberRole', { identityId: member?.id })).toEqual({
      ok: true,
      value: { inheritedFrom: null, role: 'member' },
    });
    expect(await call(owner, 'memberRole', { identityId: stranger?.id })).toEqual({
      ok: false,
      status: 404,
      message: 'No role found for member',
    });
    for (const [person, isMemberOfOrganization] of [
      [member, true],
      [stranger, false],
    ] as const)
      expect(await call(admin, 'isMember', { identityId: person?.id })).toEqual({ ok: true, value: { isMemberOfOrganization } });
  });

  it('list their own organizations with their role in each, optionally by role', async () => {
    const second = await create(manager as Person);
    const of = async (person: Person | undefined, input: object = {}) => {
      const outcome = await (person as Person).call(face, 'organizations.listOfIdentity', { identityId: manager?.id, ...input });
      if (!outcome.ok) return outcome;
      const { data } = outcome.value as { data: { member: object; organization: Organization }[] };
      return data.map(({ member: held, organization }) => [organization.id, held]);
    };
    const asOwner = [second, { inheritedFrom: null, role: 'owner' }];
    const asAdmin = [organizationId, { inheritedFrom: null, role: 'admin' }];
    expect(await of(manager)).toEqual([asOwner, asAdmin]);
    expect(await of(admin)).toEqual([asOwner, asAdmin]);
    expect(await of(manager, { roles: 'admin' })).toEqual([asAdmin]);
    expect(await of(manager, { roles: 'admin,owner', limit: 1, page: 2 })).toEqual([asAdmin]);
    expect(await of(manager, { roles: 'member' })).toEqual([]);
    expect(await of(manager, { roles: 'king' })).toMatchObject({
      status: 400,
      data: ["query parameter 'roles' must be a comma-separated list of owner, admin, member"],
    });
    expect(await of(owner)).toEqual(REFUSED);
  });

  it('cannot be changed by a caller whom a role outranks', async () => {
    const before = await members(organizationId);
    expect(await upsert(manager, [stranger, 'owner'])).toEqual(REFUSED);
    expect(await upsert(manager, [manager, 'owner'])).toEqual(REFUSED);
    expect(await upsert(manager, [owner, 'member'])).toEqual(REFUSED);
    expect(await upsert(manager, [stranger, 'member'], [owner, 'admin'])).toEqual(REFUSED);
    expect(await remove(manager, owner)).toEqual(REFUSED);
    for (const person of [member, stranger]) {
      expect(await upsert(person, [stranger, 'member'])).toEqual(REFUSED);
      expect(await remove(person, manager)).toEqual(REFUSED);
      expect(await call(person, 'listMembers')).toEqual(REFUSED);
    }
    expect(await members(organizationId)).toEqual(before);
  });

  it('have known roles, are named once each, and are identities', async () => {
    const before = await members(organizationId);
    for (const person of [owner, admin])
      expect(await upsert(person, [stranger, 'member'], [member, 'king'])).toEqual(INVALID_ROLES);
    expect(await upsert(owner, [stranger, 'member'], [stranger, 'admin'])).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: ['request body/1/identityId must NOT be repeated'],
    });
    expect(await call(owner, 'upsertMembers', { members: [] })).toMatchObject({
      status: 400,
      data: ['request body must NOT have fewer than 1 items'],
    });
    expect(await call(owner, 'upsertMembers', { members: [{ identityId: NO_ID, role: 'member' }] })).toEqual({
      ok: false,
      status: 404,
      message: 'Identity not found',
    });
    expect(await members(organizationId)).toEqual(before);
  });

  it('always have an owner among them', async () => {
    for (const person of [owner, admin]) {
      expect(await upsert(person, [owner, 'admin'])).toEqual(NO_OWNER);
      expect(await remove(person, owner)).toEqual(NO_OWNER);
    }
    expect(await upsert(owner, [owner, 'member'], [member, 'owner'])).toEqual(OK);
    expect(await upsert(member, [owner, 'owner'], [member, 'member'])).toEqual(OK);
  });

  it('leave by themselves, or are removed by a member of at least the same rank', async () => {
    expect(await remove(member, member)).toEqual(OK);
    expect(await call(member, 'get')).toEqual(REFUSED);
    expect(await remove(member, member)).toEqual(REFUSED);
    expect(await upsert(manager, [stranger, 'admin'])).toEqual(OK);
    expect(await remove(manager, stranger)).toEqual(OK);
    for (const person of [manager, admin])
      expect(await remove(person, stranger)).toEqual({ ok: false, status: 404, message: 'Member not found' });
    expect(await remove(owner, manager)).toEqual(OK);
    expect(await members(organizationId)).toEqual({ [idOf(owner)]: 'owner' });
  });
});

describe('a deleted identity', () => {
  it('keeps its memberships, and has them again when restored', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const organizationId = await create(ann);
    await ann.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: bob.id, role: 'admin' }]).expect(204);
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    await bob.rest('GET', `/organizations/${organizationId}`).expect(401);
    await admin.rest('POST', `/identities/${bob.id}/restore`).expect(200);
    const again = await app.signIn(bob.email);
    await again.rest('GET', `/organizations/${organizationId}/members`).expect(200);
  });

  it('does not count as a remaining owner', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const organizationId = await create(ann);
    await ann.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: bob.id, role: 'owner' }]).expect(204);
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    const last = `/organizations/${organizationId}/members/${ann.id}`;
    await ann.rest('DELETE', last).expect(409, NO_OWNER.message);
    await admin.rest('POST', `/identities/${bob.id}/restore`).expect(200);
    await ann.rest('DELETE', last).expect(204);
  });
});

describe('an organization that a host has written', () => {
  it('may lack members and known roles, and conflicts with no other', async () => {
    const [one, two] = [crypto.randomUUID(), crypto.randomUUID()];
    const dates = { createdAt: app.clock.now(), updatedAt: app.clock.now() };
    const { collection } = app.storage.model(organizationModel);
    await collection.insertMany([
      { _id: one, name: 'Host', ...dates },
      { _id: two, name: 'Host', ...dates, members: [{ identityId: admin.id, role: 'king' }] },
    ] as never[]);
    for (const id of [one, two]) {
      await admin.rest('GET', `/organizations/${id}`).expect(200);
      await admin.rest('GET', `/organizations/${id}/members`).expect(200);
      await admin.rest('PATCH', `/admin/organizations/${id}`, { name: 'Guest' }).expect(200);
    }
    const ann = await app.signUp();
    await admin.rest('PATCH', `/organizations/${one}/members`, [{ identityId: ann.id, role: 'owner' }]).expect(204);
    expect(await members(one)).toEqual({ [ann.id]: 'owner' });
    await ann.rest('DELETE', `/organizations/${one}`).expect(204);
  });
});
