import { FACES, startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChangeRequest } from './change-requests.schemas.js';
import type { Organization } from './organizations.schemas.js';

const NOT_SIGNED_IN = { ok: false, status: 422, message: 'Missing authorization header' };
const REFUSED = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
/** What is wrong, by somebody who may know. */
const TOLD = { ok: false, status: expect.toBeOneOf([400, 404]) as number };
const NO_ID = '01890000-0000-7000-8000-000000000000';

type Who = 'stranger' | 'member' | 'manager' | 'guest' | 'owner' | 'admin';
const WHO: readonly Who[] = ['stranger', 'member', 'manager', 'guest', 'owner', 'admin'];
/** The guest is an owner too, who changes nothing. */
const ALLOWED: Record<string, readonly Who[]> = {
  requestChange: ['owner', 'admin'],
  listChangeRequests: ['guest', 'owner', 'admin'],
  approveChange: ['admin'],
  rejectChange: ['admin'],
};

let app: TestServer;
let people: Record<Who, Person>;
let organizationId: string;
let changeRequestId: string;
beforeAll(async () => {
  app = await startTestServer();
  const [stranger, member, manager, guest, owner] = await Promise.all(Array.from({ length: 5 }, () => app.signUp()));
  people = { stranger, member, manager, guest, owner, admin: await app.signUpAdmin() } as Record<Who, Person>;
  await people.admin.rest('PATCH', `/identities/${people.guest.id}`, { typeId: 'guest' }).expect(200);
  const organization = { name: 'Bakery', description: '', contact_email: 'a@example.org' };
  organizationId = (await people.owner.rest('POST', '/organizations', { organization }).expect<Organization>(201)).id;
  const path = `/organizations/${organizationId}`;
  await people.owner
    .rest('PATCH', `${path}/members`, [
      { identityId: people.member.id, role: 'member' },
      { identityId: people.manager.id, role: 'admin' },
      { identityId: people.guest.id, role: 'owner' },
    ])
    .expect(204);
  changeRequestId = (await people.owner.rest('POST', `${path}/change-requests`, { name: 'Cake' }).expect<ChangeRequest>(201)).id;
});
afterAll(() => app.close());

describe.each(FACES)('over %s', (face) => {
  it.each(Object.keys(ALLOWED))(
    'organizations.%s is open to exactly the permitted callers, before its input is read',
    async (name) => {
      for (const id of [organizationId, NO_ID]) {
        // nothing here is valid, so that who may call is told so and changes nothing
        const input = { organizationId: id, changeRequestId: 'x', foo: 1 };
        expect(await app.call(face, `organizations.${name}`, input)).toEqual(NOT_SIGNED_IN);
        for (const who of WHO) {
          const mayCall = who === 'admin' || (id === organizationId && ALLOWED[name]?.includes(who));
          const outcome = await people[who].call(face, `organizations.${name}`, input);
          expect(outcome, `${who}, ${id}`).toMatchObject(mayCall ? TOLD : REFUSED);
        }
      }
      const { data } = await people.owner
        .rest('GET', `/organizations/${organizationId}/change-requests`)
        .expect<{ data: ChangeRequest[] }>(200);
      expect(data).toMatchObject([{ id: changeRequestId, status: 'pending' }]);
    },
  );
});
