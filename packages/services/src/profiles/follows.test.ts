import { FACES, NO_ID, OK, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { Follower } from './relations.schemas.js';
import type { Profile } from './profiles.schemas.js';
import { organizationFollowModel, productLikeModel, profileFollowModel } from './relation.model.js';

const failure = (status: number, message: string) => ({ ok: false, status, message });
const NO_PROFILE = failure(404, 'Profile not found');
const NO_ORGANIZATION = failure(404, 'Organization not found');
const NO_PRODUCT = failure(404, 'Product not found');

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());

async function profileOf(person: Person, name = 'Name'): Promise<string> {
  return (await person.rest('POST', '/profiles', { identityId: person.id, name }).expect<Profile>(201)).id;
}
async function organizationOf(person: Person): Promise<string> {
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  return (await person.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
}
async function makeProduct(): Promise<string> {
  return (await admin.rest('POST', '/products', { name: 'Bread', description: '' }).expect<{ id: string }>(201)).id;
}
const rowsOf = (outcome: unknown) => (outcome as { value: { data: Follower[] } }).value.data;
const namesOf = (outcome: unknown) => rowsOf(outcome).map(({ name }) => name);

interface Kind {
  follow: string;
  unfollow: string;
  key: string;
  list: string;
  again: string;
  missing: string;
  gone: object;
  makeTarget(): Promise<string>;
  /** Whose followers are listed. */
  followersOf(targetId: string): [string, Record<string, unknown>];
  /** Whether the admin alone may ask for them. */
  isAdmins?: boolean;
}
const KINDS: Kind[] = [
  {
    follow: 'profiles.followProfile',
    unfollow: 'profiles.unfollowProfile',
    key: 'followProfileId',
    list: 'profiles.listProfileFollows',
    again: 'Profile is already followed',
    missing: 'Profile follow not found',
    gone: NO_PROFILE,
    makeTarget: () => profileOf(ann),
    followersOf: (profileId) => ['profiles.listFollowers', { profileId }],
  },
  {
    follow: 'profiles.followOrganization',
    unfollow: 'profiles.unfollowOrganization',
    key: 'followOrganizationId',
    list: 'profiles.listOrganizationFollows',
    again: 'Organization is already followed',
    missing: 'Organization follow not found',
    gone: NO_ORGANIZATION,
    makeTarget: () => organizationOf(ann),
    followersOf: (organizationId) => ['organizations.listFollowers', { organizationId }],
  },
  {
    follow: 'profiles.likeProduct',
    unfollow: 'profiles.unlikeProduct',
    key: 'likeProductId',
    list: 'profiles.listProductLikes',
    again: 'Product is already liked',
    missing: 'Product like not found',
    gone: NO_PRODUCT,
    makeTarget: makeProduct,
    followersOf: (productId) => ['products.listLikers', { productId }],
    isAdmins: true,
  },
];

describe.each(FACES)('over %s', (face) => {
  describe.each(KINDS)('$follow', (kind) => {
    const { follow, unfollow, key, list, again, missing, gone, makeTarget, followersOf } = kind;
    const asker = () => (kind.isAdmins ? admin : ann);
    const followers = (targetId: string, query: object = {}) => {
      const [procedure, input] = followersOf(targetId);
      return asker().call(face, procedure, { ...input, ...query });
    };

    it('happens once, and is undone once', async () => {
      const [profileId, targetId] = [await profileOf(admin), await makeTarget()];
      const pair = { profileId, [key]: targetId };
      expect(await admin.call(face, unfollow, pair)).toEqual(failure(404, missing));
      expect(await admin.call(face, follow, pair)).toMatchObject(OK);
      expect(await admin.call(face, follow, pair)).toEqual(failure(409, again));
      expect(rowsOf(await admin.call(face, list, { profileId }))).toMatchObject([pair]);
      expect(namesOf(await followers(targetId))).toEqual(['Name']);
      expect(await admin.call(face, unfollow, pair)).toEqual(OK);
      expect(await admin.call(face, unfollow, pair)).toEqual(failure(404, missing));
      expect(rowsOf(await admin.call(face, list, { profileId }))).toEqual([]);
      expect(namesOf(await followers(targetId))).toEqual([]);
      // nothing of it is left, not even marked as deleted
      for (const model of [profileFollowModel, organizationFollowModel, productLikeModel])
        expect(await app.storage.model(model as typeof profileFollowModel).collection.countDocuments({ profileId })).toBe(0);
    });

    it('needs both ends, and leaves nothing if one is missing', async () => {
      const [profileId, targetId] = [await profileOf(admin), await makeTarget()];
      for (const procedure of [follow, unfollow]) {
        expect(await admin.call(face, procedure, { profileId: NO_ID, [key]: targetId })).toEqual(NO_PROFILE);
        expect(await admin.call(face, procedure, { profileId, [key]: NO_ID })).toEqual(gone);
      }
      expect(rowsOf(await followers(targetId))).toEqual([]);
      expect(rowsOf(await admin.call(face, list, { profileId }))).toEqual([]);
      const [procedure, input] = followersOf(NO_ID);
      expect(await admin.call(face, procedure, input)).toEqual(gone);
    });

    it('lists followers, latest first, with name and exact total', async () => {
      const targetId = await makeTarget();
      const people = await Promise.all(Array.from({ length: 5 }, () => app.signUp()));
      for (const [n, person] of people.entries()) {
        app.clock.advance(10);
        const profileId = await profileOf(person, `Follower ${n}`);
        expect(await person.call(face, follow, { profileId, [key]: targetId })).toMatchObject(OK);
      }
      const outcome = await followers(targetId, { limit: 2, page: 2 });
      expect(namesOf(outcome)).toEqual(['Follower 2', 'Follower 1']);
      const pagination = { page: 2, limit: 2, total: 5, totalPages: 3, hasNext: true, hasPrev: true };
      expect(outcome).toMatchObject({ value: { metadata: { pagination } } });
      const first = rowsOf(await followers(targetId))[0] as Follower;
      expect(first).toEqual({ id: first.id, name: 'Follower 4', avatar: null, createdAt: first.createdAt });
      const grouped = await followers(targetId, { $apply: 'groupby((createdAt), orderBy(id asc) then top(1))', $top: 1 });
      expect(grouped).toMatchObject({ value: { value: [{ top: [{ name: expect.stringMatching(/^Follower/) as string }] }] } });
    });

    it('is hidden and restored with its profile', async () => {
      const [bob, targetId] = [await app.signUp(), await makeTarget()];
      const profileId = await profileOf(bob, 'Bob');
      expect(await bob.call(face, follow, { profileId, [key]: targetId })).toMatchObject(OK);
      for (const [remove, restore, input] of [
        ['profiles.delete', 'profiles.restore', { profileId }],
        ['identities.delete', 'identities.restore', { identityId: bob.id }],
      ] as const) {
        expect(await admin.call(face, remove, input)).toEqual(OK);
        expect(await followers(targetId)).toMatchObject({ value: { data: [], metadata: { pagination: { total: 0 } } } });
        expect(await admin.call(face, restore, input)).toMatchObject(OK);
        expect(namesOf(await followers(targetId))).toEqual(['Bob']);
      }
    });
  });
});

describe.each(KINDS)(
  '$follow by 20 concurrent calls on two servers',
  ({ follow, unfollow, key, list, again, missing, makeTarget }) => {
    it('leaves one relation, and 20 that undo it remove it once', async () => {
      const [profileId, targetId] = [await profileOf(ann), await makeTarget()];
      const annElsewhere = await other.signIn(ann.email);
      const twenty = (procedure: string) =>
        Promise.all(
          Array.from({ length: 20 }, (_, n) =>
            (n % 2 ? ann : annElsewhere).call(FACES[n % 2] ?? 'rest', procedure, { profileId, [key]: targetId }),
          ),
        );
      const followed = await twenty(follow);
      expect(followed.filter(({ ok }) => ok)).toHaveLength(1);
      expect(followed.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 19 }, () => failure(409, again)));
      expect(await ann.call('rest', list, { profileId })).toMatchObject({ value: { metadata: { pagination: { total: 1 } } } });
      const unfollowed = await twenty(unfollow);
      expect(unfollowed.filter(({ ok }) => ok)).toHaveLength(1);
      expect(unfollowed.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 19 }, () => failure(404, missing)));
    });
  },
);

