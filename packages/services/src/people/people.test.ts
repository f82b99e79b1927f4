import { FACES, NO_ID, fixture, startS3Server, startTestServer, type Face, type Person as Caller } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel, say, valueOf } from '../../test/chat-world.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import { upload } from '../../test/uploads.js';
import { subscriptionModel } from '../chat/subscription.model.js';
import { organizationModel } from '../organizations/organization.model.js';
import { productModel } from '../products/product.model.js';
import { profileModel } from '../profiles/profile.model.js';
import type { Profile } from '../profiles/profiles.schemas.js';
import type { Person } from './people.schemas.js';

const s3 = fixture(startS3Server);
const app = fixture(() => startTestServer({ files: { url: s3.url, pollMs: 3_600_000 } }));
const admin = fixture(() => app.signUpAdmin());

const NOT_FOUND = { ok: false, status: 404, message: 'Person not found' };
const bare = ({ id }: Caller): Person => ({ id, name: null, avatarUrl: null, profileId: null });
const createProfile = (person: Caller, name: string) =>
  person.rest('POST', '/profiles', { identityId: person.id, name }).expect<Profile>(201);

async function listed(face: Face, viewer: Caller, ids: readonly string[]): Promise<Person[]> {
  const given = face === 'rest' ? { ids: ids.join(',') } : { ids };
  return (valueOf(await viewer.call(face, 'people.list', given)) as { data: Person[] }).data;
}

/** Whom the viewer sees of these people, by either procedure. */
async function seenBy(face: Face, viewer: Caller, people: Record<string, Caller>): Promise<string[]> {
  const names = new Map(Object.entries(people).map(([name, { id }]) => [id, name]));
  const seen = (await listed(face, viewer, [...names.keys()])).map(({ id }) => names.get(id) ?? id);
  for (const [name, { id }] of Object.entries(people))
    expect((await viewer.call(face, 'people.get', { identityId: id })).ok, name).toBe(seen.includes(name));
  return seen;
}

async function order(buyer: Caller, organizationId: string): Promise<void> {
  const productId = crypto.randomUUID();
  const price = { amount: 100, currency: 'EUR', taxIncluded: null, taxable: null };
  await app.storage.model(productModel).create({ _id: productId, name: 'Bread', organizationId, price });
  const items = [{ productId, quantity: 1 }];
  await buyer.rest('POST', '/orders', { identityId: buyer.id, organizationId, items }).expect(201);
}

