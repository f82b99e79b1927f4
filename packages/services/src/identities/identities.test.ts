import { FACES, NO_ID, OK, PASSWORD, fixture, newEmail, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { identityModel } from './identity.model.js';
import type { Identity } from './identities.schemas.js';

const MISSING = { ok: false, status: 404, message: 'Identity not found' };
const TAKEN = { ok: false, status: 409, message: 'Email already in use' };

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const call = (face: Face, procedure: string, identityId: string, input: object = {}) =>
  admin.call(face, `identities.${procedure}`, { identityId, ...input });
async function read(identityId: string): Promise<Identity> {
  return admin.rest('GET', `/identities/${identityId}`).expect<Identity>(200);
}
const invalid = (...data: string[]) => ({ ok: false, status: 400, message: 'Validation Error', data });

describe.each(FACES)('an identity over %s', (face) => {
  it('shows its nine fields and nothing else, to oneself and to admins', async () => {
    const ann = await app.signUp();
    const outcome = await ann.call(face, 'identities.get', { identityId: ann.id });
    const { value } = outcome as { value: Identity };
    expect(Object.keys(value).sort()).toEqual(['createdAt', 'deactivatedAt', 'email', 'emailVerified', 'id', 'locked', 'metadata', 'typeId', 'updatedAt']); // prettier-ignore
    expect(value).toMatchObject({ id: ann.id, email: ann.email, emailVerified: false, typeId: 'regular', locked: false, deactivatedAt: null }); // prettier-ignore
    expect(await call(face, 'get', ann.id)).toEqual(outcome);
  });

  it('is listed newest first, a page at a time, without those that are deleted', async () => {
    const [ann, bob, carol] = [await app.signUp(), await app.signUp(), await app.signUp()];
    await call(face, 'delete', bob.id);
    const page = async (number: number) => {
      const outcome = await admin.call(face, 'identities.list', { page: number, limit: 1 });
      return (outcome as { value: { data: Identity[]; metadata: { pagination: { total: number; totalPages: number } } } }).value;
    };
    const [first, next] = [await page(1), await page(2)];
    expect([first.data, next.data]).toEqual([[await read(carol.id)], [await read(ann.id)]]);
    const total = await app.storage.model(identityModel).countDocuments();
    expect(first.metadata.pagination).toEqual({ page: 1, limit: 1, total, totalPages: total, hasNext: true, hasPrev: false });
  });

  it('is changed in the given fields, and refreshes updatedAt', async () => {
    const ann = await app.signUp();
    const before = await read(ann.id);
    app.clock.advance(1000);
    const outcome = await call(face, 'patch', ann.id, { emailVerified: true, typeId: 'guest' });
    const after = await read(ann.id);
    expect(outcome).toEqual({ ok: true, value: after });
    expect(after).toEqual({ ...before, emailVerified: true, typeId: 'guest', updatedAt: after.updatedAt });
    expect(Date.parse(after.updatedAt) - Date.parse(before.updatedAt)).toBeGreaterThanOrEqual(1000);
    app.clock.advance(1000);
    await call(face, 'patch', ann.id, { email: newEmail() });
    expect((await read(ann.id)).updatedAt > after.updatedAt).toBe(true);
  });

  it('has an unverified email after a change, and signs in with the new one only', async () => {
    const ann = await app.signUp();
    await call(face, 'patch', ann.id, { emailVerified: true });
    const email = newEmail();
    expect(await call(face, 'patch', ann.id, { email: ` ${email.toUpperCase()} ` })).toMatchObject({
      value: { email, emailVerified: false },
    });
    expect((await app.signIn(email)).id).toBe(ann.id);
    await app.rest('POST', '/auth/login', { email: ann.email, password: PASSWORD }).expect(401, 'wrong credentials provided');
  });

  it('keeps its verification if given the same email, unless the change says otherwise', async () => {
    const ann = await app.signUp();
    for (const emailVerified of [true, false]) {
      await call(face, 'patch', ann.id, { emailVerified });
      expect(await call(face, 'patch', ann.id, { email: ann.email.toUpperCase() })).toMatchObject({ value: { email: ann.email, emailVerified } }); // prettier-ignore
    }
    expect(await call(face, 'patch', ann.id, { email: newEmail(), emailVerified: true })).toMatchObject({
      value: { emailVerified: true },
    });
    expect(await call(face, 'patch', ann.id, { email: newEmail(), typeId: 'guest' })).toMatchObject({ value: { emailVerified: false, typeId: 'guest' } }); // prettier-ignore
  });

  it('cannot have the email of another, except of a deleted one', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const before = await read(ann.id);
    expect(await call(face, 'patch', ann.id, { email: bob.email.toUpperCase(), typeId: 'guest' })).toEqual(TAKEN);
    expect(await read(ann.id)).toEqual(before);
    await call(face, 'delete', bob.id);
    expect(await call(face, 'patch', ann.id, { email: bob.email })).toMatchObject({ ok: true });
  });

  it('is not changed by an empty change, nor by one with a problem', async () => {
    const ann = await app.signUp();
    const before = await read(ann.id);
    app.clock.advance(1000);
    expect(await call(face, 'patch', ann.id)).toEqual({ ok: false, status: 400, message: 'Failed to update identity' });
    expect(
      await call(face, 'patch', ann.id, { typeId: 'emperor', email: 'no address', emailVerified: 'yes', foo: 1, locked: true }),
    ).toEqual(
      // prettier-ignore
      invalid(
        'request body/email must match format "email"',
        'request body/emailVerified must be boolean',
        'request body/typeId must be equal to one of the allowed values: admin, guest, regular',
        "request body must NOT have additional properties: 'foo'",
        "request body must NOT have additional properties: 'locked'",
      ),
    );
    for (const input of [
      { email: null },
      { typeId: null },
      { emailVerified: null },
      { email: { $ne: '' } },
      { typeId: ['admin'] },
      { email: '$typeId' },
    ])
      // prettier-ignore
      expect(await call(face, 'patch', ann.id, { typeId: 'admin', ...input }), JSON.stringify(input)).toMatchObject({ status: 400 });
    for (const key of ['passwordHash', 'sessionEpoch', 'deletedAt', '_id', 'id', 'createdAt'])
      expect(await call(face, 'patch', ann.id, { [key]: 'x' })).toEqual(
        invalid(`request body must NOT have additional properties: '${key}'`),
      );
    expect(await read(ann.id)).toEqual(before);
  });

  it('is soft-deleted: hidden, its address free, and back when restored', async () => {
    const ann = await app.signUp();
    const before = await read(ann.id);
    expect(await call(face, 'delete', ann.id)).toEqual(OK);
    for (const procedure of ['get', 'delete', 'lock', 'unlock']) expect(await call(face, procedure, ann.id)).toEqual(MISSING);
    expect(await call(face, 'patch', ann.id, { typeId: 'guest' })).toEqual(MISSING);
    expect(await app.storage.model(identityModel).countDocuments({ _id: ann.id }).setOptions({ deleted: 'only' })).toBe(1);

    expect(await call(face, 'restore', ann.id)).toMatchObject({
      ok: true,
      value: { ...before, updatedAt: expect.any(String) as string },
    });
    expect(await call(face, 'restore', ann.id)).toEqual(MISSING);
    expect((await app.signIn(ann.email)).id).toBe(ann.id);
  });

  it('cannot be restored if it is not deleted, or its address was taken meanwhile', async () => {
    expect(await call(face, 'restore', NO_ID)).toEqual(MISSING);
    const ann = await app.signUp();
    await call(face, 'delete', ann.id);
    const next = await app.signUp({ email: ann.email });
    expect(next.id).not.toBe(ann.id);
    expect(await call(face, 'restore', ann.id)).toEqual(TAKEN);
    await call(face, 'delete', next.id);
    expect(await call(face, 'restore', ann.id)).toMatchObject({ ok: true, value: { id: ann.id } });
    expect(await call(face, 'restore', next.id)).toEqual(TAKEN);
  });

  it('is locked and unlocked, repeatedly', async () => {
    const ann = await app.signUp();
    for (const [procedure, locked] of [
      ['lock', true],
      ['lock', true],
      ['unlock', false],
      ['unlock', false],
    ] as const) {
      // prettier-ignore
      expect(await call(face, procedure, ann.id)).toEqual(OK);
      expect(await read(ann.id)).toMatchObject({ locked });
    }
  });

  it('that is missing is 404 to admins, on every route', async () => {
    for (const procedure of ['get', 'delete', 'restore', 'lock', 'unlock'])
      expect(await call(face, procedure, NO_ID)).toEqual(MISSING);
    expect(await call(face, 'patch', NO_ID, { typeId: 'guest' })).toEqual(MISSING);
    expect(await call(face, 'patch', NO_ID, { email: newEmail() })).toEqual(MISSING);
  });
});

describe('identities', () => {
  it('answer 204 to deletion, lock and unlock, 200 to change and restore', async () => {
    const ann = await app.signUp();
    await admin.rest('POST', `/identities/${ann.id}/lock`, {}).expect(204);
    await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    await admin.rest('PATCH', `/identities/${ann.id}`, { typeId: 'guest' }).expect(200);
    await admin.rest('DELETE', `/identities/${ann.id}`).expect(204);
    await admin.rest('POST', `/identities/${ann.id}/restore`).expect(200);
  });

  it('that are given one address at once keep it for one of them', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => app.signUp()));
    const email = newEmail();
    const outcomes = await Promise.all(people.map(({ id }) => call('rest', 'patch', id, { email })));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 7 }, () => TAKEN));
  });
});
