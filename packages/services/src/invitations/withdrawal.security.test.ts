import { randomUUID } from 'node:crypto';
import {
  FACES,
  OK,
  PASSWORD,
  UNVERIFIED,
  failing,
  fixture,
  isCommand,
  newEmail,
  startStoreProxy,
  startTestServer,
  type Face,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { organizationModel } from '../organizations/organization.model.js';
import { invitationModel } from './invitation.model.js';

const app = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
const other = fixture(() => startTestServer({ clock: app.clock, mongodbUri: proxy.uri }));
const admin = fixture(() => app.signUpAdmin());

const setRole = (by: Person, organizationId: string, { id: identityId }: Person, role: string) =>
  by.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId, role }]);
const remove = (by: Person, organizationId: string, { id }: Person) =>
  by.rest('DELETE', `/organizations/${organizationId}/members/${id}`);
const statusOf = async (id: string) => (await admin.rest('GET', `/invitations/${id}`).expect<{ status: string }>(200)).status;
const roleOf = (organizationId: string, { id }: { id: string }) => app.tandem.services.organizations.roleOf(organizationId, id);

/** An organization with an owner, and an admin who has invited somebody to it. */
async function invited({ role = 'admin', email = newEmail(), as = 'admin' } = {}) {
  const [owner, manager] = await Promise.all([app.signUp({ isVerified: true }), app.signUp({ isVerified: true })]);
  const organization = { name: randomUUID(), description: '', contact_email: 'a@example.org' };
  const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  await setRole(owner, organizationId, manager, as).expect(204);
  const { id } = await manager.rest('POST', '/invitations', { email, organizationId, role }).expect<{ id: string }>(201);
  return { owner, manager, organizationId, email, id, token: (await app.mail.next(email)).token ?? '' };
}
type World = Awaited<ReturnType<typeof invited>>;

/** What ends the right to invite, and what gives it back. */
const LOSSES: [string, (world: World) => PromiseLike<unknown>, (world: World) => PromiseLike<unknown>][] = [
  ['removed', ({ owner, organizationId, manager }) => remove(owner, organizationId, manager).expect(204), ({ owner, organizationId, manager }) => setRole(owner, organizationId, manager, 'admin').expect(204)], // prettier-ignore
  ['gone by themselves', ({ organizationId, manager }) => remove(manager, organizationId, manager).expect(204), ({ owner, organizationId, manager }) => setRole(owner, organizationId, manager, 'admin').expect(204)], // prettier-ignore
  ['demoted', ({ owner, organizationId, manager }) => setRole(owner, organizationId, manager, 'member').expect(204), ({ owner, organizationId, manager }) => setRole(owner, organizationId, manager, 'owner').expect(204)], // prettier-ignore
  ['made a guest', ({ manager }) => admin.rest('PATCH', `/identities/${manager.id}`, { typeId: 'guest' }).expect(200), ({ manager }) => admin.rest('PATCH', `/identities/${manager.id}`, { typeId: 'regular' }).expect(200)], // prettier-ignore
  ['locked', ({ manager }) => admin.rest('POST', `/identities/${manager.id}/lock`).expect(204), ({ manager }) => admin.rest('POST', `/identities/${manager.id}/unlock`).expect(204)], // prettier-ignore
  ['deactivated', ({ manager }) => manager.rest('POST', '/auth/deactivate', { identityId: manager.id }).expect(204), ({ manager }) => admin.rest('POST', '/auth/activate', { identityId: manager.id }).expect(204)], // prettier-ignore
  ['deleted', ({ manager }) => admin.rest('DELETE', `/identities/${manager.id}`).expect(204), ({ manager }) => admin.rest('POST', `/identities/${manager.id}/restore`).expect(200)], // prettier-ignore
];