describe.each(FACES)('a person over %s', (face) => {
  const get = (viewer: Caller, identityId: string) => viewer.call(face, 'people.get', { identityId });

  it('is shown by the name and picture of the oldest living profile', async () => {
    const ann = await app.signUp();
    expect(await get(ann, ann.id)).toEqual({ ok: true, value: bare(ann) });
    const first = await createProfile(ann, 'Ann');
    const second = await createProfile(ann, 'Anna');
    const avatar = await upload(ann, `/profiles/${first.id}/avatar-upload-url`, 'image/png', 'picture');
    await ann.rest('PATCH', `/profiles/${first.id}`, { avatar }).expect(200);
    const card = valueOf(await get(ann, ann.id)) as Person;
    expect(card).toEqual({ id: ann.id, name: 'Ann', avatarUrl: expect.any(String) as string, profileId: first.id });
    expect(await (await fetch(card.avatarUrl ?? '')).text()).toBe('picture');
    expect(valueOf(await get(admin, ann.id))).toEqual(card);
    await ann.rest('DELETE', `/profiles/${first.id}`).expect(204);
    expect(valueOf(await get(ann, ann.id))).toEqual({ ...bare(ann), name: 'Anna', profileId: second.id });
  });

  it('has no name when the profile does not fit its schema', async () => {
    const ann = await app.signUp();
    const { id } = await createProfile(ann, 'Ann');
    await app.storage.model(profileModel).collection.updateOne({ _id: id } as object, { $set: { name: 5 } });
    expect(await get(ann, ann.id)).toEqual({ ok: true, value: bare(ann) });
  });

  it('is seen by admins, but by nobody when deleted', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await openChannel(ann, [bob]);
    expect(await seenBy(face, admin, { ann, bob })).toEqual(['ann', 'bob']);
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    for (const viewer of [admin, ann]) expect(await get(viewer, bob.id)).toEqual(NOT_FOUND);
  });

  it('is seen by fellow members of a channel, while both are members and the channel lives', async () => {
    const people = await signUpAll(app, ['ann', 'bob', 'carl', 'eve']);
    const { ann, bob, carl, eve } = people;
    const channel = await openChannel(ann, [bob, carl]);
    await openChannel(eve);
    for (const viewer of [ann, bob]) expect(await seenBy(face, viewer, people)).toEqual(['ann', 'bob', 'carl']);
    expect(await seenBy(face, eve, people)).toEqual(['eve']);
    const { data } = await admin
      .rest('GET', `/subscriptions?channelId=${channel.id}&subscribedId=${carl.id}`)
      .expect<{ data: { id: string }[] }>(200);
    await carl.rest('DELETE', `/subscriptions/${data[0]?.id}`).expect(204);
    expect(await seenBy(face, bob, people)).toEqual(['ann', 'bob']);
    expect(await seenBy(face, carl, people)).toEqual(['carl']);
    await ann.rest('DELETE', `/channels/${channel.id}`).expect(204);
    expect(await seenBy(face, bob, people)).toEqual(['bob']);
  });

  it('is seen by direct members of the same organization, not by those of its parts', async () => {
    const people = await signUpAll(app, ['owner', 'member', 'partner', 'stranger']);
    const { owner, member, partner, stranger } = people;
    const whole = await createOrganization(owner, { member: [member] });
    const part = await createOrganization(stranger, { member: [partner] });
    await admin.rest('PUT', `/organizations/${part}/parent`, { parentId: whole }).expect(200);
    expect(await seenBy(face, member, people)).toEqual(['owner', 'member']);
    expect(await seenBy(face, partner, people)).toEqual(['partner', 'stranger']);
    await admin.rest('DELETE', `/organizations/${part}`).expect(204);
    expect(await seenBy(face, partner, people)).toEqual(['partner']);
  });

  it('who has ordered from an organization is seen by its members and sees its owners, but no other customer', async () => {
    const people = await signUpAll(app, ['owner', 'clerk', 'buyer', 'customer', 'stranger']);
    const { owner, clerk, buyer, customer, stranger } = people;
    const shop = await createOrganization(owner, { member: [clerk] });
    for (const person of [buyer, customer]) await order(person, shop);
    for (const viewer of [owner, clerk])
      expect(await seenBy(face, viewer, people)).toEqual(['owner', 'clerk', 'buyer', 'customer']);
    expect(await seenBy(face, buyer, people)).toEqual(['owner', 'buyer']);
    expect(await seenBy(face, customer, people)).toEqual(['owner', 'customer']);
    expect(await seenBy(face, stranger, people)).toEqual(['stranger']);
    await admin.rest('DELETE', `/organizations/${shop}`).expect(204);
    expect(await seenBy(face, buyer, people)).toEqual(['buyer']);
  });

  it('is not found alike, whether unknown or not to be seen', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    for (const id of [bob.id, NO_ID]) expect(await get(ann, id)).toEqual(NOT_FOUND);
    expect(await app.call(face, 'people.get', { identityId: ann.id })).toMatchObject({ ok: false, status: 422 });
  });
});

describe.each(FACES)('people over %s', (face) => {
  it('are answered in the order asked, once each, without those who may not be seen', async () => {
    const [ann, bob, carl, eve] = [await app.signUp(), await app.signUp(), await app.signUp(), await app.signUp()];
    await openChannel(ann, [bob, carl]);
    const ids = [carl.id, eve.id, ann.id, NO_ID, carl.id, bob.id];
    expect(await listed(face, ann, ids)).toEqual([carl, ann, bob].map(bare));
    expect(valueOf(await ann.call(face, 'people.list', { ids: ids.join(',') }))).toEqual({ data: [carl, ann, bob].map(bare) });
  });

  it.each([
    ['', 'must match format "uuid"'],
    ['x', 'must match format "uuid"'],
    [Array.from({ length: 101 }, () => crypto.randomUUID()).join(','), 'must NOT have more than 100 items'],
  ])('must be given by at most a hundred ids (%.10j)', async (ids, problem) => {
    const answer = await admin.call(face, 'people.list', { ids });
    expect(answer).toMatchObject({ ok: false, status: 400, data: [expect.stringContaining(problem)] });
  });

  it('may be a hundred, repeated ones not counted', async () => {
    const ids = Array.from({ length: 99 }, () => crypto.randomUUID());
    const asked = [...ids, admin.id, admin.id];
    expect(await listed(face, admin, asked)).toEqual([bare(admin)]);
  });
});

