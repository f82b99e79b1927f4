import { FACES, NO_ID, failing, fixture, isCommand, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { organizationModel } from './organization.model.js';
import { MAX_DEPTH } from './organizations.errors.js';
import type { Organization } from './organizations.schemas.js';

const REFUSED = failing(403, 'Identity is not authorized to access this resource');
const MISSING = failing(404, 'Organization not found');
const CYCLE = failing(409, 'Organization cannot be below itself');
const TOO_DEEP = failing(409, 'Organizations must NOT be nested more than 50 levels deep');

/** Two instances of one system. */
const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());
const elsewhere = fixture(() => other.signIn(admin.email));

const given = (parentId?: string) => ({
  organization: { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' },
  ...(parentId && { parentId }),
});
const found = async (parentId?: string, person = admin) =>
  (await person.rest('POST', '/organizations', given(parentId)).expect<Organization>(201)).id;
/** Organizations of which each is part of the one before it. */
async function chain(length: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < length; n++) ids.push(await found(ids.at(-1)));
  return ids;
}
const join = (organizationId: string, person: Person, role: string) =>
  admin.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: person.id, role }]).expect(204);
const read = (id: string) => admin.rest('GET', `/organizations/${id}`).expect<Organization>(200);
const move = (person: Person, id: string | undefined, parentId: string | null | undefined) =>
  person.rest('PUT', `/organizations/${id}/parent`, { parentId });

