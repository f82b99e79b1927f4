import { FACES, NO_ID, OK, fixture, newEmail, startTestServer, type Face, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { invitationModel } from './invitation.model.js';
import type { Invitation } from './invitations.schemas.js';

const MISSING = { ok: false, status: 404, message: 'Invitation not found' };
const PENDING = { ok: false, status: 409, message: 'Invitation already pending' };
const DAY = 24 * 60 * 60_000;

let organizationId: string;
const organizationName = `Bakery ${crypto.randomUUID()}`;
const app = fixture(() =>
  startTestServer({
    lifetimes: {
      accessTokenExpireTime: '30d',
      refreshTokenExpireTime: '60d',
      onetimeTokenExpireTime: '48h',
      invitationExpireTime: '7d',
    },
  }),
);
const admin = fixture(() => app.signUpAdmin());
const owner = fixture(() => app.signUp({ isVerified: true }));
beforeAll(async () => {
  const organization = { name: organizationName, description: '', contact_email: 'a@example.org' };
  organizationId = (await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
});

const invite = (person: Person, face: Face, input: object) => person.call(face, 'invitations.create', { ...input });
async function invited(person: Person, input: object): Promise<Invitation> {
  return person.rest('POST', '/invitations', input).expect<Invitation>(201);
}
type Page = { value: { data: Invitation[]; metadata: { pagination: { total: number } } } };

describe.each(FACES)('an invitation over %s', (face) => {
  it('is created by an admin for an account alone, and shows its inviter and expiry', async () => {
    const email = newEmail();
    const outcome = await invite(admin, face, { email: ` ${email.toUpperCase()} ` });
    const { value } = outcome as { value: Invitation };
    expect(value).toEqual({
      id: expect.any(String) as string,
      email,
      organizationId: null,
      role: null,
      status: 'pending',
      fromIdentityId: admin.id,
      expiresAt: value.expiresAt,
      createdAt: value.createdAt,
      updatedAt: value.createdAt,
    });
    expect(Math.abs(Date.parse(value.expiresAt) - Date.parse(value.createdAt) - 7 * DAY)).toBeLessThan(5000);
    expect(await admin.call(face, 'invitations.get', { invitationId: value.id })).toEqual(outcome);
  });

  it('is created by an owner for the own organization, as member by default', async () => {
    expect(await invite(owner, face, { email: newEmail(), organizationId })).toMatchObject({
      value: { organizationId, role: 'member', fromIdentityId: owner.id },
    });
    for (const role of ['owner', 'admin', 'member'])
      expect(await invite(owner, face, { email: newEmail(), organizationId, role })).toMatchObject({ value: { role } });
  });

  it('is unique per address and organization until it expires', async () => {
    const email = newEmail();
    const first = await invited(owner, { email, organizationId });
    expect(await invite(owner, face, { email, organizationId, role: 'admin' })).toEqual(PENDING);
    expect(await invite(admin, face, { email: email.toUpperCase(), organizationId })).toEqual(PENDING);
    expect(await invite(admin, face, { email })).toMatchObject(OK);
    expect(await invite(admin, face, { email })).toEqual(PENDING);
    app.clock.advance(7 * DAY);
    expect(await invite(owner, face, { email, organizationId })).toMatchObject(OK);
    expect(await owner.call(face, 'invitations.get', { invitationId: first.id })).toMatchObject({ value: { status: 'expired' } });
    // a deleted one is in nobody's way either
    const second = (await admin.call(face, 'invitations.list', { email, status: 'pending' })) as Page;
    for (const { id } of second.value.data) await admin.call(face, 'invitations.delete', { invitationId: id });
    expect(await invite(owner, face, { email, organizationId })).toMatchObject(OK);
  });

  it('needs an address, and an organization that exists where it gives a role', async () => {
    expect(await invite(admin, face, { email: newEmail(), organizationId: NO_ID })).toEqual({
      ok: false,
      status: 404,
      message: 'Organization not found',
    });
    expect(await invite(admin, face, { email: 'nobody', role: 'king', fromIdentityId: owner.id, orgId: organizationId })).toEqual(
      {
        ok: false,
        status: 400,
        message: 'Validation Error',
        data: [
          'request body/email must match format "email"',
          'request body/role must be equal to one of the allowed values: owner, admin, member',
          "request body must NOT have additional properties: 'fromIdentityId'",
          "request body must NOT have additional properties: 'orgId'",
        ],
      },
    );
    expect(await invite(admin, face, { email: newEmail(), role: 'member' })).toMatchObject({
      data: ["request body must have required property 'organizationId'"],
    });
  });

  it('is listed newest first, by address, organization and status', async () => {
    const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
    const { id } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const emails = [newEmail(), newEmail(), newEmail()];
    const list = async (person: Person, input: object) => {
      const { value } = (await person.call(face, 'invitations.list', { ...input })) as Page;
      return { emails: value.data.map(({ email }) => email), total: value.metadata.pagination.total };
    };
    const old = await invited(owner, { email: emails[0], organizationId: id });
    const { headers } = await owner.rest('GET', `/invitations/${old.id}`);
    app.clock.advance(7 * DAY);
    // also to who has read it before
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    const again = await app.rest('GET', `/invitations/${old.id}`, undefined, { ...owner.credentials, headers: known });
    expect(again).toMatchObject({ status: 200, body: { status: 'expired' } });
    for (const email of emails.slice(1)) await invited(owner, { email, organizationId: id });
    expect(await list(owner, { organizationId: id })).toEqual({ emails: emails.toReversed(), total: 3 });
    expect(await list(owner, { organizationId: id, page: 2, limit: 2 })).toEqual({ emails: [old.email], total: 3 });
    expect(await list(owner, { organizationId: id, status: 'expired' })).toEqual({ emails: [old.email], total: 1 });
    // the state alone is read with what decides it
    const states = { value: { data: [{ status: 'pending' }, { status: 'pending' }, { id: old.id, status: 'expired' }] } };
    expect(await owner.call(face, 'invitations.list', { organizationId: id, $select: 'status' })).toMatchObject(states);
    const alone = { ok: true, value: { id: old.id, status: 'expired' } };
    expect(await owner.call(face, 'invitations.get', { invitationId: old.id, $select: 'status' })).toEqual(alone);
    expect(await list(owner, { organizationId: id, status: 'pending' })).toMatchObject({ total: 2 });
    expect(await list(owner, { organizationId: id, status: 'accepted' })).toMatchObject({ total: 0 });
    expect(await list(admin, { email: emails[1]?.toUpperCase() })).toEqual({ emails: [emails[1]], total: 1 });
    expect(await list(owner, { organizationId: id, email: emails[1] })).toMatchObject({ total: 1 });
    expect(await list(admin, { limit: 1 })).toMatchObject({ emails: [emails[2]] });
  });

  it('is soft-deleted, and answers 404 from then on', async () => {
    const { id: invitationId } = await invited(owner, { email: newEmail(), organizationId });
    expect(await owner.call(face, 'invitations.delete', { invitationId })).toEqual(OK);
    for (const procedure of ['get', 'delete'])
      expect(await admin.call(face, `invitations.${procedure}`, { invitationId })).toEqual(MISSING);
    expect(await app.storage.model(invitationModel).countDocuments({ _id: invitationId }).setOptions({ deleted: 'only' })).toBe(
      1,
    );
  });

  it('goes out by mail, with a link to its page, and says where to', async () => {
    const email = newEmail();
    await invite(owner, face, { email, organizationId });
    const mail = await app.mail.next(email);
    expect(mail.subject).toBe(`You are invited to ${organizationName}`);
    expect(mail.link).toBe(`${app.url}/invitation?token=${mail.token}`);
    expect(mail.text).toContain('168 hours');
    expect(mail.text).toContain(`${owner.email} invites you to join ${organizationName}`);
    const alone = newEmail();
    await invite(admin, face, { email: alone });
    expect((await app.mail.next(alone)).subject).toBe('You are invited');
  });
});

it('of 20 concurrent invitations of one address on two servers, one succeeds', async () => {
  await using other = await startTestServer({ clock: app.clock });
  const elsewhere = await other.signIn(admin.email);
  const email = newEmail();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? admin : elsewhere).rest('POST', '/invitations', { email })),
  );
  const statuses = answers.map(({ status }) => String(status)).sort();
  expect(statuses).toEqual(['201', ...Array.from({ length: 19 }, () => '409')]);
});

