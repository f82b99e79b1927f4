import { FACES, NO_ID, OK, PASSWORD, fixture, startTestServer, type Face, type Outcome, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { makeKey } from '../../test/api-keys.js';
import { openChannel, say, subscribe, valueOf } from '../../test/chat-world.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import { identityModel } from '../identities/identity.model.js';
import type { ServiceAccount } from '../identities/service-accounts.schemas.js';

const NOT_ADMIN = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
const NO_IDENTITY = { ok: false, status: 404, message: 'Identity not found' };
const IS_ACCOUNT = { ok: false, status: 409, message: 'Identity is a service account' };
/** What ends a key acts within a second; this is for a busy machine too. */
const SOON = { timeout: 3000, interval: 50 };

const app = fixture(startTestServer);
const second = fixture(() => startTestServer({ clock: app.clock }));

async function world() {
  const people = await signUpAll(app, ['admin', 'owner', 'manager', 'member', 'stranger']);
  const { owner, manager, member } = people;
  const organizationId = await createOrganization(owner, { admin: [manager], member: [member] });
  return { ...people, organizationId };
}
const create = (face: Face, caller: Person, organizationId: string, role = 'member') =>
  caller.call(face, 'organizations.createServiceAccount', { organizationId, name: 'Till 1', role });
const list = (face: Face, caller: Person, organizationId: string) =>
  caller.call(face, 'organizations.listServiceAccounts', { organizationId });
const remove = (face: Face, caller: Person, organizationId: string, identityId: string) =>
  caller.call(face, 'organizations.deleteServiceAccount', { organizationId, identityId });
const rowsOf = (outcome: Outcome) => (valueOf(outcome) as { data: ServiceAccount[] }).data;
async function account(maker: Person, organizationId: string, role = 'member'): Promise<ServiceAccount> {
  return valueOf(await create('rest', maker, organizationId, role)) as ServiceAccount;
}

describe.each(FACES)('service accounts over %s', (face) => {
  it('are made, listed and deleted by owners and admins of the organization, and by admins', async () => {
    const { organizationId, admin, owner, manager, member, stranger } = await world();
    for (const [n, maker] of [admin, owner, manager].entries()) {
      const made = valueOf(await create(face, maker, organizationId, n === 0 ? 'admin' : 'member')) as ServiceAccount;
      expect(made).toMatchObject({ name: 'Till 1', role: n === 0 ? 'admin' : 'member' });
      expect(rowsOf(await list(face, maker, organizationId))[0]).toEqual(made);
      expect(await remove(face, maker, organizationId, made.id)).toEqual(OK);
      expect(await remove(face, maker, organizationId, made.id)).toEqual(NO_IDENTITY);
      expect(rowsOf(await list(face, maker, organizationId))).toEqual([]);
    }
    const { id } = await account(owner, organizationId);
    for (const other of [member, stranger]) {
      expect(await create(face, other, organizationId)).toEqual(NOT_ADMIN);
      expect(await list(face, other, organizationId)).toEqual(NOT_ADMIN);
      expect(await remove(face, other, organizationId, id)).toEqual(NOT_ADMIN);
    }
    const elsewhere = await createOrganization(stranger);
    expect(await remove(face, stranger, elsewhere, id)).toEqual(NO_IDENTITY);
    expect(await remove(face, owner, organizationId, member.id)).toEqual(NO_IDENTITY);
    expect(await create(face, admin, NO_ID)).toEqual({ ok: false, status: 404, message: 'Organization not found' });
    expect(await create(face, owner, organizationId, 'owner')).toMatchObject({ status: 400 });
  });

  it('have keys that owners and admins of the organization make, list and delete', async () => {
    const { organizationId, admin, owner, manager, member, stranger } = await world();
    const { id: identityId } = await account(owner, organizationId);
    const given = { identityId, name: 'nightly', scopes: ['*'] };
    for (const maker of [admin, owner, manager]) {
      const { id: keyId } = valueOf(await maker.call(face, 'auth.createKey', given)) as { id: string };
      expect(rowsOf(await maker.call(face, 'auth.keys', { identityId }))).toMatchObject([{ id: keyId }]);
      expect(await maker.call(face, 'auth.deleteKey', { identityId, keyId })).toEqual(OK);
    }
    for (const other of [member, stranger]) {
      expect(await other.call(face, 'auth.createKey', given)).toEqual(NOT_ADMIN);
      expect(await other.call(face, 'auth.keys', { identityId })).toEqual(NOT_ADMIN);
    }
    // a person's keys are not the organization's
    expect(await owner.call(face, 'auth.createKey', { ...given, identityId: member.id })).toEqual(NOT_ADMIN);
  });

  it('have no keys that guests make or delete, whatever their role, who keep those of their own', async () => {
    const { owner, guest } = await signUpAll(app, ['owner', 'guest']);
    const organizationId = await createOrganization(owner, { owner: [guest] });
    const { id: identityId } = await account(owner, organizationId);
    const given = { identityId, name: 'nightly', scopes: ['*'] };
    const { id: keyId } = valueOf(await owner.call(face, 'auth.createKey', given)) as { id: string };
    expect(await guest.call(face, 'auth.createKey', given)).toEqual(NOT_ADMIN);
    expect(await guest.call(face, 'auth.deleteKey', { identityId, keyId })).toEqual(NOT_ADMIN);
    expect(rowsOf(await guest.call(face, 'auth.keys', { identityId }))).toMatchObject([{ id: keyId }]);
    const own = { identityId: guest.id };
    const made = valueOf(await guest.call(face, 'auth.createKey', { ...given, ...own })) as { id: string };
    expect(await guest.call(face, 'auth.deleteKey', { ...own, keyId: made.id })).toEqual(OK);
  });

  it('do what their role allows, and outlive who made them', async () => {
    const { organizationId, admin, owner, manager } = await world();
    const [low, high] = [await account(manager, organizationId), await account(manager, organizationId, 'admin')];
    const [member, staff] = [await makeKey(manager, {}, low.id), await makeKey(manager, {}, high.id)];
    await owner.rest('DELETE', `/organizations/${organizationId}/members/${manager.id}`).expect(204);
    await admin.rest('DELETE', `/identities/${manager.id}`).expect(204);
    const ask = (name: string, { credentials }: typeof member) => app.call(face, name, { organizationId }, credentials);
    expect(await ask('organizations.get', member)).toMatchObject({ ok: true });
    expect(await ask('organizations.listMembers', member)).toEqual(NOT_ADMIN);
    expect(await ask('organizations.listMembers', staff)).toMatchObject({ ok: true });
    expect(await ask('organizations.delete', staff)).toEqual(NOT_ADMIN);
    const own = await app.call(face, 'identities.get', { identityId: low.id }, member.credentials);
    expect(own).toMatchObject({ ok: true, value: { email: '', name: 'Till 1', serviceAccountOf: organizationId } });
  });

  it('leave the members, also where an admin deletes the identity, and come back without a role', async () => {
    const { organizationId, admin, owner } = await world();
    const { id: identityId } = await account(owner, organizationId);
    expect(await admin.call(face, 'identities.delete', { identityId })).toEqual(OK);
    const members = rowsOf(await owner.call(face, 'organizations.listMembers', { organizationId })) as object[];
    expect(members).not.toContainEqual(expect.objectContaining({ identityId }));
    expect(await admin.call(face, 'identities.restore', { identityId })).toMatchObject({ ok: true });
    expect(rowsOf(await list(face, owner, organizationId))).toMatchObject([{ id: identityId, role: null }]);
  });

  it('never own anything', async () => {
    const { organizationId, admin, owner } = await world();
    const { id: identityId } = await account(owner, organizationId, 'admin');
    const { credentials } = await makeKey(owner, {}, identityId);
    const members = [{ identityId, role: 'owner' }];
    expect(await owner.call(face, 'organizations.upsertMembers', { organizationId, members })).toEqual({
      ok: false,
      status: 422,
      message: 'One or more members have invalid roles',
    });
    const organization = { name: 'Own', description: '', contact_email: 'a@example.org' };
    expect(await app.call(face, 'organizations.create', { organization }, credentials)).toEqual(NO_IDENTITY);
    expect(await admin.call(face, 'organizations.create', { organization, ownerId: identityId })).toEqual(NO_IDENTITY);
    const lower = [{ identityId, role: 'member' }];
    expect(await owner.call(face, 'organizations.upsertMembers', { organizationId, members: lower })).toEqual(OK);
    expect(rowsOf(await list(face, owner, organizationId))).toMatchObject([{ role: 'member' }]);
    await owner.rest('DELETE', `/organizations/${organizationId}/members/${identityId}`).expect(204);
    expect(rowsOf(await list(face, owner, organizationId))).toMatchObject([{ role: null }]);
  });

  it('never sign in, and have no email that anybody could give them', async () => {
    const { organizationId, admin, owner } = await world();
    const { id: identityId } = await account(owner, organizationId);
    const stored = await app.storage.model(identityModel).collection.findOne({ _id: identityId } as object);
    expect(stored).not.toHaveProperty('email');
    expect(stored).not.toHaveProperty('passwordHash');
    for (const patch of [{ email: 'till@example.org' }, { typeId: 'admin' }, { emailVerified: true }])
      expect(await admin.call(face, 'identities.patch', { identityId, ...patch })).toEqual(IS_ACCOUNT);
    expect(await admin.call(face, 'identities.patch', { identityId, metadata: { till: 1 } })).toMatchObject({ ok: true });
    expect(await admin.call(face, 'auth.changeEmail', { identityId, email: 'till@example.org' })).toEqual(NO_IDENTITY);
    expect(await admin.call(face, 'auth.changePassword', { identityId, newPassword: PASSWORD })).toEqual(NO_IDENTITY);
    expect(await admin.call(face, 'auth.sendVerificationEmail', { identityId })).toEqual(NO_IDENTITY);
    expect(await admin.call(face, 'auth.ottGenerate', { identityId })).toEqual(NO_IDENTITY);
  });
});

it('two of one organization, and of two, are made at once', async () => {
  const { organizationId, owner, stranger } = await world();
  const elsewhere = await createOrganization(stranger);
  const made = await Promise.all(
    [organizationId, organizationId, elsewhere].map((id, n) => create('rest', n === 2 ? stranger : owner, id)),
  );
  expect(made.map(({ ok }) => ok)).toEqual([true, true, true]);
  expect(rowsOf(await list('rest', owner, organizationId))).toHaveLength(2);
});

it('its name stands where a person’s would: in what it says, among members, and in the admin’s list', async () => {
  const { organizationId, admin, owner } = await world();
  const { id } = await account(owner, organizationId);
  const { credentials } = await makeKey(owner, {}, id);
  const channel = await openChannel(owner);
  await subscribe(owner, channel.id, id);
  await app.rest('POST', '/messages', { channelId: channel.id, senderId: id, content: 'Sold out' }, credentials).expect(201);
  await say(owner, channel.id, 'Thanks');
  const path = `/messages?channelId=${channel.id}&$expand=sender`;
  const { data } = await owner.rest('GET', path).expect<{ data: { sender: object }[] }>(200);
  expect(data[1]?.sender).toEqual({ id, name: 'Till 1', avatarUrl: null, profileId: null });
  const listed = await admin.rest('GET', `/identities?$filter=id eq '${id}'`).expect<{ data: object[] }>(200);
  expect(listed.data).toMatchObject([{ id, email: '', name: 'Till 1', serviceAccountOf: organizationId }]);
});

it.each(FACES)('is locked and unlocked over %s, though it has no email that logins could have failed for', async (face) => {
  const { organizationId, admin, owner } = await world();
  const { id: identityId } = await account(owner, organizationId);
  for (const name of ['lock', 'unlock']) expect(await admin.call(face, `identities.${name}`, { identityId })).toEqual(OK);
});

describe('the keys of a service account', () => {
  it.each<[string, (given: { owner: Person; admin: Person; organizationId: string; id: string }) => PromiseLike<unknown>]>([
    ['its deletion', ({ owner, organizationId, id }) => remove('rest', owner, organizationId, id)],
    [
      'a deletion of the organization',
      ({ owner, organizationId }) => owner.rest('DELETE', `/organizations/${organizationId}`).expect(204),
    ],
    ['a lock', ({ admin, id }) => admin.rest('POST', `/identities/${id}/lock`).expect(204)],
    ['a deactivation', ({ admin, id }) => admin.rest('POST', '/auth/deactivate', { identityId: id }).expect(204)],
  ])('end within a second on every instance by %s', async (_name, end) => {
    const { organizationId, admin, owner } = await world();
    const { id } = await account(owner, organizationId);
    const { credentials } = await makeKey(owner, {}, id);
    const status = async (server: typeof app) => (await server.rest('GET', `/identities/${id}`, undefined, credentials)).status;
    expect([await status(app), await status(second)]).toEqual([200, 200]);
    await end({ owner, admin, organizationId, id });
    await expect.poll(() => status(app), SOON).toBe(401);
    await expect.poll(() => status(second), SOON).toBe(401);
  });

  it('come back with the organization, but not with an account that was deleted itself', async () => {
    const { organizationId, admin, owner } = await world();
    const [kept, gone] = [await account(owner, organizationId), await account(owner, organizationId)];
    const [key, lost] = [await makeKey(owner, {}, kept.id), await makeKey(owner, {}, gone.id)];
    expect(await remove('rest', owner, organizationId, gone.id)).toEqual(OK);
    await owner.rest('DELETE', `/organizations/${organizationId}`).expect(204);
    await admin.rest('POST', `/identities/${gone.id}/restore`).expect(404, 'Organization not found');
    await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
    app.clock.advance(1000);
    await app.rest('GET', `/organizations/${organizationId}`, undefined, key.credentials).expect(200);
    await app.rest('GET', `/identities/${gone.id}`, undefined, lost.credentials).expect(401);
    await admin.rest('POST', `/identities/${gone.id}/restore`).expect(200);
    await app.rest('GET', `/identities/${gone.id}`, undefined, lost.credentials).expect(401);
  });
});

it('the making of one is a security event', async () => {
  const { organizationId, admin, owner } = await world();
  const { id } = await account(owner, organizationId, 'admin');
  const { data } = await admin.rest('GET', `/auth/events?identityId=${id}`).expect<{ data: object[] }>(200);
  expect(data).toMatchObject([
    { type: 'service-account.created', actorId: owner.id, details: { organizationId, role: 'admin' } },
  ]);
});