it('the address of a picture stays the same for a while, so that browsers keep it', async () => {
  const ann = await app.signUp();
  const { id } = await createProfile(ann, 'Ann');
  const avatar = await upload(ann, `/profiles/${id}/avatar-upload-url`, 'image/png', 'picture');
  await ann.rest('PATCH', `/profiles/${id}`, { avatar }).expect(200);
  const address = async () => (await listed('rest', ann, [ann.id]))[0]?.avatarUrl;
  const first = await address();
  app.clock.advance(60_000);
  expect(await address()).toBe(first);
});

it('are found in whichever of many channels or organizations they share with the viewer', async () => {
  const [ann, bob, cem] = [await app.signUp(), await app.signUp(), await app.signUp()];
  const now = new Date();
  const times = { createdAt: now, updatedAt: now, deletedAt: null, deletionId: null };
  const subscriptions = Array.from({ length: 501 }, (_, n) => {
    const channelId = `channel ${n}`;
    const of = ({ id: subscribedId }: Caller) => ({ _id: crypto.randomUUID(), channelId, subscribedId, readSeq: 0, ...times });
    return n < 500 ? [of(ann)] : [of(ann), of(bob)];
  });
  await app.storage.model(subscriptionModel).collection.insertMany(subscriptions.flat() as never[]);
  const organizations = Array.from({ length: 52 }, (_, n) => {
    const members = [ann, ...(n === 0 ? [cem] : [])].map(({ id: identityId }) => ({ identityId, role: 'member', joinedAt: now }));
    const createdAt = new Date(now.getTime() + n);
    return {
      _id: crypto.randomUUID(),
      name: String(n),
      description: '',
      members,
      ownerNames: [crypto.randomUUID()],
      ...times,
      createdAt,
    };
  });
  await app.storage.model(organizationModel).collection.insertMany(organizations as never[]);
  for (const face of FACES) expect(await seenBy(face, ann, { bob, cem })).toEqual(['bob', 'cem']);
});

it('a record with a person is read again where the caller knows it: the address of the picture ends', async () => {
  const ann = await app.signUp();
  const { id: profileId } = await createProfile(ann, 'Ann');
  const { id: channelId } = await openChannel(ann);
  const { id } = await say(ann, channelId);
  const statusOf = async (query: string) => {
    const get = (headers = {}) => app.rest('GET', `/messages/${id}${query}`, undefined, { ...ann.credentials, headers });
    const known = (await get()).headers.get('etag') ?? '';
    return (await get({ 'if-none-match': known })).status;
  };
  expect(await statusOf('?$expand=sender')).toBe(304);
  const avatar = await upload(ann, `/profiles/${profileId}/avatar-upload-url`, 'image/png', 'picture');
  await ann.rest('PATCH', `/profiles/${profileId}`, { avatar }).expect(200);
  expect([await statusOf(''), await statusOf('?$expand=sender')]).toEqual([304, 200]);
});

it('a hundred messages come with the names and pictures of their senders in one request', async () => {
  const [ann, bob] = [await app.signUp(), await app.signUp()];
  const { id: channelId } = await openChannel(ann, [bob]);
  const cards = new Map<string, object>();
  for (const [person, name] of [
    [ann, 'Ann'],
    [bob, 'Bob'],
  ] as const) {
    const { id: profileId } = await createProfile(person, name);
    const avatar = await upload(person, `/profiles/${profileId}/avatar-upload-url`, 'image/png', name);
    await person.rest('PATCH', `/profiles/${profileId}`, { avatar }).expect(200);
    cards.set(person.id, { id: person.id, name, avatarUrl: expect.any(String) as string, profileId });
  }
  for (let n = 0; n < 50; n++) await Promise.all([ann, bob].map((person) => say(person, channelId)));
  const answer = valueOf(await ann.call('rest', 'chat.listMessages', { channelId, $top: 100, $expand: 'sender' }));
  const { value } = answer as { value: { senderId: string; sender: Person }[] };
  expect(value).toHaveLength(100);
  expect(value.map(({ sender }) => sender)).toEqual(value.map(({ senderId }) => cards.get(senderId)));
});
