import { FACES, NO_ID, fixture, startS3Server, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { upload } from '../../test/uploads.js';
import type { Profile } from './profiles.schemas.js';

const TYPE = 'image/png';

const s3 = fixture(startS3Server);
const app = fixture(() => startTestServer({ files: { url: s3.url, pollMs: 3_600_000 } }));
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const profile = fixture(() => ann.rest('POST', '/profiles', { identityId: ann.id, name: 'Ann' }).expect<Profile>(201));

const uploadAvatar = (person: Person, profileId = profile.id) =>
  upload(person, `/profiles/${profileId}/avatar-upload-url`, TYPE, 'picture');

describe.each(FACES)('an avatar over %s', (face) => {
  it('is given with a new profile, shown wherever the profile is, replaced and cleared', async () => {
    const bob = await app.signUp();
    const first = await bob.rest('POST', '/profiles', { identityId: bob.id, name: 'Bob' }).expect<Profile>(201);
    const avatar = await uploadAvatar(bob, first.id);
    const outcome = await bob.call(face, 'profiles.create', { identityId: bob.id, name: 'Bobby', avatar });
    const { value: made } = outcome as { value: Profile };
    expect(made.avatar).toMatchObject({ type: TYPE, createdAt: expect.any(String) as string });
    expect(JSON.stringify(made.avatar?.id)).not.toContain(avatar.objectId);
    expect(await (await fetch(made.avatar?.url ?? '')).text()).toBe('picture');
    expect(await bob.call(face, 'profiles.get', { profileId: made.id })).toEqual(outcome);
    expect(await bob.call(face, 'profiles.listOfIdentity', { identityId: bob.id })).toMatchObject({
      value: { data: [made, first] },
    });
    expect(await admin.call(face, 'profiles.list', { $filter: `id eq '${made.id}'`, $top: 1 })).toMatchObject({
      value: { value: [made] },
    });
    const change = (input: object) => bob.call(face, 'profiles.patch', { profileId: made.id, ...input });
    const { value: changed } = (await change({ avatar: await uploadAvatar(bob, made.id) })) as { value: Profile };
    expect(changed).toMatchObject({ name: 'Bobby', avatar: { type: TYPE } });
    expect(changed.avatar?.id).not.toBe(made.avatar?.id);
    expect(await change({ name: 'B' })).toMatchObject({ value: { name: 'B', avatar: { id: changed.avatar?.id } } });
    expect(await change({ avatar: null })).toMatchObject({ value: { name: 'B', avatar: null } });
  });

  it('is restored with a deleted profile', async () => {
    const { id: profileId } = await ann.rest('POST', '/profiles', { identityId: ann.id, name: 'A' }).expect<Profile>(201);
    const avatar = await uploadAvatar(ann);
    const before = await ann.call(face, 'profiles.patch', { profileId, avatar });
    expect(await ann.call(face, 'profiles.delete', { profileId })).toEqual({ ok: true });
    expect(await admin.call(face, 'profiles.restore', { profileId })).toMatchObject({
      value: { avatar: (before as { value: Profile }).value.avatar },
    });
  });

  it('cannot be another’s, and needs an existing profile', async () => {
    const avatar = await uploadAvatar(ann);
    const foreign = await admin.call(face, 'profiles.patch', { profileId: profile.id, avatar });
    expect(foreign).toEqual({ ok: false, status: 404, message: 'File not found' });
    const input = { profileId: NO_ID, contentType: TYPE, contentLength: 1 };
    expect(await admin.call(face, 'profiles.avatarUploadUrl', input)).toEqual({
      ok: false,
      status: 404,
      message: 'Profile not found',
    });
    const patch = { profileId: NO_ID, avatar: await uploadAvatar(admin) };
    expect(await admin.call(face, 'profiles.patch', patch)).toMatchObject({ status: 404, message: 'Profile not found' });
  });
});
