import { FACES, NOT_SIGNED_IN, NO_ID, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { signUpAll } from '../../test/people.js';
import { profileModel } from './profile.model.js';
import type { Profile } from './profiles.schemas.js';

const NOT_ADMIN = 'Identity is not authorized to access this resource';
const REFUSED = { ok: false, status: 403, message: NOT_ADMIN };
/** What is wrong, by somebody who may know. */
const TOLD = { ok: false, status: expect.toBeOneOf([400, 404]) as number };

const WHO = ['stranger', 'owner', 'guest', 'admin'] as const;
type Who = (typeof WHO)[number];
/** Who may call what about the owner's profile; the guest has one of its own. */
const ALLOWED: Record<string, readonly Who[]> = {
  get: ['owner', 'admin'],
  patch: ['owner', 'admin'],
  avatarUploadUrl: ['owner', 'admin'],
  delete: ['owner', 'admin'],
  restore: ['admin'],
};

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
let profileOf: Record<'owner' | 'guest', Profile>;
beforeAll(async () => {
  const create = (person: Person) =>
    person.rest('POST', '/profiles', { identityId: person.id, name: 'Name' }).expect<Profile>(201);
  profileOf = { owner: await create(people.owner), guest: await create(people.guest) };
});

describe.each(FACES)('over %s', (face) => {
  it.each(Object.keys(ALLOWED))(
    'profiles.%s is open to exactly the permitted callers, before its input is read',
    async (name) => {
      const before = await app.storage.model(profileModel).find().lean();
      // nothing here is valid, so that who may call is told so and changes nothing
      const bad = (profileId: unknown) => ({ profileId, foo: 1 });
      for (const id of [profileOf.owner.id, NO_ID, 'no-uuid']) {
        expect(await app.call(face, `profiles.${name}`, bad(id))).toEqual(NOT_SIGNED_IN);
        for (const who of WHO) {
          // which profiles exist is told to nobody else
          const mayCall = who === 'admin' || (id === profileOf.owner.id && ALLOWED[name]?.includes(who));
          const outcome = await people[who].call(face, `profiles.${name}`, bad(id));
          expect(outcome, `${who}, ${id}`).toMatchObject(mayCall ? TOLD : REFUSED);
        }
      }
      expect(await app.storage.model(profileModel).find().lean()).toEqual(before);
    },
  );

  it('a profile is created by its identity, guests included, and by admins', async () => {
    const make = (who: Who, identityId: unknown) => people[who].call(face, 'profiles.create', { identityId, name: '' });
    const { id } = people.owner;
    expect(await app.call(face, 'profiles.create', { identityId: id, name: 'x' })).toEqual(NOT_SIGNED_IN);
    for (const who of ['owner', 'admin'] as const) expect(await make(who, id)).toMatchObject({ status: 400 });
    for (const who of ['stranger', 'guest'] as const) expect(await make(who, id)).toMatchObject({ status: 403 });
    expect(await make('guest', people.guest.id)).toMatchObject({ status: 400 });
    expect(await make('stranger', { $ne: null })).toMatchObject({ status: 403 });
  });

  it('all profiles are listed for admins only, those of an identity for itself only', async () => {
    expect(await app.call(face, 'profiles.list')).toEqual(NOT_SIGNED_IN);
    const { id: identityId } = people.owner;
    expect(await app.call(face, 'profiles.listOfIdentity', { identityId })).toEqual(NOT_SIGNED_IN);
    for (const who of WHO) {
      const list = await people[who].call(face, 'profiles.list');
      expect(list).toMatchObject(who === 'admin' ? { ok: true } : { status: 403, message: NOT_ADMIN });
      const own = await people[who].call(face, 'profiles.listOfIdentity', { identityId });
      expect(own).toMatchObject(who === 'owner' ? { ok: true } : { status: 403, message: 'Identity ID does not match' });
    }
  });

  it('a guest changes its own profile', async () => {
    const { id: profileId } = profileOf.guest;
    expect(await people.guest.call(face, 'profiles.patch', { profileId, name: 'Guest' })).toMatchObject({ ok: true });
  });
});
