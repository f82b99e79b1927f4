import { FACES, NO_ID, PASSWORD, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { letErasuresPass } from '../../test/named-person.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import { identityModel } from '../identities/identity.model.js';
import { queuedMailModel } from '../mail/mail.model.js';
import type { Member } from '../organizations/organizations.schemas.js';

const DAY_MS = 24 * 60 * 60_000;
const app = fixture(() => startTestServer());
const account = fixture(() => app.signUpAdmin());
let admin: Person;
// tests move the time
beforeEach(async () => {
  admin = await app.signIn(account.email);
});
const ownerLeft = {
  ok: false,
  status: 409,
  message: 'There must be at least one owner remaining in the organization',
} as const;

const recordOf = (id: string) => app.storage.model(identityModel).findById(id).setOptions({ deleted: 'include' }).lean();

describe.each(FACES)('the request of an erasure over %s', (face) => {
  const erase = (who: Person, identityId: string) => who.call(face, 'auth.erase', { identityId });

  it('ends sessions and keys at once, and says when everything is erased', async () => {
    const bob = await app.signUp();
    const { key } = await bob.rest('POST', `/auth/${bob.id}/keys`, { name: 'k', scopes: ['*'] }).expect<{ key: string }>(201);
    const before = app.clock.now().getTime();
    const { value } = (await erase(bob, bob.id)) as unknown as { value: { eraseAt: string } };
    const wait = new Date(value.eraseAt).getTime() - before;
    expect(wait).toBeGreaterThanOrEqual(14 * DAY_MS);
    expect(wait).toBeLessThan(14 * DAY_MS + 60_000);
    await bob.rest('GET', `/identities/${bob.id}`).expect(401);
    await app.rest('GET', '/orders', undefined, { accessToken: key }).expect(401);
    await app.rest('POST', '/auth/login', { email: bob.email, password: 'a password of the tests' }).expect(401);
    const mail = await app.mail.next(bob.email, ({ subject }) => subject === 'Your account will be erased');
    expect(mail.text).toContain('in 14 days');
    expect(mail.text).toContain('until then it can be taken back');
  });

  it('that is taken back before its mail could be sent is announced to nobody', async () => {
    const bob = await app.signUp({ isVerified: true });
    const { mails } = app.tandem.services;
    app.mail.refuse(451);
    await erase(bob, bob.id);
    await mails.work();
    app.mail.refuse(false);
    await admin.call(face, 'auth.cancelErasure', { identityId: bob.id });
    const before = app.mail.count(bob.email);
    app.clock.advance(60_000);
    await mails.work();
    expect(app.mail.count(bob.email)).toBe(before);
    expect(await app.storage.model(queuedMailModel).countDocuments({ identityId: bob.id })).toBe(0);
  });

  it('is one’s own or an admin’s', async () => {
    const [bob, carol] = await Promise.all([app.signUp(), app.signUp()]);
    const refused = { ok: false, status: 403, message: 'Identity is not admin' };
    for (const identityId of [carol.id, NO_ID])
      expect(await erase(bob, identityId)).toMatchObject({ ...refused, message: expect.any(String) as string });
    expect(await erase(admin, NO_ID)).toEqual({ ok: false, status: 404, message: 'Identity not found' });
    expect(await admin.call(face, 'auth.erase', { identityId: 'x' })).toMatchObject({ status: 400 });
    expect(await bob.call(face, 'auth.cancelErasure', { identityId: bob.id })).toMatchObject({ status: 403 });
    expect((await recordOf(carol.id))?.deactivatedAt).toBeNull();
  });

  it('is of people: a service account is deleted instead', async () => {
    const bob = await app.signUp();
    const organization = await createOrganization(bob);
    const { id } = await bob
      .rest('POST', `/organizations/${organization}/service-accounts`, { name: 'robot', role: 'member' })
      .expect<{ id: string }>(201);
    expect(await erase(admin, id)).toEqual({ ok: false, status: 409, message: 'Identity is a service account' });
    expect((await recordOf(id))?.deactivatedAt).toBeNull();
  });

  it('needs a fresh proof, as the request of an archive does', async () => {
    const bob = await app.signUp();
    app.clock.advance(11 * 60_000);
    const again = { ok: false, status: 403, message: 'A fresh proof is needed' };
    expect(await erase(bob, bob.id)).toEqual(again);
    expect(await bob.call(face, 'auth.requestExport', { identityId: bob.id })).toEqual(again);
    expect(await erase(await app.signIn(bob.email), bob.id)).toMatchObject({ ok: true });
  });

  it('counts once, however often it comes', async () => {
    const bob = await app.signUp();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => erase(admin, bob.id)));
    expect(new Set(outcomes.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ ok: true });
    app.clock.advance(1000);
    expect(await erase(admin, bob.id)).toEqual(outcomes[0]);
  });

  it('begins only if it was not taken back, and cannot be taken back once it has begun', async () => {
    const bob = await app.signUp();
    const { claimErasure } = app.tandem.services.identities;
    const cancel = () => admin.call(face, 'auth.cancelErasure', { identityId: bob.id });
    await erase(bob, bob.id);
    expect(await cancel()).toMatchObject({ ok: true });
    expect(await claimErasure(bob.id)).toBe(false);
    await erase(admin, bob.id);
    // asked for again since it was found
    expect(await claimErasure(bob.id)).toBe(false);
    app.clock.advance(15 * DAY_MS);
    expect(await claimErasure(bob.id)).toBe(true);
    admin = await app.signIn(account.email);
    expect(await cancel()).toMatchObject({ status: 404, message: 'Erasure not found' });
  });

  it('is taken back by an admin, who activates the account by it', async () => {
    const bob = await app.signUp();
    await erase(bob, bob.id);
    expect(await admin.call(face, 'auth.activate', { identityId: bob.id })).toEqual({
      ok: false,
      status: 409,
      message: 'Identity is about to be erased',
    });
    const cancel = () => admin.call(face, 'auth.cancelErasure', { identityId: bob.id });
    expect(await cancel()).toEqual({ ok: true });
    expect(await cancel()).toEqual({ ok: false, status: 404, message: 'Erasure not found' });
    app.clock.advance(15 * DAY_MS);
    await letErasuresPass(app);
    expect((await app.signIn(bob.email)).id).toBe(bob.id);
    await admin.call(face, 'auth.activate', { identityId: bob.id });
  });

  it('for a deleted account is taken back too, and a restored one waits for it deactivated', async () => {
    const bob = await app.signUp();
    const cancel = () => admin.call(face, 'auth.cancelErasure', { identityId: bob.id });
    const restore = () => admin.rest('POST', `/identities/${bob.id}/restore`);
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    expect(await erase(admin, bob.id)).toMatchObject({ ok: true });
    expect(await cancel()).toEqual({ ok: true });
    expect(await erase(admin, bob.id)).toMatchObject({ ok: true });
    await restore().expect(200);
    await app.rest('POST', '/auth/login', { email: bob.email, password: PASSWORD }).expect(401);
    expect(await cancel()).toEqual({ ok: true });
    app.clock.advance(15 * DAY_MS);
    await letErasuresPass(app);
    expect((await app.signIn(bob.email)).id).toBe(bob.id);
  });

  it('is refused to the only owner of an organization, also when two of them go at once', async () => {
    const [bob, carol] = await Promise.all([app.signUp(), app.signUp()]);
    const alone = await createOrganization(bob, { admin: [carol] });
    expect(await erase(bob, bob.id)).toEqual(ownerLeft);
    await bob.rest('GET', `/identities/${bob.id}`).expect(200);
    await bob.rest('PATCH', `/organizations/${alone}/members`, [{ identityId: carol.id, role: 'owner' }]).expect(204);
    const outcomes = await Promise.all([erase(bob, bob.id), erase(carol, carol.id)]);
    expect(outcomes.filter(({ ok }) => ok).length).toBeLessThan(2);
    const records = await Promise.all([bob, carol].map(({ id }) => recordOf(id)));
    expect(records.filter((one) => one?.deactivatedAt === null).length).toBeGreaterThan(0);
  });

  it('does not let the last other owner leave', async () => {
    const [bob, carol] = await Promise.all([app.signUp(), app.signUp()]);
    const organization = await createOrganization(bob, { owner: [carol] });
    expect(await erase(bob, bob.id)).toMatchObject({ ok: true });
    expect(await carol.call(face, 'organizations.removeMember', { organizationId: organization, identityId: carol.id })).toEqual(
      ownerLeft,
    );
  });

  it('does not let the last other owner hand over to who goes', async () => {
    const [bob, carol, dave] = await Promise.all([app.signUp(), app.signUp(), app.signUp()]);
    const organizationId = await createOrganization(bob, { member: [carol] });
    const handOver = (...owners: Person[]) => {
      const roles = owners.map(({ id }) => ({ identityId: id, role: 'owner' }));
      return bob.call(face, 'organizations.upsertMembers', { organizationId, members: [...roles, { identityId: bob.id, role: 'member' }] }); // prettier-ignore
    };
    expect(await erase(carol, carol.id)).toMatchObject({ ok: true });
    expect(await handOver(carol)).toEqual(ownerLeft);
    expect(await handOver(carol, dave)).toEqual({ ok: true });
  });
});

