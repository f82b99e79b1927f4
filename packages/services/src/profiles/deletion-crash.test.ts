import { startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { recoverUnit, sendToDying } from '../../test/dying-unit.js';
import type { Profile } from './profiles.schemas.js';

let app: TestServer;
let admin: Person;
beforeAll(async () => {
  app = await startTestServer();
  admin = await app.signUpAdmin();
});
afterAll(() => app.close());

/** Somebody with a profile; by an admin whose token is of this hour. */
async function prepare(): Promise<{ bob: Person; profile: Profile }> {
  admin = await app.signIn(admin.email);
  const bob = await app.signUp();
  const profile = await bob.rest('POST', '/profiles', { identityId: bob.id, name: 'Bob' }).expect<Profile>(201);
  return { bob, profile };
}

describe('a process that is killed between two writes', { timeout: 60_000 }, () => {
  // before the first and before the second write, and after the last
  it.each([0, 1, 2])('of the deletion of an identity leaves what the sweep completes: step %i', async (step) => {
    const { bob, profile } = await prepare();
    const { accessToken } = admin;
    await sendToDying(app, 'identities.delete', step, { method: 'DELETE', path: `/identities/${bob.id}`, accessToken });
    await recoverUnit(app);
    await admin.rest('GET', `/identities/${bob.id}`).expect(404);
    await admin.rest('GET', `/profiles/${profile.id}`).expect(404);
  });

  it.each([0, 1, 2])('of its restoring leaves what the sweep completes: step %i', async (step) => {
    const { bob, profile } = await prepare();
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    const { accessToken } = admin;
    const path = `/identities/${bob.id}/restore`;
    await sendToDying(app, 'identities.restore', step, { method: 'POST', path, accessToken });
    await recoverUnit(app);
    await admin.rest('GET', `/identities/${bob.id}`).expect(200);
    await admin.rest('GET', `/profiles/${profile.id}`).expect(200);
  });
});