describe.each(FACES)('over %s an invitation', (face) => {
  const register = (token: string) => app.call(face, 'auth.register', { token, password: PASSWORD });

  it.each(LOSSES)('whose maker is %s is withdrawn for good', async (_, lose, giveBack) => {
    const world = await invited();
    const { owner, organizationId, email, id, token } = world;
    await lose(world);
    expect(await statusOf(id)).toBe('withdrawn');
    await giveBack(world);
    expect(await statusOf(id)).toBe('withdrawn');
    expect(await register(token)).toEqual(UNVERIFIED);
    expect(await app.call(face, 'auth.checkToken', { token })).toEqual(UNVERIFIED);
    const person = await app.signUp({ email });
    expect(await person.call(face, 'invitations.accept', { token })).toEqual(UNVERIFIED);
    const list = (status: string) => owner.call(face, 'invitations.list', { organizationId, status });
    expect(await list('withdrawn')).toMatchObject({ value: { data: [{ id, status: 'withdrawn' }] } });
    expect(await list('pending')).toMatchObject({ value: { data: [] } });
    // it is in nobody's way
    expect(await owner.call(face, 'invitations.create', { email, organizationId })).toMatchObject(OK);
  });

  it('of a former admin is withdrawn, unless the person may still invite', async () => {
    const former = await app.signUpAdmin();
    const organization = { name: randomUUID(), description: '', contact_email: 'a@example.org' };
    const { id: organizationId } = await former.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const create = async (more: object) =>
      (await former.rest('POST', '/invitations', { email: newEmail(), ...more }).expect<{ id: string }>(201)).id;
    const [alone, own, foreign] = [
      await create({}),
      await create({ organizationId, role: 'owner' }),
      await create({ organizationId: (await invited()).organizationId }),
    ];
    await admin.rest('PATCH', `/identities/${former.id}`, { typeId: 'regular' }).expect(200);
    expect([await statusOf(alone), await statusOf(own), await statusOf(foreign)]).toEqual(['withdrawn', 'pending', 'withdrawn']);
  });

  it('to a role above the one its inviter keeps is withdrawn, others stay valid', async () => {
    const { owner, manager, organizationId, id } = await invited({ as: 'owner', role: 'owner' });
    const below = { email: newEmail(), organizationId, role: 'admin' };
    const kept = await manager.rest('POST', '/invitations', below).expect<{ id: string }>(201);
    await setRole(owner, organizationId, manager, 'admin').expect(204);
    expect([await statusOf(id), await statusOf(kept.id)]).toEqual(['withdrawn', 'pending']);
    expect(await register((await app.mail.next(below.email)).token ?? '')).toMatchObject(OK);
  });

  it('stays valid where the change of members is refused that would withdraw it', async () => {
    const [heir, person] = await Promise.all([app.signUp(), app.signUp()]);
    const { owner, organizationId, id, token } = await invited({ email: person.email });
    const { name } = await owner.rest('GET', `/organizations/${organizationId}`).expect<{ name: string }>(200);
    await heir.rest('POST', '/organizations', { organization: { name, description: '', contact_email: newEmail() } }).expect(201);
    const members = [
      { identityId: heir.id, role: 'owner' },
      { identityId: person.id, role: 'member' },
    ];
    const refusal = failing(400, `Organization with name ${name} already exists with same owner`);
    expect(await owner.call(face, 'organizations.upsertMembers', { organizationId, members })).toEqual(refusal);
    expect(await statusOf(id)).toBe('pending');
    expect(await person.call(face, 'invitations.accept', { token })).toEqual(OK);
  });

  it('does not let a removed admin of an organization return', async () => {
    const email = newEmail();
    const second = await app.signUp({ email, isVerified: true });
    const { owner, manager, organizationId, token } = await invited({ email });
    await remove(owner, organizationId, manager).expect(204);
    expect(await second.call(face, 'invitations.accept', { token })).toEqual(UNVERIFIED);
    expect(await roleOf(organizationId, second)).toBeUndefined();
  });

  it('is checked again when it is accepted, even if nothing has withdrawn it', async () => {
    const { manager, organizationId, email, id, token } = await invited();
    // as a host writes it
    await app.storage.model(organizationModel).updateOne({ _id: organizationId }, { $pull: { members: { identityId: manager.id } } }); // prettier-ignore
    expect(await statusOf(id)).toBe('pending');
    const person = await app.signUp({ email });
    expect(await person.call(face, 'invitations.accept', { token })).toEqual(UNVERIFIED);
    expect(await roleOf(organizationId, person)).toBeUndefined();
    expect(await person.rest('GET', `/identities/${person.id}`).expect(200)).toMatchObject({ emailVerified: false });
    expect(await register(token)).toEqual(UNVERIFIED);
  });

  const RACES = LOSSES.filter(([name]) => ['removed', 'demoted', 'locked'].includes(name));
  it.each(RACES)('that is accepted at the moment when its maker is %s lets in or not, and nothing between', async (_, lose) => {
    for (let round = 0; round < 6; round++) {
      const world = await invited();
      const person = await app.signUp({ email: world.email });
      const accept = (on: Face) => other.call(on, 'invitations.accept', { token: world.token }, person.credentials);
      const [outcome] = await Promise.all([accept(face), lose(world)]);
      const found = { status: await statusOf(world.id), role: await roleOf(world.organizationId, person) };
      expect(found).toEqual(outcome.ok ? { status: 'accepted', role: 'admin' } : { status: 'withdrawn', role: undefined });
      expect(outcome).toEqual(outcome.ok ? OK : UNVERIFIED);
    }
  });

  it.each(RACES)('that is made at the moment when its maker is %s does not stay', async (_, lose) => {
    for (let round = 0; round < 6; round++) {
      const world = await invited();
      const { manager, organizationId } = world;
      const input = { email: newEmail(), organizationId };
      await Promise.all([other.call(face, 'invitations.create', input, manager.credentials), lose(world)]);
      const pending = app.storage.model(invitationModel).countDocuments({ fromIdentityId: manager.id, status: 'pending' });
      expect(await pending).toBe(0);
    }
  });
});

