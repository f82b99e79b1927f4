import { randomUUID } from 'node:crypto';
import { PASSWORD, fixture, isCommand, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const UNVERIFIED = { status: 401, body: { error: { message: 'token could not be verified' } } };
const ADDS_MEMBER = isCommand('organizations.update');
const USES_TOKEN = isCommand('onetimeTokens.update');

const app = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
/** Another instance, whose commands can be held. */
const held = fixture(() => startTestServer({ clock: app.clock, mongodbUri: proxy.uri }));
/** A third one. */
const removing = fixture(() => startStoreProxy(app.mongodbUri));
const other = fixture(() => startTestServer({ clock: app.clock, mongodbUri: removing.uri }));
const admin = fixture(() => app.signUpAdmin());

async function invite(by: Person, input: { email?: string; organizationId?: string; role?: string } = {}) {
  const email = input.email ?? `${randomUUID()}@example.org`;
  const { id } = await by.rest('POST', '/invitations', { ...input, email }).expect<{ id: string }>(201);
  return { id, email, token: (await app.mail.next(email)).token ?? '' };
}
const statusOf = async (id: string) => (await admin.rest('GET', `/invitations/${id}`).expect<{ status: string }>(200)).status;

/** Accepts on the instance whose commands are held; `meanwhile` happens just before this command reaches the store. */
async function acceptWhile(
  { email, token }: { email: string; token: string },
  command: ReturnType<typeof isCommand>,
  meanwhile: (person: Person) => Promise<unknown>,
) {
  const person = await app.signUp({ email });
  const hold = proxy.hold(command);
  const accepted = held.rest('POST', '/invitations/accept', { token }, person.credentials);
  await hold.reached;
  await meanwhile(person);
  hold.release();
  return { person, answer: await accepted };
}

describe('an invitation whose maker loses the right while it is accepted', () => {
  async function world() {
    const [owner, manager] = await Promise.all([app.signUp({ isVerified: true }), app.signUp({ isVerified: true })]);
    const organization = { name: randomUUID(), description: '', contact_email: 'a@example.org' };
    const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const members = `/organizations/${organizationId}/members`;
    await owner.rest('PATCH', members, [{ identityId: manager.id, role: 'admin' }]).expect(204);
    const invitation = await invite(manager, { organizationId, role: 'admin' });
    const removeMaker = () => owner.rest('DELETE', `${members}/${manager.id}`).expect(204);
    return { owner, organizationId, invitation, removeMaker };
  }

  it('lets nobody in, and is withdrawn', async () => {
    const { organizationId, invitation, removeMaker } = await world();
    const { person, answer } = await acceptWhile(invitation, ADDS_MEMBER, removeMaker);
    expect(answer).toMatchObject(UNVERIFIED);
    expect(await app.tandem.services.organizations.roleOf(organizationId, person.id)).toBeUndefined();
    expect(await statusOf(invitation.id)).toBe('withdrawn');
  });

  it('gives way to one that was made for the same address meanwhile', async () => {
    const { owner, organizationId, invitation, removeMaker } = await world();
    let newer = '';
    const { answer } = await acceptWhile(invitation, ADDS_MEMBER, async () => {
      newer = (await invite(owner, { email: invitation.email, organizationId })).id;
      await removeMaker();
    });
    expect(answer).toMatchObject(UNVERIFIED);
    expect([await statusOf(invitation.id), await statusOf(newer)]).toEqual(['expired', 'pending']);
  });

  it('has no token that a check accepts, where it is deleted meanwhile', async () => {
    const { invitation, removeMaker } = await world();
    const { answer } = await acceptWhile(invitation, ADDS_MEMBER, async () => {
      await removeMaker();
      await admin.rest('DELETE', `/invitations/${invitation.id}`).expect(204);
    });
    expect(answer).toMatchObject(UNVERIFIED);
    expect(await app.rest('POST', '/auth/token/check', { token: invitation.token })).toMatchObject(UNVERIFIED);
  });

  it('is withdrawn where it leads to no organization too', async () => {
    const former = await app.signUpAdmin();
    const invitation = await invite(former);
    const demote = () => admin.rest('PATCH', `/identities/${former.id}`, { typeId: 'regular' }).expect(200);
    const { answer } = await acceptWhile(invitation, USES_TOKEN, demote);
    expect(answer).toMatchObject(UNVERIFIED);
    expect(await statusOf(invitation.id)).toBe('withdrawn');
  });
});

it.each(['joins', 'could not join'])(
  'an invitation of somebody who is removed while accepting lets nobody in, and is withdrawn: one who %s',
  async (what) => {
    const owner = await app.signUp({ isVerified: true });
    const make = async (by: Person, name: string) => {
      const organization = { name, description: '', contact_email: 'a@example.org' };
      return (await by.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
    };
    const name = randomUUID();
    const organizationId = await make(owner, name);
    const members = `/organizations/${organizationId}/members`;
    const invitation = await invite(owner, { organizationId, role: 'owner' });
    const { person, answer } = await acceptWhile(invitation, ADDS_MEMBER, async (bob) => {
      await owner.rest('PATCH', members, [{ identityId: bob.id, role: 'member' }]).expect(204);
      await owner.rest('DELETE', `${members}/${bob.id}`).expect(204);
      // an owner has one organization of a name
      if (what === 'could not join') await make(await app.signIn(bob.email), name);
    });
    expect(answer.status).toBe(what === 'joins' ? 401 : 400);
    expect(await app.tandem.services.organizations.roleOf(organizationId, person.id)).toBeUndefined();
    expect(await statusOf(invitation.id)).toBe('withdrawn');
  },
);

describe('an invitation of somebody who is a member, or becomes one, accepted', () => {
  async function world() {
    const owner = await app.signUp({ isVerified: true });
    const organization = { name: randomUUID(), description: '', contact_email: 'a@example.org' };
    const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const members = `/organizations/${organizationId}/members`;
    const bob = await app.signUp();
    const give = (role: string) => owner.rest('PATCH', members, [{ identityId: bob.id, role }]).expect(204);
    /** @returns what accepts, on the instance whose commands are held */
    async function invited(role = 'admin') {
      const { id, token } = await invite(owner, { email: bob.email, organizationId, role });
      return { id, token, accept: () => held.rest('POST', '/invitations/accept', { token }, bob.credentials) };
    }
    const role = () => app.tandem.services.organizations.roleOf(organizationId, bob.id);
    return { owner, bob, member: `${members}/${bob.id}`, give, invited, role };
  }

  it('while the member is removed, lets nobody in', async () => {
    const { owner, member, give, invited, role } = await world();
    await give('member');
    const { id, token, accept } = await invited();
    const withdrawal = removing.hold(isCommand('invitations.update'));
    const removal = other.rest('DELETE', member, undefined, owner.credentials);
    await withdrawal.reached;
    const join = proxy.hold(ADDS_MEMBER);
    const accepted = accept();
    await join.reached;
    withdrawal.release();
    expect((await removal).status).toBe(204);
    join.release();
    expect(await accepted).toMatchObject(UNVERIFIED);
    expect(await role()).toBeUndefined();
    expect(await statusOf(id)).toBe('withdrawn');
    expect(await app.rest('POST', '/auth/token/check', { token })).toMatchObject(UNVERIFIED);
  });

  it('while the member is removed, has no token that a check accepts where it fails', async () => {
    const { owner, member, give, invited } = await world();
    await give('member');
    const { id, token, accept } = await invited();
    const use = proxy.hold(USES_TOKEN);
    const accepted = accept();
    await use.reached;
    const withdrawal = removing.hold(isCommand('invitations.update'));
    const removal = other.rest('DELETE', member, undefined, owner.credentials);
    await withdrawal.reached;
    void proxy.answer(ADDS_MEMBER, { ok: 0, code: 2, codeName: 'BadValue', errmsg: 'x' });
    use.release();
    expect((await accepted).status).toBe(500);
    withdrawal.release();
    expect((await removal).status).toBe(204);
    expect(await statusOf(id)).toBe('withdrawn');
    expect(await app.rest('POST', '/auth/token/check', { token })).toMatchObject(UNVERIFIED);
  });

  it.each([
    ['another', 'member', 'admin', 'member'],
    ['the same', 'member', 'admin', 'admin'],
    ['the same, to whom the joining has made a member', undefined, 'member', 'member'],
  ])('keeps the role that the owner gives right after the joining: %s', async (_, before, invitedTo, given) => {
    const { invited, give, role } = await world();
    if (before) await give(before);
    const { accept } = await invited(invitedTo);
    const join = proxy.hold(ADDS_MEMBER, 'after');
    const accepted = accept();
    await join.reached;
    await give(given);
    join.release();
    expect(await accepted).toMatchObject(UNVERIFIED);
    expect(await role()).toBe(given);
  });
});

it('an invitation to an organization that is deleted while it is accepted stays, and lets in once that is restored', async () => {
  const organization = { name: randomUUID(), description: '', contact_email: 'a@example.org' };
  const { id: organizationId } = await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  const invitation = await invite(admin, { organizationId, role: 'admin' });
  const { person, answer } = await acceptWhile(invitation, isCommand('invitations.update'), () =>
    admin.rest('DELETE', `/organizations/${organizationId}`).expect(204),
  );
  expect(answer).toMatchObject({ status: 404, body: { error: { message: 'Organization not found' } } });
  expect(await statusOf(invitation.id)).toBe('pending');
  await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
  const again = await app.signIn(person.email);
  await again.rest('POST', '/invitations/accept', { token: invitation.token }).expect(204);
  expect(await app.tandem.services.organizations.roleOf(organizationId, person.id)).toBe('admin');
});

it('a person who signs out while accepting has no session left, since the first proof of the address ends all others', async () => {
  const { email, token } = await invite(admin);
  const person = await app.signUp({ email });
  const gone = { id: person.id, typeId: 'regular', sessionId: randomUUID() };
  await app.tandem.services.acceptance.accept(token, gone, { ip: '127.0.0.1', userAgent: '' });
  await person.rest('GET', `/identities/${person.id}`).expect(401);
});

it('registrations by invitation are counted by the invited address and the network', async () => {
  await using limited = await startTestServer({ clock: app.clock, rateLimits: { register: { perAccount: [2, 3600] } } });
  const [invitation, other] = [await invite(admin), await invite(admin)];
  await Promise.all([invitation, other].map(({ email }) => app.signUp({ email })));
  const register = ({ token }: { token: string }) => limited.rest('POST', '/auth/register', { token, password: PASSWORD });
  for (const status of [422, 422, 429]) await register(invitation).expect(status);
  await register(other).expect(422);
});
