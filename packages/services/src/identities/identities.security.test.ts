import { FACES, NOT_SIGNED_IN, NO_ID, REFUSED, UNVERIFIED, fixture, startTestServer, type Credentials } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';

const FOR_ADMINS = ['patch', 'delete', 'restore', 'lock', 'unlock'];

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const stranger = fixture(() => app.signUp());
const guest = fixture(() => app.signUp());
beforeAll(async () => {
  await admin.rest('PATCH', `/identities/${guest.id}`, { typeId: 'guest' }).expect(200);
});

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
