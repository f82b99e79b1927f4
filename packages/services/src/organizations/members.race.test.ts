import { fixture, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import { organizationModel } from './organization.model.js';
import { MAX_MEMBERS } from './organizations.errors.js';
import type { Organization } from './organizations.schemas.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
const ann = fixture(() => app.signUp());
const bob = fixture(async () => other.signIn((await app.signUp()).email));

async function create(): Promise<string> {
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  return (await ann.rest('POST', '/organizations', { organization }).expect<Organization>(201)).id;
}
const statusesOf = (answers: { status: number }[]) => answers.map(({ status }) => String(status)).sort();
async function rolesIn(organizationId: string): Promise<Record<string, string>> {
  const found = await app.storage.model(organizationModel).findById(organizationId).lean();
  return Object.fromEntries((found?.members ?? []).map(({ identityId, role }) => [identityId, role]));
}

it('two owners that concurrently give up, or take away, each other’s role on two servers always leave an owner: 200 rounds', async () => {
  const organizationId = await create();
  const path = `/organizations/${organizationId}/members`;
  const { collection } = app.storage.model(organizationModel);
  const both = [ann, bob].map(({ id }) => ({ identityId: id, role: 'owner', joinedAt: new Date() }));
  for (let round = 0; round < 200; round++) {
    await collection.updateOne({ _id: organizationId } as object, { $set: { members: both } });
    const [first, second] = round % 2 ? [ann, bob] : [bob, ann];
    const demotion = (of: Person) => [{ identityId: of.id, role: 'member' }];
    const answers = await Promise.all(
      round % 4 < 2
        ? [ann.rest('PATCH', path, demotion(first)), bob.rest('PATCH', path, demotion(second))]
        : [ann.rest('DELETE', `${path}/${first.id}`), bob.rest('PATCH', path, demotion(second))],
    );
    const owners = Object.entries(await rolesIn(organizationId)).filter(([, role]) => role === 'owner');
    expect(owners, `round ${round}: ${answers.map(({ status }) => status).join()}`).toHaveLength(1);
    expect(statusesOf(answers)).toEqual(['204', expect.toBeOneOf(['403', '409'])]);
  }
}, 120_000);

it('20 concurrent upserts all count: no member is lost', async () => {
  const organizationId = await create();
  await ann.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: bob.id, role: 'admin' }]).expect(204);
  const people = await Promise.all(Array.from({ length: 20 }, () => app.signUp()));
  const answers = await Promise.all(
    people.map(({ id }, n) => {
      const body = [{ identityId: id, role: 'member' }];
      return (n % 2 ? ann : bob).rest('PATCH', `/organizations/${organizationId}/members`, body);
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 204));
  expect(Object.keys(await rolesIn(organizationId)).sort()).toEqual([ann.id, bob.id, ...people.map(({ id }) => id)].sort());
});

it('the last place among the members is taken once, even by a caller that checked before the other wrote', async () => {
  const organizationId = await create();
  const { collection } = app.storage.model(organizationModel);
  const others = Array.from({ length: MAX_MEMBERS - 2 }, () => {
    return { identityId: crypto.randomUUID(), role: 'member', joinedAt: new Date(0) };
  });
  await collection.updateOne({ _id: organizationId } as object, { $push: { members: { $each: others } } } as object);
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using stalling = await startTestServer({ mongodbUri: proxy.uri });
  const { reached, release } = proxy.hold((one) => `${one.collection}.${one.command}` === 'organizations.update');
  const path = `/organizations/${organizationId}/members`;
  const adding = stalling
    .rest('PATCH', path, [{ identityId: bob.id, role: 'member' }], ann.credentials)
    .then(({ status }) => status);
  await reached;
  const { id: identityId } = await app.signUp();
  await ann.rest('PATCH', path, [{ identityId, role: 'member' }]).expect(204);
  release();
  expect(await adding).toBe(409);
  expect(Object.keys(await rolesIn(organizationId))).toHaveLength(MAX_MEMBERS);
});

it('20 concurrent removals of one member remove it once', async () => {
  const organizationId = await create();
  const path = `/organizations/${organizationId}/members`;
  await ann.rest('PATCH', path, [{ identityId: bob.id, role: 'owner' }]).expect(204);
  const { id } = await app.signUp();
  await ann.rest('PATCH', path, [{ identityId: id, role: 'member' }]).expect(204);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => (n % 2 ? ann : bob).rest('DELETE', `${path}/${id}`)));
  expect(statusesOf(answers)).toEqual(['204', ...Array.from({ length: 19 }, () => '404')]);
});

it('a newcomer that 20 concurrent calls add is a member once', async () => {
  const organizationId = await create();
  const path = `/organizations/${organizationId}/members`;
  const { id } = await app.signUp();
  await Promise.all(Array.from({ length: 20 }, () => ann.rest('PATCH', path, [{ identityId: id, role: 'member' }]).expect(204)));
  const found = await app.storage.model(organizationModel).findById(organizationId).lean();
  expect(found?.members.filter(({ identityId }) => identityId === id)).toHaveLength(1);
});
