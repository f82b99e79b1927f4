import { FACES, NOT_SIGNED_IN, NO_ID, REFUSED, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';

const DOES_NOT_EXIST = { ok: false, status: 404, message: 'Category does not exist' };

/** Of categories and attributes everything is read by anybody and written by the admin. */
const WRITES = [
  'categories.create',
  'categories.patch',
  'categories.delete',
  'categories.enable',
  'categories.disable',
  'categories.restore',
  'attributes.create',
  'attributes.patch',
  'attributes.delete',
  'attributes.restore',
];
/** Below these nothing is told before whether the category exists, to whoever is signed in (decisions A17). */
const GUARDED = ['categories.patch', 'categories.delete', 'categories.enable', 'categories.disable'];
const READS = ['categories.get', 'categories.list', 'attributes.get', 'attributes.list'];

const app = fixture(startTestServer);
let admin: Person;
let others: Person[];
let categoryId: string;
beforeAll(async () => {
  const [stranger, guest] = [await app.signUp(), await app.signUp()];
  admin = await app.signUpAdmin();
  await admin.rest('PATCH', `/identities/${guest.id}`, { typeId: 'guest' }).expect(200);
  others = [stranger, guest];
  categoryId = (await admin.rest('POST', '/categories', { name: 'Books', description: '' }).expect<{ id: string }>(201)).id;
});

describe.each(FACES)('over %s', (face) => {
  /** Nothing here is valid, so that who may call is told so and changes nothing. */
  const bad = (id: string) => ({ categoryId: id, attributeId: id, foo: 1 });

  it.each(WRITES)('%s is open to admins only, before its input is read', async (name) => {
    for (const id of [categoryId, NO_ID, 'no-uuid']) {
      const isMissing = GUARDED.includes(name) && id === NO_ID;
      expect(await app.call(face, name, bad(id))).toEqual(NOT_SIGNED_IN);
      for (const person of others) expect(await person.call(face, name, bad(id))).toEqual(isMissing ? DOES_NOT_EXIST : REFUSED);
      // an act without a body cannot be wrong over REST
      const expected = isMissing ? [404] : [400, 404, undefined];
      expect(expected).toContain(((await admin.call(face, name, bad(id))) as { status?: number }).status);
    }
  });

  it.each(READS)('%s is open to anybody', async (name) => {
    const input = name.endsWith('.list') ? {} : name.startsWith('categories') ? { categoryId } : { attributeId: NO_ID };
    const status = name === 'attributes.get' ? { status: 404 } : { ok: true };
    expect(await app.call(face, name, input)).toMatchObject(status);
    for (const person of others) expect(await person.call(face, name, input)).toMatchObject(status);
  });
});
