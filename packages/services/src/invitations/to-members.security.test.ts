import {
  FACES,
  OK,
  PASSWORD,
  UNVERIFIED,
  fixture,
  isCommand,
  startStoreProxy,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createOrganization } from '../../test/people.js';

const app = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
const other = fixture(() => startTestServer({ clock: app.clock, mongodbUri: proxy.uri }));
const admin = fixture(() => app.signUpAdmin());

const setRole = (by: Person, organizationId: string, { id: identityId }: Person, role: string) =>
  by.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId, role }]);
const statusOf = async (id: string) => (await admin.rest('GET', `/invitations/${id}`).expect<{ status: string }>(200)).status;
const roleOf = (organizationId: string, { id }: Person) => app.tandem.services.organizations.roleOf(organizationId, id);

describe.each(FACES)('over %s an invitation to a member', (face) => {
  async function invitedMember() {
    const [owner, bob] = await Promise.all([app.signUp({ isVerified: true }), app.signUp({ isVerified: true })]);
    const organizationId = await createOrganization(owner, { admin: [bob] });
    const input = { email: bob.email, organizationId, role: 'admin' };
    const { id } = await owner.rest('POST', '/invitations', input).expect<{ id: string }>(201);
    const isInvitation = ({ token }: { token?: string | undefined }) => token !== undefined;
    return { owner, bob, organizationId, id, token: (await app.mail.next(bob.email, isInvitation)).token ?? '' };
  }
  type Invited = Awaited<ReturnType<typeof invitedMember>>;
  const removeBob = ({ owner, bob, organizationId }: Invited, by = owner) =>
    by.call(face, 'organizations.removeMember', { organizationId, identityId: bob.id });

  it.each<[string, (world: Invited) => Promise<unknown>, string?]>([
    ['removed', (world) => removeBob(world)],
    ['demoted', ({ owner, bob, organizationId }) => setRole(owner, organizationId, bob, 'member').expect(204), 'member'],
    [
      'removed while the account is deleted',
      async (world) => {
        await admin.rest('DELETE', `/identities/${world.bob.id}`).expect(204);
        await removeBob(world);
        await admin.rest('POST', `/identities/${world.bob.id}/restore`).expect(200);
      },
    ],
  ])('who is %s is withdrawn for good', async (_, lose, role) => {
    const world = await invitedMember();
    const { bob, organizationId, id, token } = world;
    await lose(world);
    expect(await statusOf(id)).toBe('withdrawn');
    expect(await app.call(face, 'auth.checkToken', { token })).toEqual(UNVERIFIED);
    expect(await (await app.signIn(bob.email)).call(face, 'invitations.accept', { token })).toEqual(UNVERIFIED);
    expect(await roleOf(organizationId, bob)).toBe(role);
  });

  it.each(['oneself', 'an admin'])('who is removed after a change of the address by %s is withdrawn for good', async (by) => {
    const world = await invitedMember();
    const { bob, id, token } = world;
    const email = `new-${bob.email}`;
    if (by === 'an admin') await admin.rest('PATCH', `/identities/${bob.id}`, { email }).expect(200);
    else {
      await bob.rest('PATCH', `/auth/${bob.id}/change-email`, { email, password: PASSWORD }).expect(204);
      const confirmation = (await app.mail.next(email)).token;
      await app.rest('POST', '/auth/confirm-new-email', { token: confirmation }).expect(204);
    }
    expect(await removeBob(world)).toEqual(OK);
    expect(await statusOf(id)).toBe('withdrawn');
    expect(await app.call(face, 'auth.register', { token, password: PASSWORD })).toEqual(UNVERIFIED);
  });

  it('whose former address is invited after the change stays valid', async () => {
    const world = await invitedMember();
    const { owner, bob, organizationId, id } = world;
    await admin.rest('PATCH', `/identities/${bob.id}`, { email: `new-${bob.email}` }).expect(200);
    await owner.rest('DELETE', `/invitations/${id}`).expect(204);
    app.clock.advance(1000);
    const input = { email: bob.email, organizationId, role: 'member' };
    const { id: next } = await owner.rest('POST', '/invitations', input).expect<{ id: string }>(201);
    expect(await removeBob(world)).toEqual(OK);
    expect(await statusOf(next)).toBe('pending');
  });

  it('who leaves stays valid, as does one to somebody whose removal is refused', async () => {
    const world = await invitedMember();
    const { owner, bob, organizationId, id, token } = world;
    const mate = await app.signUp();
    await setRole(owner, organizationId, mate, 'member').expect(204);
    expect(await removeBob(world, mate)).toMatchObject({ status: 403 });
    expect(await statusOf(id)).toBe('pending');
    expect(await removeBob(world, bob)).toEqual(OK);
    expect(await bob.call(face, 'invitations.accept', { token })).toEqual(OK);
    expect(await roleOf(organizationId, bob)).toBe('admin');
  });

  it('cannot be accepted between removal and withdrawal, nor after a crash there', async () => {
    const { owner, bob, organizationId, id } = await invitedMember();
    const update = proxy.hold(isCommand('organizations.update'));
    const removal = other.call(face, 'organizations.removeMember', { organizationId, identityId: bob.id }, owner.credentials);
    await update.reached;
    expect(await statusOf(id)).toBe('withdrawn');
    update.release();
    expect(await removal).toEqual(OK);
  });
});
