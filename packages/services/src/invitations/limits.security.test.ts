import { randomUUID } from 'node:crypto';
import {
  FACES,
  OK,
  TOO_MANY,
  fixture,
  isCommand,
  newEmail,
  startStoreProxy,
  startTestServer,
  type Face,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { invitationCountModel } from './invitation-count.model.js';
import { invitationModel } from './invitation.model.js';

const PENDING = { ok: false, status: 409, message: 'Invitation already pending' };
const NOT_VERIFIED = { ok: false, status: 403, message: 'Email is not verified' };
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const lifetimes = { accessTokenExpireTime: '30d', refreshTokenExpireTime: '60d' } as const;
const app = fixture(() => startTestServer({ lifetimes }));
const other = fixture(() => startTestServer({ lifetimes, clock: app.clock }));

const invite = (by: Person, face: Face, input: object) => by.call(face, 'invitations.create', { email: newEmail(), ...input });
async function createOrganization(owner: Person, name: string = randomUUID()): Promise<string> {
  const organization = { name, description: '', contact_email: 'a@example.org' };
  return (await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
}
async function newOwner() {
  const owner = await app.signUp({ isVerified: true });
  return { owner, organizationId: await createOrganization(owner) };
}
const inviteTimes = async (count: number, by: Person, face: Face, input: object) => {
  for (let n = 0; n < count; n++) expect(await invite(by, face, input)).toMatchObject(OK);
};

describe.each(FACES)('over %s', (face) => {
  it('an unverified address sends no invitations, whatever else is wrong', async () => {
    const stranger = await app.signUp();
    const organizationId = await createOrganization(stranger, 'Your parcel waits: https://evil.example');
    for (const more of [{}, { role: 'admin' }, { email: 'no address' }, { role: 'king' }])
      expect(await invite(stranger, face, { organizationId, ...more })).toEqual(NOT_VERIFIED);
    expect(await app.storage.model(invitationModel).countDocuments({ fromIdentityId: stranger.id })).toBe(0);
  });

  it('one person sends 20 an hour, refused and deleted ones included, over all organizations', async () => {
    const { owner, organizationId } = await newOwner();
    const email = newEmail();
    const first = (await invite(owner, face, { organizationId, email })) as { value: { id: string } };
    expect(await invite(owner, face, { organizationId, email })).toEqual(PENDING);
    app.clock.advance(30 * MINUTE);
    await inviteTimes(17, owner, face, { organizationId });
    await inviteTimes(1, owner, face, { organizationId: await createOrganization(owner) });
    await owner.rest('DELETE', `/invitations/${first.value.id}`).expect(204);
    expect(await invite(owner, face, { organizationId })).toEqual(TOO_MANY);
    const { status, headers } = await owner.rest('POST', '/invitations', { email: newEmail(), organizationId });
    expect(status).toBe(429);
    // until the first one counts no more
    const waitMs = Number(headers.get('retry-after')) * 1000;
    expect(waitMs).toBeGreaterThan(20 * MINUTE);
    expect(waitMs).toBeLessThanOrEqual(30 * MINUTE);
    app.clock.advance(30 * MINUTE);
    await inviteTimes(2, owner, face, { organizationId });
    expect(await invite(owner, face, { organizationId })).toEqual(TOO_MANY);
  });

  it('one organization sends 3 a day to one address, whoever sends them and however the address is written', async () => {
    const { owner, organizationId } = await newOwner();
    const manager = await app.signUp({ isVerified: true });
    await owner.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: manager.id, role: 'admin' }]).expect(204); // prettier-ignore
    const email = newEmail();
    for (const [by, written] of [
      [owner, email],
      [manager, email.toUpperCase()],
      [owner, ` ${email}`],
    ] as const) {
      const { value } = (await invite(by, face, { organizationId, email: written })) as { value: { id: string } };
      await owner.rest('DELETE', `/invitations/${value.id}`).expect(204);
    }
    for (const by of [owner, manager]) expect(await invite(by, face, { organizationId, email })).toEqual(TOO_MANY);
    expect(await invite(owner, face, { organizationId })).toMatchObject(OK);
    const another = await newOwner();
    expect(await invite(another.owner, face, { organizationId: another.organizationId, email })).toMatchObject(OK);
    app.clock.advance(DAY);
    expect(await invite(manager, face, { organizationId, email })).toMatchObject(OK);
  });

  it('an admin sends any number', async () => {
    const admin = await app.signUpAdmin();
    const { organizationId } = await newOwner();
    await inviteTimes(22, admin, face, { organizationId });
    expect(await invite(admin, face, { organizationId })).toMatchObject(OK);
  });

  it('of 40 concurrent invitations on two servers only the allowed number is sent', async () => {
    const { owner, organizationId } = await newOwner();
    const elsewhere = await other.signIn(owner.email);
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => invite(n % 2 ? owner : elsewhere, face, { organizationId })),
    );
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(20);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 20 }, () => TOO_MANY));
  });
});

