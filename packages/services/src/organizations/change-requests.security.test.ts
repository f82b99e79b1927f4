import { FACES, NOT_SIGNED_IN, NO_ID, REFUSED, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization, signUpAll } from '../../test/people.js';
import type { ChangeRequest } from './change-requests.schemas.js';

/** What is wrong, by somebody who may know. */
const TOLD = { ok: false, status: expect.toBeOneOf([400, 404]) as number };

const WHO = ['stranger', 'member', 'manager', 'guest', 'owner', 'admin'] as const;
type Who = (typeof WHO)[number];
/** The guest is an owner too, who changes nothing. */
const ALLOWED: Record<string, readonly Who[]> = {
  requestChange: ['owner', 'admin'],
  listChangeRequests: ['guest', 'owner', 'admin'],
  approveChange: ['admin'],
  rejectChange: ['admin'],
};

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
let organizationId: string;
let changeRequestId: string;
beforeAll(async () => {
  organizationId = await createOrganization(people.owner, {
    member: [people.member],
    admin: [people.manager],
    owner: [people.guest],
  });
  changeRequestId = (
    await people.owner
      .rest('POST', `/organizations/${organizationId}/change-requests`, { name: 'Cake' })
      .expect<ChangeRequest>(201)
  ).id;
});

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