it('a like answers 201 with itself', async () => {
  const [profileId, likeProductId] = [await profileOf(ann), await makeProduct()];
  const like = await ann.rest('PUT', `/profiles/${profileId}/product-likes/${likeProductId}`).expect(201);
  expect(like).toMatchObject({ profileId, likeProductId });
});

it('no follow of a deleted profile is left', async () => {
  const target = await profileOf(ann);
  const profileId = await profileOf(admin);
  const path = `/profiles/${profileId}/profile-follows/${target}`;
  await Promise.all([
    admin.rest('PUT', path),
    admin.rest('DELETE', `/profiles/${profileId}`).expect(204),
    ...Array.from({ length: 8 }, () => admin.rest('PUT', path)),
  ]);
  expect(await ann.call('rest', 'profiles.listFollowers', { profileId: target })).toMatchObject({
    value: { data: [], metadata: { pagination: { total: 0 } } },
  });
});

it('a total that was slow to count is kept, and right again after each follow here', async () => {
  const target = await profileOf(ann);
  const total = async () => {
    const page = await ann.rest('GET', `/profiles/${target}/followers?limit=1`).expect<{ metadata: { pagination: { total: number } } }>(200); // prettier-ignore
    return page.metadata.pagination.total;
  };
  const now = app.clock.now();
  const follows = Array.from({ length: 10_000 }, (_, n) => ({
    _id: `many-${n}`,
    profileId: crypto.randomUUID(),
    followProfileId: target,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    deletionId: null,
  }));
  const { collection } = app.storage.model(profileFollowModel);
  await collection.insertMany(follows as never[]);
  expect(await total()).toBe(10_000);
  const mine = await profileOf(ann);
  await ann.rest('PUT', `/profiles/${mine}/profile-follows/${target}`).expect(204);
  expect(await total()).toBe(10_001);
  await ann.rest('DELETE', `/profiles/${mine}/profile-follows/${target}`).expect(204);
  expect(await total()).toBe(10_000);
  // what another instance writes is seen within five seconds
  const annElsewhere = await other.signIn(ann.email);
  await annElsewhere.rest('PUT', `/profiles/${mine}/profile-follows/${target}`).expect(204);
  app.clock.advance(5001);
  expect(await total()).toBe(10_001);
});

it('every query of a list reads an index in its order', async () => {
  for (const [model, key] of [
    [profileFollowModel, 'followProfileId'],
    [organizationFollowModel, 'followOrganizationId'],
    [productLikeModel, 'likeProductId'],
  ] as const) {
    const { collection } = app.storage.model(model as typeof profileFollowModel);
    for (const [filter, sort] of [
      [
        { [key]: NO_ID, deletedAt: null },
        { createdAt: -1, profileId: -1, _id: 1 },
      ],
      [
        { profileId: NO_ID, deletedAt: null },
        { createdAt: -1, _id: -1 },
      ],
    ] as const) {
      const { queryPlanner } = (await collection.find(filter as object, { sort }).explain('queryPlanner')) as {
        queryPlanner: { winningPlan: object };
      };
      expect(JSON.stringify(queryPlanner.winningPlan)).not.toMatch(/"stage":"(COLLSCAN|SORT)"/);
    }
  }
});
