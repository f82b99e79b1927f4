import { FACES, startTestServer, type Credentials, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const NOT_SIGNED_IN = { ok: false, status: 422, message: 'Missing authorization header' };
const UNVERIFIED = { ok: false, status: 401, message: 'token could not be verified' };
const REFUSED = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
const NO_ID = '01890000-0000-7000-8000-000000000000';
const FOR_ADMINS = ['patch', 'delete', 'restore', 'lock', 'unlock'];

let app: TestServer;
let admin: Person;
let ann: Person;
let stranger: Person;
let guest: Person;
beforeAll(async () => {
  app = await startTestServer();
  [admin, ann, stranger, guest] = [await app.signUpAdmin(), await app.signUp(), await app.signUp(), await app.signUp()];
  await admin.rest('PATCH', `/identities/${guest.id}`, { typeId: 'guest' }).expect(200);
});
afterAll(() => app.close());

const unchanged = () => admin.rest('GET', `/identities/${ann.id}`).expect(200);

describe.each(FACES)('over %s', (face) => {
  const call = (procedure: string, credentials: Credentials, identityId: string, input: object = {}) =>
    app.call(face, `identities.${procedure}`, { identityId, ...input }, credentials);

  it.each(['get', ...FOR_ADMINS])('identities.%s is refused without sign-in, whatever else is wrong', async (procedure) => {
    const before = await unchanged();
    for (const id of [ann.id, NO_ID, 'no-uuid']) {
      expect(await call(procedure, {}, id, { foo: 1 })).toEqual(NOT_SIGNED_IN);
      expect(await call(procedure, { accessToken: 'garbage' }, id, { foo: 1 })).toEqual(UNVERIFIED);
    }
    expect(await unchanged()).toEqual(before);
  });

  it.each(FOR_ADMINS)(
    'identities.%s is the admin’s alone: not oneself’s, a stranger’s or a guest’s, whatever else is wrong',
    async (procedure) => {
      const before = await unchanged();
      for (const person of [ann, stranger, guest]) {
        expect(await call(procedure, person.credentials, ann.id)).toEqual(REFUSED);
        // neither a missing record nor a bad input tells anything to who may not ask
        for (const id of [NO_ID, 'no-uuid']) expect(await call(procedure, person.credentials, id, { foo: 1 })).toEqual(REFUSED);
      }
      expect(await unchanged()).toEqual(before);
    },
  );

  it('identities.get is open to oneself and admins', async () => {
    for (const person of [ann, admin]) expect(await call('get', person.credentials, ann.id)).toMatchObject({ ok: true });
    for (const person of [stranger, guest]) expect(await call('get', person.credentials, ann.id)).toEqual(REFUSED);
    for (const id of [NO_ID, 'no-uuid', `${ann.id} `, ann.id.toUpperCase()])
      expect(await call('get', ann.credentials, id)).toEqual(REFUSED);
  });

  it('identities.list is open to admins only, before its input is read', async () => {
    const list = (credentials: Credentials, input = {}) => app.call(face, 'identities.list', input, credentials);
    expect(await list({})).toEqual(NOT_SIGNED_IN);
    for (const person of [ann, guest]) expect(await list(person.credentials, { page: 0, foo: 1 })).toEqual(REFUSED);
    expect(await list(admin.credentials, { page: 0, limit: 51, foo: 1 })).toMatchObject({
      status: 400,
      data: [
        "query parameter 'page' must be >= 1",
        "query parameter 'limit' must be <= 50",
        "query parameter 'foo' is not allowed",
      ],
    });
  });

  it.each(['get', ...FOR_ADMINS])(
    'identities.%s validates the id for the admin, before it looks for the record',
    async (procedure) => {
      expect(await call(procedure, admin.credentials, 'no-uuid')).toMatchObject({
        status: 400,
        message: 'Validation Error',
        data: ['path parameter \'identityId\' must match format "uuid"'],
      });
    },
  );
});

describe('over REST', () => {
  it('a malformed body is reported only to callers who may change the record', async () => {
    const path = `/identities/${ann.id}`;
    await app.rest('PATCH', path, '{').expect(422, 'Missing authorization header');
    await ann.rest('PATCH', path, '{').expect(403);
    await admin.rest('PATCH', path, '{').expect(400, 'Validation Error');
    await admin.rest('PATCH', path, '[]').expect(400, 'Validation Error');
    await admin.rest('PATCH', path, { identityId: stranger.id, typeId: 'guest' }).expect(400, 'Validation Error');
    await admin.rest('PATCH', path, '{"__proto__":{"typeId":"admin"}}').expect(400, 'Validation Error');
  });

  it('an admin may lock and delete oneself, which ends the own session', async () => {
    for (const [method, suffix] of [
      ['POST', '/lock'],
      ['DELETE', ''],
    ] as const) {
      // prettier-ignore
      const other = await app.signUpAdmin();
      await other.rest(method, `/identities/${other.id}${suffix}`).expect(204);
      await other.rest('GET', `/identities/${ann.id}`).expect(401, 'token could not be verified');
    }
  });
});
