import { randomUUID } from 'node:crypto';
import type { Person, TestServer } from '@tandem/testing';

/**
 * Signs up a person of each name: `admin` is an admin, `guest` is of the type of guests.
 * @param options of everybody but the admin
 */
export async function signUpAll<Who extends string>(
  app: TestServer,
  names: readonly Who[],
  options?: { isVerified: boolean },
): Promise<Record<Who, Person>> {
  const admin = await app.signUpAdmin();
  const people = await Promise.all(names.map(async (name) => (name === 'admin' ? admin : app.signUp(options))));
  const guest = people[names.findIndex((name) => name === 'guest')];
  if (guest) await admin.rest('PATCH', `/identities/${guest.id}`, { typeId: 'guest' }).expect(200);
  return Object.fromEntries(names.map((name, at) => [name, people[at]])) as Record<Who, Person>;
}

/** Creates an organization of this owner, with these members by role. @returns its id */
export async function createOrganization(
  owner: Person,
  members: Partial<Record<'member' | 'admin' | 'owner', readonly Person[]>> = {},
): Promise<string> {
  const organization = { name: randomUUID(), description: '', contact_email: 'a@example.org' };
  const { id } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  const roles = Object.entries(members).flatMap(([role, people]) => people.map((person) => ({ identityId: person.id, role })));
  if (roles.length > 0) await owner.rest('PATCH', `/organizations/${id}/members`, roles).expect(204);
  return id;
}
