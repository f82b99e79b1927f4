import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PASSWORD, startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityModel } from '../identities/identity.model.js';
import { onetimeTokenModel } from '../onetime-tokens/onetime-token.model.js';
import { invitationModel } from './invitation.model.js';

const SCRIPT = fileURLToPath(new URL('../../test/dying-acceptance.js', import.meta.url));
const UNVERIFIED = 'token could not be verified';
/** Longer than a unit is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER = 61_000;

let app: TestServer;
let admin: Person;
let organizationId: string;
beforeAll(async () => {
  app = await startTestServer();
  admin = await app.signUpAdmin();
  const organization = { name: 'Bakery', description: '', contact_email: 'a@example.org' };
  organizationId = (await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
});
afterAll(() => app.close());

async function invite(email: string): Promise<{ id: string; token: string }> {
  // the clock moves on, and tokens with it
  admin = await app.signIn(admin.email);
  const body = { email, organizationId, role: 'admin' };
  const { id } = await admin.rest('POST', '/invitations', body).expect<{ id: string }>(201);
  return { id, token: (await app.mail.next(email)).token ?? '' };
}

/** Sends a request to another process that dies before this step of a unit. */
async function postToDying(unit: string, step: number, request: { path: string; body: object; accessToken?: string }) {
  // of one clock: else the unit of one would seem abandoned to the other
  const ahead = app.clock.now().getTime() - Date.now();
  const child = spawn(process.execPath, [SCRIPT, app.mongodbUri, unit, String(step), String(ahead)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    const [url] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string];
    const { path, body, accessToken } = request;
    const headers = { 'content-type': 'application/json', ...(accessToken && { authorization: `Bearer ${accessToken}` }) };
    await expect(fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).rejects.toThrow('fetch failed');
    expect(await ended).toEqual([null, 'SIGKILL']);
  } finally {
    child.kill('SIGKILL');
  }
}

const unitsUnderWay = () => app.storage.model(identityModel).db.collection('units').countDocuments();
async function recover(): Promise<void> {
  expect(await unitsUnderWay()).toBe(1);
  app.clock.advance(TAKEN_OVER_AFTER);
  await app.storage.sweep();
  // the server sweeps by itself too, and may have been first
  await expect.poll(unitsUnderWay).toBe(0);
}
/** What a person notices of an invitation to an address. */
async function stateOf(email: string, invitationId: string) {
  const identity = await app.storage.model(identityModel).findOne({ email }).lean();
  const invitation = await app.storage.model(invitationModel).findById(invitationId).lean();
  const role = identity ? await app.tandem.services.organizations.roleOf(organizationId, identity._id) : undefined;
  const token = await app.storage.model(onetimeTokenModel).findOne({ subject: invitationId }).lean();
  const accepted = { status: invitation?.status, by: invitation?.acceptedBy };
  return { identityId: identity?._id, emailVerified: identity?.emailVerified, role, accepted, token: token?.state };
}
const newEmail = () => `${crypto.randomUUID()}@example.org`;

describe('a registration by invitation', () => {
  const steps = [0, 1, 2, 3, 4];
  it.each(steps)('whose process is killed before step %i is complete after the recovery', async (step) => {
    const email = newEmail();
    const { id, token } = await invite(email);
    const body = { token, password: PASSWORD };
    await postToDying('register by invitation', step, { path: '/auth/register', body });
    await recover();
    const state = await stateOf(email, id);
    const { identityId } = state;
    expect(identityId).toBeDefined();
    expect(state).toEqual({ identityId, emailVerified: true, role: 'admin', accepted: { status: 'accepted', by: identityId }, token: 'used' }); // prettier-ignore
    const person = await app.signIn(email);
    await person.rest('GET', `/organizations/${organizationId}/members`).expect(200);
    await app.rest('POST', '/auth/register', body).expect(401, UNVERIFIED);
    expect(app.logs()).not.toContain(email);
  });

  it('that cannot be completed any more leaves nothing, and the invitation as it was', async () => {
    const email = newEmail();
    const { id, token } = await invite(email);
    await postToDying('register by invitation', 3, { path: '/auth/register', body: { token, password: PASSWORD } });
    // somebody takes the address meanwhile
    const person = await app.signUp({ email });
    await recover();
    expect(await stateOf(email, id)).toEqual({
      identityId: person.id,
      emailVerified: false,
      role: undefined,
      accepted: { status: 'pending', by: null },
      token: 'generated',
    });
    const { data } = await admin.rest('GET', `/organizations/${organizationId}/members?limit=50`).expect<{ data: { identityId: string }[] }>(200); // prettier-ignore
    const known = await app.tandem.services.identities.existing(data.map(({ identityId }) => identityId));
    expect(known.size).toBe(data.length);
    await person.rest('POST', '/invitations/accept', { token }).expect(204);
    expect(app.logs()).not.toContain(email);
  });
});

describe('an acceptance', () => {
  it.each([0, 1, 2, 3, 4])('whose process is killed before step %i is complete after the recovery', async (step) => {
    const { id: identityId, email, accessToken } = await app.signUp();
    const { id, token } = await invite(email);
    await postToDying('accept invitation', step, { path: '/invitations/accept', body: { token }, accessToken });
    await recover();
    expect(await stateOf(email, id)).toEqual({ identityId, emailVerified: true, role: 'admin', accepted: { status: 'accepted', by: identityId }, token: 'used' }); // prettier-ignore
  });
});