describe('the mail of an invitation', () => {
  /** As a process leaves it that dies between the two writes. */
  async function leaveBehind(change: object = {}): Promise<Invitation> {
    const invitation = await invited(admin, { email: newEmail() });
    // also out of the queue
    await app.tandem.services.mails.work();
    const left = { mailSince: app.clock.now(), ...change };
    await app.storage.model(invitationModel).updateOne({ _id: invitation.id }, { $set: left });
    return invitation;
  }

  /** The pass that takes what was left behind, when it is old enough. */
  async function workLater(): Promise<void> {
    app.clock.advance(31_000);
    await app.tandem.services.mails.work();
  }

  it('is sent by another process if its own died before queueing it', async () => {
    const { id, email } = await leaveBehind();
    await workLater();
    expect(app.mail.count(email)).toBe(2);
    const found = await app.storage.model(invitationModel).findById(id).lean();
    expect(found?.mailSince).toBeNull();
    await app.tandem.services.mails.work();
    expect(app.mail.count(email)).toBe(2);
  });

  it('is left for half a minute to the process that may be queueing it', async () => {
    const { email } = await leaveBehind();
    await app.tandem.services.mails.work();
    expect(app.mail.count(email)).toBe(1);
    await workLater();
    expect(app.mail.count(email)).toBe(2);
  });

  it('has the same token and Message-ID when it is sent twice', async () => {
    const { email } = await leaveBehind();
    await workLater();
    const sent = app.mail.mails.filter(({ to }) => to === email);
    expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(1);
    const tokens = sent.map(({ token = '' }) => token);
    expect(tokens).toHaveLength(2);
    const [first, second] = await Promise.all(
      tokens.map((token) => app.rest('POST', '/auth/token/check', { token }).expect<{ invitationId: string }>(200)),
    );
    expect(first?.invitationId).toBe(second?.invitationId);
    await app.rest('POST', '/auth/register', { token: tokens[0], password: 'four words of hers' }).expect(201);
    await app.rest('POST', '/auth/register', { token: tokens[1], password: 'four words of hers' }).expect(401);
  });

  it('is not sent if the invitation is no longer valid', async () => {
    const invitations = [await leaveBehind({ status: 'accepted' }), await leaveBehind({ expiresAt: app.clock.now() })];
    await workLater();
    for (const { email } of invitations) expect(app.mail.count(email)).toBe(1);
  });
});

describe('every query', () => {
  // those of the lists are explained with all other lists', over many records
  it('for mails that were left behind has an index', async () => {
    const { collection } = app.storage.model(invitationModel);
    const found = collection.find({ mailSince: { $gt: new Date(0) }, deletedAt: null } as object);
    expect(JSON.stringify(await found.explain('queryPlanner'))).not.toContain('COLLSCAN');
  });
});
