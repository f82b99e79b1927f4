import { fixture, newEmail, startTestServer, type Person } from '@tandem/testing';
import { beforeEach, expect, it } from 'vitest';
import { letErasuresPass } from '../../test/named-person.js';
import type { Invitation } from '../invitations/invitations.schemas.js';

const app = fixture(() => startTestServer({ erasure: { erasureDelay: '0s' } }));
const account = fixture(() => app.signUpAdmin());
let admin: Person;
// tests move the time
beforeEach(async () => {
  admin = await app.signIn(account.email);
});

/** What names an address: an invitation to it, and an organization that gives it as contact. @returns what is left of them */
async function nameAddress(email: string): Promise<() => Promise<object>> {
  const owner = await app.signUp({ isVerified: true });
  const organization = { name: crypto.randomUUID(), description: '', contact_email: email };
  const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  const { id } = await owner.rest('POST', '/invitations', { email, organizationId, role: 'member' }).expect<Invitation>(201);
  return async () => {
    const { rest } = await app.signIn(owner.email);
    const { status } = await rest('GET', `/invitations/${id}`);
    const { contact_email } = await rest('GET', `/organizations/${organizationId}`).expect<{ contact_email: string }>(200);
    return { status, contact_email };
  };
}
const erase = (person: Person) => person.rest('POST', `/auth/${person.id}/erase`).expect(202);

it('an erasure leaves alone what names an address that was the person’s and is another’s now', async () => {
  const [bob, former] = [await app.signUp({ isVerified: true }), newEmail()];
  await admin.rest('PATCH', `/identities/${bob.id}`, { email: former, emailVerified: true }).expect(200);
  await admin.rest('PATCH', `/identities/${bob.id}`, { email: bob.email, emailVerified: true }).expect(200);
  await app.signUp({ email: former });
  const [ofCarol, ofBob] = [await nameAddress(former), await nameAddress(bob.email)];
  await erase(await app.signIn(bob.email));
  await letErasuresPass(app);
  expect(await ofCarol()).toEqual({ status: 200, contact_email: former });
  expect(await ofBob()).toEqual({ status: 403, contact_email: '' });
});

it('an erasure leaves alone what names the address of an account deleted before, if that is another’s now', async () => {
  const bob = await app.signUp({ isVerified: true });
  await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
  await app.signUp({ email: bob.email });
  const ofCarol = await nameAddress(bob.email);
  await admin.rest('POST', `/auth/${bob.id}/erase`).expect(202);
  await letErasuresPass(app);
  expect(await ofCarol()).toEqual({ status: 200, contact_email: bob.email });
});

it('an erasure leaves alone what comes to who registers with the address anew, but what was there before goes', async () => {
  const bob = await app.signUp({ isVerified: true });
  const before = await nameAddress(bob.email);
  await erase(bob);
  // before the erasure begins to look around, but when the address is free
  const { identities } = app.tandem.services;
  await identities.claimErasure(bob.id);
  await identities.beginErasure(bob.id);
  await app.signUp({ email: bob.email });
  app.clock.advance(10_000);
  await app.tandem.runJobs();
  const after = await nameAddress(bob.email);
  await letErasuresPass(app);
  expect(await before()).toEqual({ status: 403, contact_email: '' });
  expect(await after()).toEqual({ status: 200, contact_email: bob.email });
});

it('an erasure leaves alone what names an address that nobody has proved', async () => {
  const mallory = await app.signUp();
  const ofAddress = await nameAddress(mallory.email);
  await erase(await app.signIn(mallory.email));
  await letErasuresPass(app);
  expect(await ofAddress()).toEqual({ status: 200, contact_email: mallory.email });
});

it('an erasure takes away what names a former address that was proved, not one that was only given', async () => {
  const [bob, given] = [await app.signUp({ isVerified: true }), newEmail()];
  const former = bob.email;
  await admin.rest('PATCH', `/identities/${bob.id}`, { email: given }).expect(200);
  await admin.rest('PATCH', `/identities/${bob.id}`, { email: newEmail(), emailVerified: true }).expect(200);
  const [ofFormer, ofGiven] = [await nameAddress(former), await nameAddress(given)];
  await admin.rest('POST', `/auth/${bob.id}/erase`).expect(202);
  await letErasuresPass(app);
  expect(await ofFormer()).toEqual({ status: 403, contact_email: '' });
  expect(await ofGiven()).toEqual({ status: 200, contact_email: given });
});
