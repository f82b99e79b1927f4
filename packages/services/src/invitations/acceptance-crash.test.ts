import { PASSWORD, fixture, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openCrashFixture } from '../../test/crash-fixture.js';
import { openLaterInstance } from '../../test/later-instance.js';
import { identityModel } from '../identities/identity.model.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = { timeout: 240_000 };

const system = fixture(() => openCrashFixture('acceptance'));
const later = fixture(() => openLaterInstance(system.home.mongodbUri));
const admin = fixture(() => system.home.signUpAdmin());

async function invite() {
  const email = `${crypto.randomUUID()}@example.org`;
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  const { id: organizationId } = await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  await admin.rest('POST', '/invitations', { email, organizationId, role: 'admin' }).expect(201);
  const { token = '' } = await system.home.mail.next(email);
  return { email, token, organizationId };
}

it('a registration that cannot be completed leaves nothing, and the invitation unchanged', PATIENCE, async () => {
  const [left = []] = await system.leaveAfterEachWrite(
    [{ prepare: invite, request: (server, { token }) => server.rest('POST', '/auth/register', { token, password: PASSWORD }) }],
    1,
  );
  const Identities = system.home.storage.model(identityModel);
  const cut: (Awaited<ReturnType<typeof invite>> & { person: Person })[] = [];
  for (const { somebody } of left) {
    if (await Identities.exists({ email: somebody.email })) continue;
    // somebody takes the address meanwhile
    cut.push({ ...somebody, person: await system.home.signUp({ email: somebody.email }) });
  }
  await later.sweep();
  const { roleOf } = system.home.tandem.services.organizations;
  for (const { person, token, organizationId } of cut) {
    const members = await admin.rest('GET', `/organizations/${organizationId}/members`).expect<{ data: object[] }>(200);
    expect(members.data).toHaveLength(1);
    await person.rest('POST', '/invitations/accept', { token }).expect(204);
    expect(await roleOf(organizationId, person.id)).toBe('admin');
  }
  // after the intent, and after each step before the last
  expect(cut.length).toBeGreaterThan(5);
  expect(system.home.logs()).not.toContain(left[0]?.somebody.email);
});