describe.each(FACES)('an organization that is part of another, over %s', (face) => {
  const call = (procedure: string, input: Record<string, unknown>, person = admin) =>
    person.call(face, `organizations.${procedure}`, input);
  async function listed(procedure: string, input: Record<string, unknown>, person = admin): Promise<Organization[]> {
    return ((await call(procedure, input, person)) as { value: { data: Organization[] } }).value.data;
  }

  it('is created below it by a manager of the parent, and shows its ancestors everywhere', async () => {
    const [top, middle] = (await chain(2)) as [string, string];
    await join(middle, ann, 'admin');
    const { value: made } = (await call('create', given(middle), ann)) as { value: Organization };
    expect(made).toMatchObject({ parentId: middle, ancestors: [top, middle] });
    const organizationId = made.id;
    expect(await call('get', { organizationId })).toEqual({ ok: true, value: made });
    expect(await listed('list', { $filter: `id eq '${organizationId}'` })).toEqual([made]);
    expect(await listed('list', { $filter: `parentId eq '${middle}'` })).toEqual([made]);
    expect(await listed('listDescendants', { organizationId: middle }, ann)).toEqual([made]);
    const own = await listed('listOfIdentity', { identityId: ann.id, roles: 'owner' }, ann);
    expect(own[0]).toEqual({ member: { inheritedFrom: null, role: 'owner' }, organization: made });
    expect(await call('patch', { organizationId, description: 'x' }, ann)).toMatchObject({ value: { ancestors: [top, middle] } });
    expect(await call('create', { ...given(), parentId: null }, bob)).toMatchObject({ value: { parentId: null, ancestors: [] } });

    await join(middle, bob, 'member');
    for (const parentId of [top, middle, NO_ID]) expect(await call('create', given(parentId), bob)).toEqual(REFUSED);
    expect(await call('create', given(NO_ID))).toEqual(MISSING);
    expect(await call('create', { ...given(), parentId: 7 })).toMatchObject({ status: 400 });
  });

  it('is listed from above, down to the given depth', async () => {
    const [top, middle, low] = (await chain(3)) as [string, string, string];
    const beside = await found(top);
    const below = async (input: object) =>
      (await listed('listDescendants', { organizationId: top, ...input })).map(({ id }) => id);
    expect(await below({})).toEqual([beside, low, middle]);
    expect(await below({ depth: 1 })).toEqual([beside, middle]);
    expect(await below({ depth: 2, $filter: `parentId eq '${middle}'` })).toEqual([low]);
    expect(await listed('listDescendants', { organizationId: low })).toEqual([]);
    expect(await call('listDescendants', { organizationId: top, depth: 0 })).toMatchObject({ status: 400 });
    expect(await call('listDescendants', { organizationId: NO_ID })).toEqual(MISSING);
  });

  it('is moved by admins, with its subtree, never below itself', async () => {
    const [top, middle, low] = (await chain(3)) as [string, string, string];
    const another = await found();
    const moved = await call('move', { organizationId: middle, parentId: another });
    expect(moved).toMatchObject({ value: { parentId: another, ancestors: [another] } });
    expect((await read(low)).ancestors).toEqual([another, middle]);
    expect(await listed('listDescendants', { organizationId: top })).toEqual([]);
    for (const parentId of [middle, low]) expect(await call('move', { organizationId: middle, parentId })).toEqual(CYCLE);
    expect(await call('move', { organizationId: middle, parentId: null })).toMatchObject({
      value: { parentId: null, ancestors: [] },
    });
    expect(await call('move', { organizationId: middle, parentId: NO_ID })).toEqual(MISSING);
    for (const parentId of [top, null]) expect(await call('move', { organizationId: NO_ID, parentId })).toEqual(MISSING);
    await join(middle, ann, 'owner');
    await join(top, ann, 'owner');
    expect(await call('move', { organizationId: middle, parentId: top }, ann)).toEqual(REFUSED);
  });

  it('inherits roles from above: one’s own wins, else the highest, among equal ones the nearest to the top', async () => {
    const person = await app.signUp();
    const ids = (await chain(5)) as [string, string, string, string, string];
    const [first, second, third, fourth, fifth] = ids;
    await join(first, person, 'member');
    await join(second, person, 'admin');
    await join(third, person, 'admin');
    await join(fourth, person, 'member');
    const roleIn = (organizationId: string) => call('memberRole', { organizationId, identityId: person.id });
    const fromSecond = { inheritedFrom: second, role: 'admin' };
    expect(await roleIn(fifth)).toEqual({ ok: true, value: fromSecond });
    expect(await roleIn(fourth)).toEqual({ ok: true, value: { inheritedFrom: null, role: 'member' } });
    expect(await call('memberRole', { organizationId: fifth, identityId: bob.id })).toEqual(
      failing(404, 'No role found for member'),
    );
    const existence = await call('isMember', { organizationId: fifth, identityId: person.id });
    expect(existence).toEqual({ ok: true, value: { isMemberOfOrganization: false } });

    const beside = await found(first);
    const memberships = async (input: object) => {
      const rows = await listed('listOfIdentity', { identityId: person.id, ...input }, person);
      return (rows as unknown as { member: object; organization: Organization }[]).map(({ member, organization }) => [
        organization.id,
        member,
      ]);
    };
    const own = (id: string, role: string) => [id, { inheritedFrom: null, role }];
    const direct = [own(fourth, 'member'), own(third, 'admin'), own(second, 'admin'), own(first, 'member')];
    expect(await memberships({})).toEqual(direct);
    const all = [[beside, { inheritedFrom: first, role: 'member' }], [fifth, fromSecond], ...direct];
    expect(await memberships({ includeInherited: true })).toEqual(all);
    expect(await memberships({ includeInherited: true, roles: 'admin' })).toEqual([[fifth, fromSecond], direct[1], direct[2]]);
    expect(await memberships({ includeInherited: true, $filter: "member.role eq 'member'" })).toEqual([
      all[0],
      direct[0],
      direct[3],
    ]);
  });

  it('can only be used with one’s own role', async () => {
    const [top, low] = (await chain(2)) as [string, string];
    const owner = await app.signUp();
    await join(top, owner, 'owner');
    expect(await call('get', { organizationId: low }, owner)).toEqual(REFUSED);
    expect(await call('delete', { organizationId: low }, owner)).toEqual(REFUSED);
  });

  it('is at the top while its parent is deleted, and below it again after a restore', async () => {
    const [top, middle, low] = (await chain(3)) as [string, string, string];
    const person = await app.signUp();
    await join(top, person, 'owner');
    expect(await call('delete', { organizationId: middle })).toEqual({ ok: true });
    expect(await read(low)).toMatchObject({ parentId: middle, ancestors: [] });
    expect(await listed('listDescendants', { organizationId: top })).toEqual([]);
    const role = () => call('memberRole', { organizationId: low, identityId: person.id });
    expect(await role()).toMatchObject({ status: 404 });
    expect(await call('create', given(middle))).toEqual(MISSING);
    // what is deleted may come back, and must not be below itself then
    expect(await call('move', { organizationId: top, parentId: low })).toEqual(CYCLE);
    await admin.rest('POST', `/organizations/${middle}/restore`).expect(200);
    expect((await read(low)).ancestors).toEqual([top, middle]);
    expect(await role()).toEqual({ ok: true, value: { inheritedFrom: top, role: 'owner' } });
  });
});

/** A chain that is stored at once. */
async function stored(length: number, top: string | null = null): Promise<string[]> {
  const ids = Array.from({ length }, () => crypto.randomUUID());
  const record = { name: 'Part', contact_email: 'a@example.org', createdAt: app.clock.now(), updatedAt: app.clock.now() };
  const records = ids.map((_id, at) => ({ ...record, _id, parentId: ids[at - 1] ?? top }));
  await app.storage.model(organizationModel).insertMany(records);
  return ids;
}

