import {
  FACES,
  PASSWORD,
  createTotpApp,
  openStream,
  refusalOf,
  startTestServer,
  type Face,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { AppRouter } from '../../router.js';

const NEEDED = { status: 403, message: 'A second factor is required' };
const OK = { ok: true };
const WITHIN = { timeout: 5000 };

/** One database: without a policy, with one for admins, and with one for everybody. */
let free: TestServer;
let forAdmins: TestServer;
let forAll: TestServer;
beforeAll(async () => {
  free = await startTestServer();
  forAdmins = await startTestServer({ mfaRequired: 'admins', clock: free.clock });
  forAll = await startTestServer({ mfaRequired: 'all', mfaEnabled: true, clock: free.clock });
});
afterAll(() => Promise.all([free.close(), forAdmins.close(), forAll.close()]));

/** The same session, on another server. */
const on = (server: TestServer, { credentials }: Person, face: Face, name: string, input: Record<string, unknown> = {}) =>
  server.call(face, name, input, credentials);

async function enrol(person: Person): Promise<string> {
  const { id, secret } = await person
    .rest('POST', `/auth/${person.id}/factors/totp`, {})
    .expect<{ id: string; secret: string }>(201);
  await person
    .rest('POST', `/auth/${person.id}/factors/${id}/confirm`, { code: createTotpApp(secret, free.clock)() })
    .expect(204);
  return id;
}

describe.each(FACES)('a server that requires a factor of all, over %s', (face) => {
  it('lets who has none sign in and out, read themselves and enrol, and nothing else', async () => {
    const ann = await free.signUp();
    const own = { identityId: ann.id };
    const call = (name: string, input = {}) => on(forAll, ann, face, name, input);
    for (const name of ['notifications.list', 'profiles.listOfIdentity', 'chat.listChannels', 'auth.keys', 'auth.listProviders'])
      expect(await call(name, own), name).toMatchObject(NEEDED);
    expect(await call('organizations.create', { organization: {} })).toMatchObject(NEEDED);
    expect(await call('identities.get', own)).toMatchObject(OK);
    expect(await call('auth.factors', own)).toMatchObject(OK);
    expect(await call('auth.prove', { ...own, password: PASSWORD })).toMatchObject(OK);
    // a public operation answers as to anybody
    expect(await call('products.list')).toMatchObject(OK);
    const added = (await call('auth.addTotp', own)) as { value: { id: string; secret: string } };
    const code = createTotpApp(added.value.secret, free.clock)();
    expect(await call('auth.confirmTotp', { ...own, factorId: added.value.id, code })).toMatchObject(OK);
    expect(await call('notifications.list', own)).toMatchObject(OK);
    expect(await call('auth.deleteFactor', { ...own, factorId: added.value.id })).toMatchObject({
      status: 409,
      message: 'A second factor is required',
    });
    expect(await call('auth.logout')).toMatchObject(OK);
  });

  it('notices on an open connection that one was enrolled', async () => {
    const ann = await free.signUp();
    const own = { identityId: ann.id };
    const connection = createWSClient({
      url: `${forAll.url.replace('http', 'ws')}/trpc`,
      connectionParams: { authorization: `Bearer ${ann.accessToken}` },
      WebSocket: WebSocket as never,
    });
    onTestFinished(() => void connection.close());
    const { auth, notifications } = createTRPCClient<AppRouter>({ links: [wsLink({ client: connection })] });
    await expect(notifications.list.query(own)).rejects.toThrow(NEEDED.message);
    if (face === 'rest') await enrol(ann);
    else {
      const { id: factorId, secret } = await auth.addTotp.mutate(own);
      await auth.confirmTotp.mutate({ ...own, factorId, code: createTotpApp(secret, free.clock)() });
    }
    await expect.poll(() => notifications.list.query(own).catch(String), WITHIN).toHaveProperty('data');
  });

  it('is not satisfied by a code by mail', async () => {
    const ann = await free.signUp();
    const { token } = await forAll
      .rest('POST', '/auth/login', { email: ann.email, password: PASSWORD })
      .expect<{ token: string }>(200);
    const { code } = await forAll.mail.next(ann.email);
    const signedIn = await forAll.rest('POST', '/auth/mfa/verify', { token, code }).expect<{ accessToken: string }>(200);
    expect(await forAll.call(face, 'notifications.list', { identityId: ann.id }, signedIn)).toMatchObject(NEEDED);
  });

  it('keeps streams and keys from who has none', async () => {
    const ann = await free.signUp();
    const { key } = await ann.rest('POST', `/auth/${ann.id}/keys`, { name: 'k', scopes: ['*'] }).expect<{ key: string }>(201);
    expect(await forAll.call(face, 'notifications.list', { identityId: ann.id }, { accessToken: key })).toMatchObject(NEEDED);
    expect(await refusalOf(forAll.url, '/notifications/listen', ann.credentials)).toMatchObject({ status: 403 });
    await enrol(ann);
    const list = () => forAll.call(face, 'notifications.list', { identityId: ann.id }, { accessToken: key });
    // another instance knows within a second
    await expect.poll(list, WITHIN).toMatchObject(OK);
    await expect.poll(() => on(forAll, ann, face, 'notifications.list', { identityId: ann.id }), WITHIN).toMatchObject(OK);
    const stream = await openStream(forAll.url, '/notifications/listen', ann.credentials);
    const withKey = await openStream(forAll.url, '/notifications/listen', { accessToken: key });
    // an admin who removes the factors ends them
    const admin = await free.signUpAdmin();
    await admin.rest('DELETE', `/auth/${ann.id}/factors`).expect(204);
    await stream.closed;
    await withKey.closed;
  });
});

describe.each(FACES)('a server that requires a factor of admins, over %s', (face) => {
  it('asks nobody else for one', async () => {
    const [ann, admin] = [await free.signUp(), await free.signUpAdmin()];
    expect(await on(forAdmins, ann, face, 'notifications.list', { identityId: ann.id })).toMatchObject(OK);
    expect(await on(forAdmins, admin, face, 'identities.list')).toMatchObject(NEEDED);
    // only oneself can be read
    for (const name of ['identities.get', 'auth.factors']) {
      expect(await on(forAdmins, admin, face, name, { identityId: ann.id })).toMatchObject(NEEDED);
      expect(await on(forAdmins, admin, face, name, { identityId: admin.id })).toMatchObject(OK);
    }
    await enrol(admin);
    await expect.poll(() => on(forAdmins, admin, face, 'identities.list'), WITHIN).toMatchObject(OK);
  });
});

describe.each(FACES)('an organization that requires a factor, over %s', (face) => {
  async function organization(owner: Person): Promise<string> {
    const organization = { name: 'Harbour', description: '', contact_email: 'a@example.org' };
    return (await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
  }
  const require = (person: Person, organizationId: string, mfaRequired = true) =>
    person.call(face, 'organizations.patch', { organizationId, mfaRequired });

  it('is made so by its owners alone, who have one themselves, and shows it', async () => {
    const [ann, admin] = [await free.signUp(), await free.signUpAdmin()];
    const organizationId = await organization(ann);
    expect(await require(ann, organizationId)).toMatchObject(NEEDED);
    await enrol(admin);
    expect(await require(admin, organizationId)).toMatchObject({
      status: 403,
      message: 'Identity is not a member of the organization',
    });
    await enrol(ann);
    expect(await require(ann, organizationId)).toMatchObject({ ok: true, value: { mfaRequired: true } });
    expect(await ann.call(face, 'organizations.get', { organizationId })).toMatchObject({ value: { mfaRequired: true } });
  });

  it('keeps members without one from all that their role allows, until they enrol', async () => {
    const [ann, bob] = [await free.signUp(), await free.signUp()];
    const organizationId = await organization(ann);
    await ann.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: bob.id, role: 'admin' }]).expect(204);
    const own = await enrol(ann);
    await ann.rest('PATCH', `/organizations/${organizationId}`, { mfaRequired: true }).expect(200);
    for (const name of ['organizations.get', 'organizations.listMembers', 'orders.listOfOrganization', 'invitations.list'])
      expect(await bob.call(face, name, { organizationId }), name).toMatchObject(NEEDED);
    // nor is it shown beside what anybody may read
    const product = { name: 'Rye', description: '', price: { amount: 1, currency: 'EUR' }, organizationId };
    const admin = await free.signUpAdmin();
    const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    const shown = async (person: Person) =>
      (
        (await person.call(face, 'products.get', { productId, $expand: 'organization' })) as {
          value: { organization: object | null };
        }
      ).value.organization;
    expect(await shown(bob)).toBeNull();
    expect(await shown(ann)).toMatchObject({ id: organizationId });
    const stranger = await free.signUp();
    expect(await stranger.call(face, 'organizations.get', { organizationId })).not.toMatchObject(NEEDED);
    // elsewhere nothing changes for them
    expect(await bob.call(face, 'notifications.list', { identityId: bob.id })).toMatchObject(OK);
    const factorId = await enrol(bob);
    expect(await bob.call(face, 'organizations.get', { organizationId })).toMatchObject(OK);
    const last = { status: 409, message: 'A second factor is required' };
    expect(await bob.call(face, 'auth.deleteFactor', { identityId: bob.id, factorId })).toMatchObject(last);
    expect(await require(ann, organizationId, false)).toMatchObject(OK);
    expect(await ann.call(face, 'auth.deleteFactor', { identityId: ann.id, factorId: own })).toMatchObject(OK);
    expect(await bob.call(face, 'auth.deleteFactor', { identityId: bob.id, factorId })).toMatchObject(OK);
  });

  it('does not keep the one factor more than the last from being removed', async () => {
    const ann = await free.signUp();
    const organizationId = await organization(ann);
    const first = await enrol(ann);
    await require(ann, organizationId);
    const second = await enrol(ann);
    const remove = (factorId: string) => ann.call(face, 'auth.deleteFactor', { identityId: ann.id, factorId });
    const all = await Promise.all([remove(first), remove(second)]);
    expect(all.filter(({ ok }) => ok)).toHaveLength(1);
  });
});
