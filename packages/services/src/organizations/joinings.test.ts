import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createJoinings, type Joining } from './joinings.js';
import { organizationModel } from './organization.model.js';
import { MAX_MEMBERS } from './organizations.errors.js';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const joinings = fixture(() => createJoinings(app.storage));

/** Of a unit that is its process's own. */
const held = { open: { $expr: { $lt: [0, 1] } } };

async function create(): Promise<string> {
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  return (await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
}
const membersOf = async (organizationId: string) =>
  (await app.storage.model(organizationModel).findById(organizationId).lean())?.members ?? [];
async function joining(role: Joining['role'] = 'member'): Promise<Joining> {
  return {
    unitId: crypto.randomUUID(),
    organizationId: await create(),
    identityId: crypto.randomUUID(),
    role,
    joinedAt: app.clock.now(),
  };
}

it('repeated joining and undoing have the same result as once', async () => {
  const given = await joining();
  const { organizationId, identityId, role, joinedAt } = given;
  const before = await membersOf(organizationId);
  for (let time = 0; time < 2; time++) {
    expect(await joinings.join(given, held)).toBe(true);
    expect(await membersOf(organizationId)).toEqual([...before, { identityId, role, joinedAt }]);
  }
  for (let time = 0; time < 2; time++) {
    await joinings.takeBack(given);
    expect(await membersOf(organizationId)).toEqual(before);
  }
});

it('a member removed after joining does not join again by the same unit, until that is over', async () => {
  const given = await joining('admin');
  const { organizationId, identityId } = given;
  const remove = () => ann.rest('DELETE', `/organizations/${organizationId}/members/${identityId}`).expect(204);
  await joinings.join(given, held);
  await remove();
  expect(await joinings.join(given, held)).toBe(true);
  expect(await membersOf(organizationId)).toHaveLength(1);
  await joinings.forget(given);
  const { collection } = app.storage.model(organizationModel);
  expect(await collection.findOne({ _id: organizationId } as object)).toMatchObject({ notes: [] });
});

it('a joining whose notes are gone is taken back: a registration may fail after that', async () => {
  const given = await joining();
  const before = await membersOf(given.organizationId);
  await joinings.join(given, held);
  await joinings.forget(given);
  await joinings.takeBack(given);
  expect(await membersOf(given.organizationId)).toEqual(before);
});

it('a late retry joins nobody', async () => {
  const given = await joining();
  await expect(joinings.join(given, { open: { $expr: { $lt: [1, 0] } } })).rejects.toThrow('must NOT have more');
  expect(await membersOf(given.organizationId)).toHaveLength(1);
});

it('undo removes the joining, and nothing from before or after it', async () => {
  const given = await joining('admin');
  const { organizationId } = given;
  const member = { ...given, unitId: crypto.randomUUID(), role: 'member', joinedAt: new Date(0) } as const;
  await joinings.join(member, held);
  const before = await membersOf(organizationId);
  await joinings.join(given, held);
  expect((await membersOf(organizationId))[1]).toMatchObject({ role: 'admin', joinedAt: new Date(0) });
  // joined at another time, and not raised by another unit
  await joinings.takeBack({ ...given, unitId: crypto.randomUUID() });
  expect((await membersOf(organizationId))[1]).toMatchObject({ role: 'admin' });
  await joinings.takeBack(given);
  await joinings.forget(given);
  expect(await membersOf(organizationId)).toEqual(before);
  const { collection } = app.storage.model(organizationModel);
  expect(await collection.findOne({ _id: organizationId } as object)).toMatchObject({
    notes: [member.unitId, `${member.unitId} ${member.identityId}`],
  });
});

it('undo gives nobody a role that was taken away before the joining', async () => {
  const given = await joining('member');
  const { organizationId } = given;
  await joinings.join({ ...given, unitId: crypto.randomUUID(), role: 'admin', joinedAt: new Date(0) }, held);
  const before = await membersOf(organizationId);
  // an admin stays one
  await joinings.join(given, held);
  await ann.rest('DELETE', `/organizations/${organizationId}/members/${given.identityId}`).expect(204);
  await joinings.takeBack(given);
  expect(await membersOf(organizationId)).toEqual(before.slice(0, 1));
  const next = { ...given, unitId: crypto.randomUUID() };
  await joinings.join(next, held);
  await joinings.takeBack(next);
  expect(await membersOf(organizationId)).toEqual(before.slice(0, 1));
});

it('undo takes back no role that an owner has given again, and what one gives or takes leaves the notes of others', async () => {
  const person = await app.signUp();
  const given = { ...(await joining('admin')), identityId: person.id };
  const { organizationId, identityId } = given;
  const members = `/organizations/${organizationId}/members`;
  const give = (role: string) => ann.rest('PATCH', members, [{ identityId, role }]).expect(204);
  await joinings.join(given, held);
  await give('admin');
  for (let time = 0; time < 2; time++) await joinings.takeBack(given);
  expect((await membersOf(organizationId))[1]).toMatchObject({ identityId, role: 'admin' });
  await give('member');
  const [raising, other] = [crypto.randomUUID(), crypto.randomUUID()].map((unitId) => ({ ...given, unitId }));
  const beside = { ...other, identityId: crypto.randomUUID() } as Joining;
  await joinings.join(beside, held);
  await joinings.join(raising as Joining, held);
  await give('admin');
  await joinings.takeBack(raising as Joining);
  expect((await membersOf(organizationId))[1]).toMatchObject({ identityId, role: 'admin' });
  await joinings.takeBack(beside);
  expect(await membersOf(organizationId)).toHaveLength(2);
});

it('undo works in an organization that was deleted meanwhile', async () => {
  const given = await joining('admin');
  const { organizationId } = given;
  const before = await membersOf(organizationId);
  await joinings.join(given, held);
  await ann.rest('DELETE', `/organizations/${organizationId}`).expect(204);
  await joinings.takeBack(given);
  const admin = await app.signUpAdmin();
  await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
  expect(await membersOf(organizationId)).toEqual(before);
});

it('undo does not remove an owner who is the only one by now', async () => {
  const given = await joining('owner');
  const { organizationId, identityId } = given;
  await joinings.join(given, held);
  const { collection } = app.storage.model(organizationModel);
  await collection.updateOne({ _id: organizationId } as object, { $pull: { members: { identityId: ann.id } } } as object);
  await joinings.takeBack(given);
  expect(await membersOf(organizationId)).toMatchObject([{ identityId, role: 'owner' }]);
});

it('nobody joins a missing organization', async () => {
  const given = await joining();
  expect(await joinings.join({ ...given, organizationId: crypto.randomUUID() }, held)).toBe(false);
});

it('an organization never exceeds the maximum of members, however they join', async () => {
  const given = await joining();
  const { organizationId } = given;
  const others = Array.from({ length: MAX_MEMBERS - 2 }, () => {
    return { identityId: crypto.randomUUID(), role: 'member', joinedAt: new Date(0) };
  });
  const { collection } = app.storage.model(organizationModel);
  // all at once they would take a busy engine longer than a command may take
  for (let at = 0; at < others.length; at += 1000) {
    const $push = { members: { $each: others.slice(at, at + 1000) } };
    await collection.updateOne({ _id: organizationId } as object, { $push } as object);
  }
  expect(await joinings.join(given, held)).toBe(true);
  const full = `An organization must NOT have more than ${MAX_MEMBERS} members`;
  await expect(joinings.join({ ...given, unitId: crypto.randomUUID(), identityId: crypto.randomUUID() }, held)).rejects.toThrow(
    full,
  );
  expect(await joinings.join({ ...given, unitId: crypto.randomUUID(), role: 'admin' }, held)).toBe(true);
  const { id } = await app.signUp();
  await ann.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: id, role: 'member' }]).expect(409, full);
  expect(await membersOf(organizationId)).toHaveLength(MAX_MEMBERS);
  const page = await ann
    .rest('GET', `/organizations/${organizationId}/members?page=1000&limit=10`)
    .expect<{ data: object[] }>(200);
  expect(page.data).toHaveLength(10);
});