it('organizations are nested at most 50 levels deep', async () => {
  const ids = await stored(MAX_DEPTH);
  const deepest = ids.at(-1) as string;
  expect(await admin.call('rest', 'organizations.create', given(deepest))).toEqual(TOO_DEEP);
  const alone = await found();
  expect(await admin.call('rest', 'organizations.move', { organizationId: alone, parentId: deepest })).toEqual(TOO_DEEP);
  const { parentId } = await read(deepest);
  await move(admin, alone, parentId).expect(200);
});

it('an organization is not restored where that would nest them deeper', async () => {
  const ids = await stored(30);
  const [above, middle] = [ids[9] as string, ids[10] as string];
  const restore = () => admin.call('rest', 'organizations.restore', { organizationId: middle });
  await admin.rest('DELETE', `/organizations/${middle}`).expect(204);
  const [below] = await stored(21, ids.at(-1));
  expect(await restore()).toEqual(TOO_DEEP);
  // what it would come back below does not count while that is deleted
  await admin.rest('DELETE', `/organizations/${above}`).expect(204);
  expect(await restore()).toMatchObject({ ok: true });
  expect(await admin.call('rest', 'organizations.restore', { organizationId: above })).toEqual(TOO_DEEP);
  await admin.rest('DELETE', `/organizations/${below}`).expect(204);
  await admin.rest('POST', `/organizations/${above}/restore`).expect(200);
});

describe('at once, on two instances', () => {
  /** How many of these can be walked up to the top. */
  async function reachTop(ids: readonly string[]): Promise<number> {
    const records = await app.storage
      .model(organizationModel)
      .find({ _id: { $in: ids } }, { parentId: 1 })
      .lean();
    const parentOf = new Map(records.map(({ _id, parentId = null }) => [_id, parentId]));
    const reaches = (id: string) => {
      let at: string | null | undefined = id;
      for (let steps = 0; steps < ids.length && typeof at === 'string'; steps++) at = parentOf.get(at);
      return at === null;
    };
    return ids.filter(reaches).length;
  }
  const person = (at: number) => (at % 2 ? admin : elsewhere);

  it('of 20 organizations each moved below the next, the last below the first, all but one move', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => found()));
    const answers = await Promise.all(ids.map((id, at) => move(person(at), id, ids[(at + 1) % 20])));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 19 }, () => 200),
      409,
    ]);
    expect(await reachTop(ids)).toBe(20);
  });

  it('of two moves that together would nest them deeper than 50 levels, one moves', async () => {
    const [top, middle, low] = await Promise.all([stored(20), stored(20), stored(20)]);
    const answers = await Promise.all([
      admin.call('rest', 'organizations.move', { organizationId: middle[0], parentId: top.at(-1) }),
      elsewhere.call('rest', 'organizations.move', { organizationId: low[0], parentId: middle.at(-1) }),
    ]);
    expect(answers.filter(({ ok }) => !ok)).toEqual([TOO_DEEP]);
  });

  it('20 moves, deletions and restores between few organizations leave a tree', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => found()));
    for (let round = 0; round < 3; round++) {
      await Promise.all(
        Array.from({ length: 20 }, (_, at) => {
          const id = ids[at % 5];
          if (at % 10 === 8) return person(at).rest('DELETE', `/organizations/${id}`);
          if (at % 10 === 9) return person(at).rest('POST', `/organizations/${ids[(at + 4) % 5]}/restore`);
          return move(person(at), id, ids[(at * 7 + round + 1) % 5]);
        }),
      );
      await Promise.all(ids.map((id) => admin.rest('POST', `/organizations/${id}/restore`)));
      expect(await reachTop(ids)).toBe(5);
    }
  });
});

it('an organization that is deleted while it is moved stays where it was', async () => {
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using slow = await startTestServer({ clock: app.clock, mongodbUri: proxy.uri });
  const [top, id] = [await found(), await found()];
  const write = proxy.hold(isCommand('organizations.update'));
  const moving = slow.rest('PUT', `/organizations/${id}/parent`, { parentId: top }, admin.credentials);
  await write.reached;
  await admin.rest('DELETE', `/organizations/${id}`).expect(204);
  write.release();
  expect((await moving).status).toBe(404);
  await admin.rest('POST', `/organizations/${id}/restore`).expect(200);
  expect(await read(id)).toMatchObject({ parentId: null });
});
