import { FACES, NOT_SIGNED_IN, NO_ID, REFUSED, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization, signUpAll } from '../../test/people.js';
import { organizationModel } from './organization.model.js';

const WHO = ['stranger', 'member', 'guest', 'manager', 'owner', 'admin'] as const;
type Who = (typeof WHO)[number];
/** Who may call what about an organization. The guest has the role of the manager, and is refused what writes. */
const ALLOWED: Record<string, readonly Who[]> = {
  get: ['member', 'guest', 'manager', 'owner', 'admin'],
  patch: ['owner', 'admin'],
  patchAsAdmin: ['admin'],
  move: ['admin'],
  listDescendants: ['guest', 'manager', 'owner', 'admin'],
  delete: ['owner', 'admin'],
  restore: ['admin'],
  listMembers: ['guest', 'manager', 'owner', 'admin'],
  upsertMembers: ['manager', 'owner', 'admin'],
  removeMember: ['member', 'manager', 'owner', 'admin'],
  memberRole: ['guest', 'manager', 'owner', 'admin'],
  isMember: ['guest', 'manager', 'owner', 'admin'],
};

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
const victim = fixture(() => app.signUp());
let organizationId: string;
let elsewhere: string;
beforeAll(async () => {
  organizationId = await createOrganization(people.owner, {
    member: [people.member, victim],
    admin: [people.guest, people.manager],
  });
  // the stranger owns another organization: a role there is none here
  elsewhere = await createOrganization(people.stranger);
});

const stored = () => app.storage.model(organizationModel).findById(organizationId).lean();

/** Nothing here is valid, so that who may call is told so and changes nothing. */
const bad = (id: unknown) => ({ organizationId: id, members: 'none', identityId: 'no-uuid', foo: 1 });

describe.each(FACES)('over %s', (face) => {
  it.each(Object.keys(ALLOWED))(
    'organizations.%s is open to exactly the permitted callers, before its input is read',
    async (name) => {
      const before = await stored();
      const call = (who: Who, id: unknown) => people[who].call(face, `organizations.${name}`, bad(id));
      for (const id of [organizationId, NO_ID, 'no-uuid']) {
        expect(await app.call(face, `organizations.${name}`, bad(id))).toEqual(NOT_SIGNED_IN);
        expect(await call('admin', id)).toMatchObject({ status: expect.toBeOneOf([400, 404]) as number });
        for (const who of WHO.slice(0, -1)) {
          // which organizations exist is told to their members only
          const mayCall = id === organizationId && ALLOWED[name]?.includes(who);
          expect(await call(who, id), `${who}, ${id}`).toMatchObject(mayCall ? { status: 400 } : REFUSED);
        }
      }
      expect(await stored()).toEqual(before);
    },
  );

  it('a guest creates no organization and adds no member, but may leave', async () => {
    const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
    expect(await people.guest.call(face, 'organizations.create', { organization })).toEqual(REFUSED);
    const members = [{ identityId: people.stranger.id, role: 'member' }];
    expect(await people.guest.call(face, 'organizations.upsertMembers', { organizationId, members })).toEqual(REFUSED);
    const leave = (identityId: string) => people.guest.call(face, 'organizations.removeMember', { organizationId, identityId });
    expect(await leave(victim.id)).toEqual(REFUSED);
    expect(await leave(people.guest.id)).toEqual({ ok: true });
    const again = [{ identityId: people.guest.id, role: 'admin' }];
    expect(await people.owner.call(face, 'organizations.upsertMembers', { organizationId, members: again })).toEqual({
      ok: true,
    });
  });

  it('a member removes only oneself', async () => {
    for (const { id } of [victim, people.owner, people.stranger])
      expect(await people.member.call(face, 'organizations.removeMember', { organizationId, identityId: id })).toEqual(REFUSED);
  });

  it('a role in another organization does not count, and another identity’s organizations are not listed', async () => {
    const { stranger, admin } = people;
    expect(await stranger.call(face, 'organizations.get', { organizationId: elsewhere })).toMatchObject({ ok: true });
    expect(await stranger.call(face, 'organizations.listOfIdentity', { identityId: people.owner.id })).toEqual(REFUSED);
    expect(await stranger.call(face, 'organizations.list')).toEqual(REFUSED);
    expect(await admin.call(face, 'organizations.listOfIdentity', { identityId: people.owner.id })).toMatchObject({ ok: true });
  });

  it('a removed or demoted member has lost the role at the next request', async () => {
    const late = await app.signUp();
    const set = (role: string) =>
      people.owner.call(face, 'organizations.upsertMembers', { organizationId, members: [{ identityId: late.id, role }] });
    const list = () => late.call(face, 'organizations.listMembers', { organizationId });
    await set('admin');
    expect(await list()).toMatchObject({ ok: true });
    await set('member');
    expect(await list()).toEqual(REFUSED);
    expect(await late.call(face, 'organizations.get', { organizationId })).toMatchObject({ ok: true });
    await people.owner.call(face, 'organizations.removeMember', { organizationId, identityId: late.id });
    expect(await late.call(face, 'organizations.get', { organizationId })).toEqual(REFUSED);
  });
});

it('an id that is an object names no organization', async () => {
  for (const who of WHO.slice(0, -1))
    expect(await people[who].call('trpc', 'organizations.get', { organizationId: { $ne: null } })).toEqual(REFUSED);
});