it('one organization sends 100 a day in all, and refused ones do not count', async () => {
  const { owner, organizationId } = await newOwner();
  const managers = await Promise.all(Array.from({ length: 5 }, () => app.signUp({ isVerified: true })));
  const members = managers.map(({ id: identityId }) => ({ identityId, role: 'admin' }));
  await owner.rest('PATCH', `/organizations/${organizationId}/members`, members).expect(204);
  const [last, ...others] = managers as [Person, ...Person[]];
  for (const manager of others) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => invite(manager, FACES[n % 2] as Face, { organizationId })));
    expect(await invite(manager, 'rest', { organizationId })).toEqual(TOO_MANY);
  }
  await inviteTimes(20, owner, 'trpc', { organizationId });
  for (const face of FACES) expect(await invite(last, face, { organizationId })).toEqual(TOO_MANY);
  app.clock.advance(DAY);
  expect(await invite(last, 'rest', { organizationId })).toMatchObject(OK);
});

it('a concurrent first count is counted too', async () => {
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using late = await startTestServer({
    mongodbUri: proxy.uri,
    clock: app.clock,
    lifetimes: { accessTokenExpireTime: '30d' },
  });
  const { owner, organizationId } = await newOwner();
  const refused = proxy.answer(isCommand('invitationCounts.findAndModify'), {
    ok: 0,
    code: 11_000,
    codeName: 'DuplicateKey',
    errmsg: 'E11000 duplicate key error',
    keyPattern: { _id: 1 },
    keyValue: { _id: '' },
  });
  const by = await late.signIn(owner.email);
  expect(await invite(by, 'rest', { organizationId })).toMatchObject(OK);
  await refused;
  await inviteTimes(19, by, 'rest', { organizationId });
  expect(await invite(by, 'rest', { organizationId })).toEqual(TOO_MANY);
});

it('counts name no address, and are removed when they count no more', async () => {
  const { owner, organizationId } = await newOwner();
  const email = newEmail();
  await invite(owner, 'rest', { organizationId, email });
  const counts = app.storage.model(invitationCountModel);
  const stored = JSON.stringify(await counts.find().lean());
  expect(stored).toContain(organizationId);
  expect(stored).not.toContain(email);
  app.clock.advance(DAY - MINUTE);
  await app.storage.sweep();
  expect(await counts.countDocuments({ _id: { $regex: organizationId } })).toBe(2);
  app.clock.advance(MINUTE);
  await app.storage.sweep();
  expect(await counts.countDocuments({})).toBe(0);
});

it('the mail of an invitation names who invites, and has no link of the organization’s name', async () => {
  const owner = await app.signUp({ isVerified: true });
  const organizationId = await createOrganization(
    owner,
    'Your parcel waits: https://evil.example/x login at www.evil.example or evil。com',
  );
  const email = newEmail();
  await invite(owner, 'rest', { organizationId, email });
  const { subject, text, html } = await app.mail.next(email);
  expect(subject).toBe('You are invited to Your parcel waits: login at or');
  expect(text).toContain(`${owner.email} invites you to join Your parcel waits: login at or as ${email}.`);
  for (const part of [subject, text, html]) expect(part).not.toContain('evil');

  const nameless = await createOrganization(owner, 'https://evil.example');
  const another = newEmail();
  await invite(owner, 'rest', { organizationId: nameless, email: another });
  expect((await app.mail.next(another)).subject).toBe('You are invited to an organization');
});