describe('an erasure', () => {
  it.each([
    ['0s', 'erased now'],
    ['5h', 'erased in 5 hours'],
    ['1d', 'erased in 1 day'],
  ])('after %s says so in its mail', async (erasureDelay, said) => {
    await using other = await startTestServer({ mongodbUri: app.mongodbUri, erasure: { erasureDelay } });
    const bob = await other.signUp();
    await bob.rest('POST', `/auth/${bob.id}/erase`).expect(202);
    const { text } = await other.mail.next(bob.email, ({ subject }) => subject === 'Your account will be erased');
    expect(text).toContain(`everything about you will be ${said}.`);
    expect(text.includes('until then it can be taken back')).toBe(erasureDelay !== '0s');
  });

  it('of one who was deleted long ago cannot be prevented by a restore', async () => {
    const bob = await app.signUp();
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    await app.tandem.services.identities.eraseDeleted([bob.id]);
    await admin.rest('POST', `/identities/${bob.id}/restore`).expect(404, 'Identity not found');
    await letErasuresPass(app);
    expect(await recordOf(bob.id)).toBeNull();
  });

  it('waits for its time, cannot be restored then, and leaves the address to others', async () => {
    const bob = await app.signUp();
    await bob.rest('POST', `/auth/${bob.id}/erase`).expect(202);
    app.clock.advance(13 * DAY_MS);
    await letErasuresPass(app);
    expect((await recordOf(bob.id))?.email).toBe(bob.email);
    app.clock.advance(DAY_MS);
    await app.tandem.runJobs();
    const admins = await app.signIn(admin.email);
    await admins.rest('POST', `/identities/${bob.id}/restore`).expect(404, 'Identity not found');
    await admins.rest('DELETE', `/auth/${bob.id}/erase`).expect(404, 'Erasure not found');
    const again = await app.signUp({ email: bob.email });
    expect(again.id).not.toBe(bob.id);
    await letErasuresPass(app);
    expect(await recordOf(bob.id)).toBeNull();
    expect((await app.signIn(bob.email)).id).toBe(again.id);
    await admins.rest('POST', `/identities/${bob.id}/restore`).expect(404, 'Identity not found');
  });

  it('by an admin passes ownership on: to the admin who has been there longest, else to the member; else the organization goes', async () => {
    const { bob, carol, dave, erin, locked } = await signUpAll(app, ['bob', 'carol', 'dave', 'erin', 'locked'] as const);
    const withAdmins = await createOrganization(bob, { member: [carol], admin: [locked] });
    const own = (path: string, body: unknown) => bob.rest('PATCH', path, body).expect(204);
    app.clock.advance(1000);
    await own(`/organizations/${withAdmins}/members`, [{ identityId: dave.id, role: 'admin' }]);
    app.clock.advance(1000);
    await own(`/organizations/${withAdmins}/members`, [{ identityId: erin.id, role: 'admin' }]);
    const withMembers = await createOrganization(bob, { member: [carol] });
    const empty = await createOrganization(bob);
    const robot = await bob
      .rest('POST', `/organizations/${empty}/service-accounts`, { name: 'robot', role: 'admin' })
      .expect<{ id: string }>(201);
    const admins = await app.signIn(admin.email);
    await admins.rest('POST', `/identities/${locked.id}/lock`).expect(204);
    await admins.rest('POST', `/auth/${bob.id}/erase`).expect(202);
    app.clock.advance(14 * DAY_MS);
    await letErasuresPass(app);
    const now = await app.signIn(admin.email);
    const roles = async (id: string) => {
      const { data } = await now.rest('GET', `/organizations/${id}/members`).expect<{ data: Member[] }>(200);
      return new Map(data.map(({ identityId, role }) => [identityId, role]));
    };
    expect(Object.fromEntries(await roles(withAdmins))).toEqual({
      [bob.id]: 'member',
      [carol.id]: 'member',
      [dave.id]: 'owner',
      [erin.id]: 'admin',
      [locked.id]: 'admin',
    });
    expect((await roles(withMembers)).get(carol.id)).toBe('owner');
    await now.rest('GET', `/organizations/${empty}`).expect(404);
    expect((await recordOf(robot.id))?.deletedAt).not.toBeNull();
  });

  it('by an admin passes ownership on where the heir owns all names that could be foreseen', async () => {
    const { bob, carol } = await signUpAll(app, ['bob', 'carol'] as const);
    const name = 'x'.repeat(195);
    const create = (who: Person, called: string) => {
      const organization = { name: called, description: '', contact_email: 'a@example.org' };
      return who.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    };
    const { id } = await create(bob, name);
    await bob.rest('PATCH', `/organizations/${id}/members`, [{ identityId: carol.id, role: 'member' }]).expect(204);
    for (const taken of [name, `${name} ${id.slice(-4)}`]) await create(carol, taken);
    const admins = await app.signIn(admin.email);
    await admins.rest('POST', `/auth/${bob.id}/erase`).expect(202);
    app.clock.advance(14 * DAY_MS);
    await letErasuresPass(app);
    const now = await app.signIn(admin.email);
    const { name: passed } = await now.rest('GET', `/organizations/${id}`).expect<{ name: string }>(200);
    expect(passed).toMatch(/^x{191} [0-9a-f]{8}$/);
    expect(await app.tandem.services.organizations.roleOf(id, carol.id)).toBe('owner');
  });
});
