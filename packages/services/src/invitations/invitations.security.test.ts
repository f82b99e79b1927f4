import {
  FACES,
  NOT_SIGNED_IN,
  NO_ID,
  PASSWORD,
  REFUSED,
  UNVERIFIED,
  WRONG_TYPE,
  fixture,
  newEmail,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization, signUpAll } from '../../test/people.js';
import { invitationModel } from './invitation.model.js';
import type { Invitation } from './invitations.schemas.js';

const WHO = ['admin', 'owner', 'manager', 'member', 'guest', 'stranger'] as const;

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO, { isVerified: true }));
let organizationId: string;
let elsewhere: string;
beforeAll(async () => {
  organizationId = await createOrganization(people.owner, { admin: [people.manager, people.guest], member: [people.member] });
  elsewhere = await createOrganization(people.stranger);
});

const tokenTo = async (email: string) => (await app.mail.next(email)).token ?? '';
async function invite(person: Person, input: { email?: string; organizationId?: string; role?: string }): Promise<Invitation> {
  return person.rest('POST', '/invitations', { email: newEmail(), ...input }).expect<Invitation>(201);
}

describe.each(FACES)('over %s', (face) => {
  const call = (person: Person, procedure: string, input: object) => person.call(face, `invitations.${procedure}`, { ...input });

  it('nobody can use invitations without signing in', async () => {
    for (const procedure of ['create', 'list', 'get', 'delete', 'accept'])
      expect(await app.call(face, `invitations.${procedure}`, { invitationId: NO_ID })).toEqual(NOT_SIGNED_IN);
  });

  it('members, strangers and guests cannot invite, see or delete invitations', async () => {
    const { id: invitationId } = await invite(people.owner, { organizationId });
    for (const person of [people.member, people.stranger]) {
      expect(await call(person, 'create', { email: newEmail(), organizationId })).toEqual(REFUSED);
      expect(await call(person, 'create', { email: 'no address', organizationId, foo: 1 })).toEqual(REFUSED);
      expect(await call(person, 'create', { email: newEmail() })).toEqual(REFUSED);
      expect(await call(person, 'list', { organizationId })).toEqual(REFUSED);
      expect(await call(person, 'list', {})).toEqual(REFUSED);
      for (const procedure of ['get', 'delete']) expect(await call(person, procedure, { invitationId })).toEqual(REFUSED);
    }
    expect(await call(people.guest, 'create', { email: newEmail(), organizationId })).toEqual(REFUSED);
    expect(await call(people.guest, 'delete', { invitationId })).toEqual(REFUSED);
    expect(await call(people.guest, 'get', { invitationId })).toMatchObject({ ok: true });
  });

  it('owners and admins of an organization manage its invitations, and no others', async () => {
    const { id: invitationId } = await invite(people.stranger, { organizationId: elsewhere });
    const { id: ofNone } = await invite(people.admin, {});
    for (const person of [people.owner, people.manager]) {
      expect(await call(person, 'create', { email: newEmail(), organizationId: elsewhere })).toEqual(REFUSED);
      expect(await call(person, 'create', { email: newEmail() })).toEqual(REFUSED);
      expect(await call(person, 'list', { organizationId: elsewhere })).toEqual(REFUSED);
      expect(await call(person, 'list', { email: newEmail() })).toEqual(REFUSED);
      for (const id of [invitationId, ofNone, NO_ID, 'no-uuid'])
        for (const procedure of ['get', 'delete']) expect(await call(person, procedure, { invitationId: id })).toEqual(REFUSED);
      const own = await invite(people.owner, { organizationId });
      expect(await call(person, 'get', { invitationId: own.id })).toMatchObject({ value: { id: own.id } });
      expect(await call(person, 'delete', { invitationId: own.id })).toEqual({ ok: true });
      expect(await call(person, 'get', { invitationId: own.id })).toEqual(REFUSED);
    }
  });

  it('an inviter who is no longer owner or admin cannot see the invitation', async () => {
    const late = await app.signUp({ isVerified: true });
    const set = (role: string) =>
      people.owner.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: late.id, role }]).expect(204);
    await set('admin');
    const { id: invitationId } = await invite(late, { organizationId });
    await set('member');
    for (const procedure of ['get', 'delete']) expect(await call(late, procedure, { invitationId })).toEqual(REFUSED);
  });

  it('nobody invites to a role above one’s own', async () => {
    const count = () => app.storage.model(invitationModel).countDocuments();
    const before = await count();
    expect(await call(people.manager, 'create', { email: newEmail(), organizationId, role: 'owner' })).toEqual(REFUSED);
    expect(await count()).toBe(before);
    expect(await call(people.manager, 'create', { email: newEmail(), organizationId, role: 'admin' })).toMatchObject({
      ok: true,
    });
    expect(await call(people.owner, 'create', { email: newEmail(), organizationId, role: 'owner' })).toMatchObject({ ok: true });
    expect(await call(people.admin, 'create', { email: newEmail(), organizationId, role: 'owner' })).toMatchObject({ ok: true });
  });

  it('the answer is the same whether or not the address has an account', async () => {
    const [known, unknown] = [people.stranger.email, newEmail()];
    const [first, second] = [
      await call(people.owner, 'create', {
        email: known,
        organizationId: await createOrganization(people.owner).then(() => organizationId),
      }),
      await call(people.owner, 'create', { email: unknown, organizationId }),
    ];
    const shape = (outcome: object) => Object.keys((outcome as { value: object }).value);
    expect(shape(first)).toEqual(shape(second));
    expect(await tokenTo(unknown)).not.toBe('');
    expect(await tokenTo(known)).not.toBe('');
    const { value } = first as { value: Invitation };
    await call(people.owner, 'delete', { invitationId: value.id });
  });

  it('an invitation is accepted only by the owner of its address', async () => {
    const { id, email } = await invite(people.owner, { organizationId, role: 'owner' });
    const token = await tokenTo(email);
    for (const person of [people.stranger, people.member, people.admin])
      expect(await call(person, 'accept', { token })).toEqual({
        ok: false,
        status: 403,
        message: 'Invitation is for another email address',
      });
    expect(await app.tandem.services.organizations.roleOf(organizationId, people.stranger.id)).toBeUndefined();
    expect(await app.call(face, 'auth.register', { token, password: PASSWORD, email: newEmail() })).toMatchObject({
      status: 400,
    });
    expect(await app.tandem.services.invitations.get(id)).toMatchObject({ status: 'pending' });
    const outcome = await app.call(face, 'auth.register', { token, password: PASSWORD });
    expect(outcome).toMatchObject({ value: { email } });
  });

  it('a token of another kind accepts no invitation, and an invitation’s token signs nobody in', async () => {
    const { email } = await invite(people.owner, { organizationId });
    const token = await tokenTo(email);
    const generated = await people.admin.rest('POST', '/auth/ott/generate', { identityId: people.stranger.id }).expect<{ onetimeToken: string }>(201); // prettier-ignore
    for (const other of [generated.onetimeToken, people.stranger.accessToken, people.stranger.refreshToken]) {
      expect(await app.call(face, 'auth.register', { token: other, password: PASSWORD })).toEqual(WRONG_TYPE);
      expect(await call(people.stranger, 'accept', { token: other })).toEqual(WRONG_TYPE);
    }
    expect(await app.call(face, 'auth.ottLogin', { token })).toEqual(WRONG_TYPE);
    expect(await app.call(face, 'auth.confirmEmail', { token })).toEqual(WRONG_TYPE);
    expect(await app.call(face, 'auth.resetPassword', { token, password: PASSWORD })).toEqual(WRONG_TYPE);
    expect(await app.call(face, 'identities.list', {}, { accessToken: token })).toMatchObject({ status: 401 });
    expect(await app.call(face, 'auth.register', { token: `${token.slice(0, -2)}xx`, password: PASSWORD })).toEqual(UNVERIFIED);
  });

  it('an invalidated token counts again once it is restored, and not for what was accepted or deleted', async () => {
    const { id, email } = await invite(people.admin, {});
    const token = await tokenTo(email);
    await people.admin.rest('POST', '/auth/ott/invalidate', { token }).expect(204);
    expect(await app.call(face, 'auth.register', { token, password: PASSWORD })).toEqual(UNVERIFIED);
    await people.admin.rest('POST', '/auth/ott/restore', { token }).expect(204);
    await people.admin.rest('DELETE', `/invitations/${id}`).expect(204);
    await people.admin.rest('POST', '/auth/ott/restore', { token }).expect(204);
    expect(await app.call(face, 'auth.register', { token, password: PASSWORD })).toEqual(UNVERIFIED);
  });
});

it('neither addresses nor tokens of invitations are in the log, nor a token in the store', async () => {
  const { email } = await invite(people.owner, { organizationId });
  const token = await tokenTo(email);
  await app.rest('POST', '/auth/register', { token, password: PASSWORD }).expect(201);
  await app.rest('POST', '/auth/register', { token, password: PASSWORD }).expect(401);
  expect(app.logs()).not.toContain(email);
  expect(app.logs()).not.toContain(token);
  const { db } = app.storage.model(invitationModel);
  for (const { name } of await db.listCollections()) {
    const records = await db.collection(name).find().toArray();
    expect(JSON.stringify(records), name).not.toContain(token);
  }
});
