import { FACES, startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const NOT_SIGNED_IN = { ok: false, status: 422, message: 'Missing authorization header' };
const REFUSED = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
/** What is wrong, by somebody who may know. */
const TOLD = { ok: false, status: expect.toBeOneOf([400, 404]) as number };
const NO_ID = '01890000-0000-7000-8000-000000000000';

type Who = 'stranger' | 'guest' | 'member' | 'manager' | 'owner' | 'admin';
const WHO: readonly Who[] = ['stranger', 'guest', 'member', 'manager', 'owner', 'admin'];
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

let app: TestServer;
let people: Record<Who, Person>;
let profileId: string;
let organizationId: string;
beforeAll(async () => {
  app = await startTestServer();
  const [stranger, guest, member, manager, owner] = await Promise.all(Array.from({ length: 5 }, () => app.signUp()));
  people = { stranger, guest, member, manager, owner, admin: await app.signUpAdmin() } as Record<Who, Person>;
  await people.admin.rest('PATCH', `/identities/${people.guest.id}`, { typeId: 'guest' }).expect(200);
  const profile = { identityId: people.owner.id, name: 'Name' };
  profileId = (await people.owner.rest('POST', '/profiles', profile).expect<{ id: string }>(201)).id;
  const organization = { name: 'Bakery', description: '', contact_email: 'a@example.org' };
  organizationId = (await people.owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
  const members = [
    { identityId: people.member.id, role: 'member' },
    { identityId: people.manager.id, role: 'admin' },
  ];
  await people.owner.rest('PATCH', `/organizations/${organizationId}/members`, members).expect(204);
});
afterAll(() => app.close());

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
