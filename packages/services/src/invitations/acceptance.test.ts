import {
  FACES,
  OK,
  PASSWORD,
  UNVERIFIED,
  failing,
  fixture,
  newEmail,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { Identity } from '../identities/identities.schemas.js';
import type { Invitation } from './invitations.schemas.js';

const DAY = 24 * 60 * 60_000;

const lifetimes = { accessTokenExpireTime: '30d', refreshTokenExpireTime: '60d', onetimeTokenExpireTime: '48h', invitationExpireTime: '7d' }; // prettier-ignore
const app = fixture(() => startTestServer({ lifetimes }));
const other = fixture(() => startTestServer({ lifetimes, clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());
const owner = fixture(() => app.signUp({ isVerified: true }));

async function createOrganization(name: string = crypto.randomUUID()): Promise<string> {
  const organization = { name, description: '', contact_email: 'a@example.org' };
  return (await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
}
/** An invitation and the token that its mail brought. */
async function invite(
  input: { email?: string; organizationId?: string; role?: string } = {},
  by = input.organizationId === undefined ? admin : owner,
) {
  const email = input.email ?? newEmail();
  const invitation = await by.rest('POST', '/invitations', { ...input, email }).expect<Invitation>(201);
  return { ...invitation, token: (await app.mail.next(email)).token ?? '' };
}
const statusOf = async (id: string) => (await admin.rest('GET', `/invitations/${id}`).expect<Invitation>(200)).status;
const identityOf = (id: string) => admin.rest('GET', `/identities/${id}`).expect<Identity>(200);
const roleOf = (organizationId: string, identityId: string) =>
  app.tandem.services.organizations.roleOf(organizationId, identityId);
const register = (face: Face, token: string, more: object = {}): Promise<Outcome> =>
  app.call(face, 'auth.register', { token, password: PASSWORD, ...more });
const taken = (email: string) => ({ ok: false, status: 422, message: `unable to register "${email}"` });

describe.each(FACES)('registration by invitation over %s', (face) => {
  it('creates a regular identity with the invited address, which it verifies', async () => {
    const { id, email, token } = await invite();
    const outcome = await register(face, token);
    const { value } = outcome as { value: { id: string; email: string } };
    expect(outcome).toEqual({ ok: true, value: { id: value.id, email } });
    expect(await identityOf(value.id)).toMatchObject({ email, emailVerified: true, typeId: 'regular', locked: false });
    expect(await statusOf(id)).toBe('accepted');
    expect((await app.signIn(email)).id).toBe(value.id);
  });

  it.each(['owner', 'admin', 'member'] as const)('makes it a member of the organization, as %s', async (role) => {
    const organizationId = await createOrganization();
    const { email, token } = await invite({ organizationId, role });
    const { value } = (await register(face, token)) as { value: { id: string } };
    expect(await roleOf(organizationId, value.id)).toBe(role);
    await (await app.signIn(email)).rest('GET', `/organizations/${organizationId}`).expect(200);
  });

  it('creates only the identity if the organization is gone', async () => {
    const organizationId = await createOrganization();
    const { token } = await invite({ organizationId });
    await owner.rest('DELETE', `/organizations/${organizationId}`).expect(204);
    const { value } = (await register(face, token)) as { value: { id: string } };
    expect(await app.call(face, 'organizations.listOfIdentity', { identityId: value.id }, admin.credentials)).toMatchObject({
      value: { data: [] },
    });
  });

  it('works once, and not if the invitation has expired or was deleted', async () => {
    const used = await invite();
    expect(await register(face, used.token)).toMatchObject(OK);
    expect(await register(face, used.token)).toEqual(UNVERIFIED);
    const deleted = await invite();
    await admin.rest('DELETE', `/invitations/${deleted.id}`).expect(204);
    expect(await register(face, deleted.token)).toEqual(UNVERIFIED);
    expect(await app.call(face, 'auth.checkToken', { token: deleted.token })).toEqual(UNVERIFIED);
    const expired = await invite();
    app.clock.advance(7 * DAY);
    expect(await register(face, expired.token)).toEqual(UNVERIFIED);
    expect(await register(face, 'garbage')).toEqual(UNVERIFIED);
  });

  it('works where the deletion of the invitation was refused for another version', async () => {
    const { id, token } = await invite();
    const headers = { 'if-match': `"${id}.99"` };
    const refused = app.call(face, 'invitations.delete', { invitationId: id }, { ...admin.credentials, headers });
    expect(await refused).toEqual(failing(412, 'Precondition Failed'));
    expect(await app.call(face, 'auth.checkToken', { token })).toMatchObject(OK);
    expect(await register(face, token)).toMatchObject(OK);
  });

  it('leaves the token usable where it is refused for the address or the password', async () => {
    const { id, email, token } = await invite();
    for (const password of ['short77', 'password1', email])
      expect(await register(face, token, { password })).toMatchObject({ status: 400, message: 'Validation Error' });
    const { id: identityId } = await app.signUp({ email });
    expect(await register(face, token)).toEqual(taken(email));
    expect(await statusOf(id)).toBe('pending');
    await admin.rest('DELETE', `/identities/${identityId}`).expect(204);
    expect(await register(face, token)).toMatchObject(OK);
  });

  it('takes either a token or an email', async () => {
    const { email, token } = await invite();
    const invalid = (...data: string[]) => ({ ok: false, status: 400, message: 'Validation Error', data });
    expect(await register(face, token, { email })).toEqual(invalid("request body must NOT have both 'email' and 'token'"));
    expect(await app.call(face, 'auth.register', { password: PASSWORD })).toEqual(
      invalid("request body must have required property 'email'"),
    );
    expect(await app.call(face, 'auth.register', {})).toEqual(
      invalid("request body must have required property 'email'", "request body must have required property 'password'"),
    );
    expect(await register(face, token, { typeId: 'admin' })).toEqual(
      invalid("request body must NOT have additional properties: 'typeId'"),
    );
    expect(await register(face, token)).toMatchObject(OK);
  });

  it('creates one identity, even if many requests use one token on two servers', async () => {
    const organizationId = await createOrganization();
    const { id, email, token } = await invite({ organizationId });
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? app : other).call(face, 'auth.register', { token, password: PASSWORD })),
    );
    const [won, ...more] = outcomes.filter(({ ok }) => ok) as { value: { id: string } }[];
    expect(more).toEqual([]);
    const lost = outcomes.filter(({ ok }) => !ok);
    expect(lost).toEqual(lost.map(() => expect.toBeOneOf([UNVERIFIED, taken(email)]) as object));
    expect(await statusOf(id)).toBe('accepted');
    expect(await roleOf(organizationId, won?.value.id ?? '')).toBe('member');
    const { data } = await owner.rest('GET', `/organizations/${organizationId}/members`).expect<{ data: unknown[] }>(200);
    expect(data).toHaveLength(2);
  });
});

describe.each(FACES)('acceptance over %s', (face) => {
  const accept = (person: Person, token: string) => person.call(face, 'invitations.accept', { token });

  it('makes an existing account a member, and verifies its address', async () => {
    const ann = await app.signUp();
    const organizationId = await createOrganization();
    const { id, token } = await invite({ email: ann.email, organizationId, role: 'admin' });
    expect(await register(face, token)).toEqual(taken(ann.email));
    expect(await identityOf(ann.id)).toMatchObject({ emailVerified: false });
    expect(await accept(ann, token)).toEqual(OK);
    expect(await roleOf(organizationId, ann.id)).toBe('admin');
    expect(await identityOf(ann.id)).toMatchObject({ emailVerified: true });
    expect(await statusOf(id)).toBe('accepted');
    expect(await accept(ann, token)).toEqual(UNVERIFIED);
  });

  it('raises a role and never lowers one', async () => {
    const ann = await app.signUp();
    const organizationId = await createOrganization();
    for (const [role, held] of [
      ['member', 'member'],
      ['admin', 'admin'],
      ['member', 'admin'],
      ['owner', 'owner'],
      ['admin', 'owner'],
    ] as const) {
      // an admin, who may invite one address as often as they like
      const { token } = await invite({ email: ann.email, organizationId, role }, admin);
      expect(await accept(ann, token)).toEqual(OK);
      expect(await roleOf(organizationId, ann.id)).toBe(held);
    }
  });

  it('is refused if the organization is gone, or a new owner has one of its name, and can be retried', async () => {
    const name = crypto.randomUUID();
    const ann = await app.signUp();
    const organization = { name, description: '', contact_email: 'a@example.org' };
    const own = await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
    const organizationId = await createOrganization(name);
    const { id, token } = await invite({ email: ann.email, organizationId, role: 'owner' });
    const message = `Organization with name ${name} already exists with same owner`;
    expect(await accept(ann, token)).toEqual({ ok: false, status: 400, message });
    expect(await statusOf(id)).toBe('pending');
    await ann.rest('DELETE', `/organizations/${own.id}`).expect(204);
    await owner.rest('DELETE', `/organizations/${organizationId}`).expect(204);
    expect(await accept(ann, token)).toEqual({ ok: false, status: 404, message: 'Organization not found' });
    await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
    expect(await accept(ann, token)).toEqual(OK);
    expect(await roleOf(organizationId, ann.id)).toBe('owner');
  });

  it('happens once, even if requested many times at once', async () => {
    const ann = await app.signUp();
    const organizationId = await createOrganization();
    const { token } = await invite({ email: ann.email, organizationId });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => accept(ann, token)));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 19 }, () => UNVERIFIED));
    expect(await roleOf(organizationId, ann.id)).toBe('member');
  });
});

it('acceptances are in the audit trail', async () => {
  const { id, token } = await invite();
  const { value } = (await register('rest', token)) as { value: { id: string } };
  await app.tandem.services.audit.settle();
  const { data } = await admin.rest('GET', `/auth/events?identityId=${value.id}`).expect<{ data: { type: string; details: object }[] }>(200); // prettier-ignore
  expect(data.map(({ type }) => type).sort()).toEqual(['invitation.accepted', 'registered']);
  expect(data[0]?.details).toEqual({ invitationId: id });
});