describe.each(FACES)('over %s an invitation that is stored right after its maker was removed', (face) => {
  async function makeLate(world: World, input: Record<string, unknown>, end = () => {}) {
    const { manager } = world;
    // between the check of the right and the write of the invitation
    const update = proxy.hold(isCommand('invitations.update'));
    const made = other.call(face, 'invitations.create', input, manager.credentials);
    await update.reached;
    await remove(world.owner, world.organizationId, manager).expect(204);
    end();
    update.release();
    return await made;
  }
  const found = ({ manager }: World, email: string) =>
    app.storage.model(invitationModel).findOne({ fromIdentityId: manager.id, email }).lean();

  it('is refused and withdrawn', async () => {
    const world = await invited();
    const input = { email: newEmail(), organizationId: world.organizationId };
    expect(await makeLate(world, input)).toMatchObject({ ok: false, status: 403 });
    expect(await found(world, input.email)).toMatchObject({ status: 'withdrawn' });
  });

  it('is withdrawn, and not mailed, by another process if its own got no further', async () => {
    const world = await invited();
    const input = { email: newEmail(), organizationId: world.organizationId };
    const cut = () => void proxy.cut(isCommand('invitations.insert'), 'after');
    expect(await makeLate(world, input, cut)).toMatchObject({ ok: false, status: 503 });
    // old enough to be left behind
    app.clock.advance(31_000);
    await app.tandem.services.mails.work();
    expect(await found(world, input.email)).toMatchObject({ status: 'withdrawn', mailSince: null });
    expect(app.mail.count(input.email)).toBe(0);
  });
});

describe.each(FACES)('an invitation whose maker is removed over %s', (face) => {
  const withdrawing = isCommand('invitations.update');
  const removeThere = ({ owner, organizationId, manager }: World) => {
    // the first write is about acceptances by the maker, before the removal
    void proxy.seen(withdrawing);
    return other.call(face, 'organizations.removeMember', { organizationId, identityId: manager.id }, owner.credentials);
  };

  it('stays accepted where the maker comes back and it is accepted before it is withdrawn', async () => {
    const world = await invited();
    const { owner, manager, organizationId, email, id, token } = world;
    const person = await app.signUp({ email });
    const removal = removeThere(world);
    const update = proxy.hold(withdrawing);
    await update.reached;
    await setRole(owner, organizationId, manager, 'admin').expect(204);
    expect(await person.call(face, 'invitations.accept', { token })).toEqual(OK);
    update.release();
    expect(await removal).toEqual(OK);
    expect(await statusOf(id)).toBe('accepted');
  });

  it.each([
    [1, 'at once', 'withdrawn'],
    [2, 'by the next sweep', 'pending'],
  ])('is withdrawn although the store refuses that %i times: %s', async (times, _, status) => {
    const world = await invited();
    const removal = removeThere(world);
    const refused = proxy.answer(withdrawing, { ok: 0, code: 8, codeName: 'UnknownError', errmsg: 'refused' }, times);
    expect(await removal).toMatchObject({ ok: false });
    await refused;
    expect(await roleOf(world.organizationId, world.manager)).toBeUndefined();
    expect(await statusOf(world.id)).toBe(status);
    app.clock.advance(61_000);
    await app.storage.sweep();
    expect(await statusOf(world.id)).toBe('withdrawn');
  });
});

describe('what a process leaves that dies when somebody is removed', () => {
  it('is withdrawn by the next sweep', async () => {
    const { manager, organizationId, id } = await invited();
    await app.storage.model(organizationModel).updateOne({ _id: organizationId }, { $pull: { members: { identityId: manager.id } } }); // prettier-ignore
    const now = app.clock.now();
    const intent = { _id: randomUUID(), name: 'invitations.review', payload: { changeId: 'of a dead process', inviterIds: [manager.id] } }; // prettier-ignore
    const lease = { state: 'running', step: 0, owner: 'a dead process', attempts: 0, leaseUntil: now, createdAt: now, updatedAt: now }; // prettier-ignore
    await app.storage
      .model(invitationModel)
      .db.collection('units')
      .insertOne({ ...intent, ...lease } as object);
    await app.storage.sweep();
    await expect.poll(() => statusOf(id)).toBe('withdrawn');
  });
});

it.each([
  ['somebody has invited to', { fromIdentityId: { $in: ['a', 'b'] } }],
  ['somebody is invited to', { email: { $in: ['a', 'b'] }, organizationId: 'c' }],
])('looking for what %s has an index', async (_, which) => {
  const { collection } = app.storage.model(invitationModel);
  const found = collection.find({ ...which, status: 'pending', deletedAt: null } as object);
  expect(JSON.stringify(await found.explain('queryPlanner'))).not.toContain('COLLSCAN');
});

// comes last: it moves the time, which ends all sessions
it('an invitation that has expired stays expired when its maker loses the right', async () => {
  const { manager, id } = await invited();
  app.clock.advance(31 * 24 * 60 * 60_000);
  const later = await app.signIn(admin.email);
  const status = async () => (await later.rest('GET', `/invitations/${id}`).expect<{ status: string }>(200)).status;
  expect(await status()).toBe('expired');
  await later.rest('POST', `/identities/${manager.id}/lock`).expect(204);
  expect(await status()).toBe('expired');
});
