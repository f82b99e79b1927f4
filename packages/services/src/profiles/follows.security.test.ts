import { FACES, NOT_SIGNED_IN, NO_ID, REFUSED, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization, signUpAll } from '../../test/people.js';

/** What is wrong, by somebody who may know. */
const TOLD = { ok: false, status: expect.toBeOneOf([400, 404]) as number };

const WHO = ['stranger', 'guest', 'member', 'manager', 'owner', 'admin'] as const;
/** All of them are the profile owner's and the admin's; of an organization the organization owner's and the admin's. */
const PROCEDURES = [
  'profiles.followProfile',
  'profiles.unfollowProfile',
  'profiles.listProfileFollows',
  'profiles.listFollowers',
  'profiles.followOrganization',
  'profiles.unfollowOrganization',
  'profiles.listOrganizationFollows',
  'organizations.listFollowers',
  'profiles.likeProduct',
  'profiles.unlikeProduct',
  'profiles.listProductLikes',
];

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
let profileId: string;
let organizationId: string;
beforeAll(async () => {
  const profile = { identityId: people.owner.id, name: 'Name' };
  profileId = (await people.owner.rest('POST', '/profiles', profile).expect<{ id: string }>(201)).id;
  organizationId = await createOrganization(people.owner, { member: [people.member], admin: [people.manager] });
});

describe.each(FACES)('over %s', (face) => {
  it.each(PROCEDURES)('%s is open to exactly the permitted callers, before its input is read', async (name) => {
    for (const isThere of [true, false]) {
      const ids = isThere ? { profileId, organizationId } : { profileId: NO_ID, organizationId: NO_ID };
      // nothing here is valid, so that who may call is told so and changes nothing
      const input = { ...ids, followProfileId: 'x', followOrganizationId: 'x', likeProductId: 'x', foo: 1 };
      expect(await app.call(face, name, input)).toEqual(NOT_SIGNED_IN);
      for (const who of WHO) {
        const mayCall = who === 'admin' || (isThere && who === 'owner');
        expect(await people[who].call(face, name, input), `${who}, ${isThere}`).toMatchObject(mayCall ? TOLD : REFUSED);
      }
    }
  });

  it('only admins see who likes a product', async () => {
    const input = { productId: NO_ID, foo: 1 };
    expect(await app.call(face, 'products.listLikers', input)).toEqual(NOT_SIGNED_IN);
    for (const who of WHO)
      expect(await people[who].call(face, 'products.listLikers', input), who).toMatchObject(who === 'admin' ? TOLD : REFUSED);
  });

  it('an id that is an object names nothing', async () => {
    for (const name of PROCEDURES) {
      const input = { profileId: { $ne: null }, organizationId: { $ne: null } };
      expect(await people.owner.call('trpc', name, input)).toEqual(REFUSED);
    }
  });
});
