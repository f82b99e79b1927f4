import { FACES, REFUSED, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { {{One}} } from './{{files}}.schemas.js';

const NOT_FOUND = { ok: false, status: 404, message: '{{Words}} not found' };

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());
const guest = fixture(async () => {
  const { id, email } = await app.signUp();
  await admin.rest('PATCH', `/identities/${id}`, { typeId: 'guest' }).expect(200);
  return app.signIn(email);
});

const create = () => ann.rest('POST', '/{{files}}', { title: 'One' }).expect<{{One}}>(201);

describe.each(FACES)('a {{words}} over %s', (face) => {
  const call = (who: Person, procedure: string, {{one}}Id: string, input: object = {}) =>
    who.call(face, `{{many}}.${procedure}`, { {{one}}Id, ...input });

  it('is created by anybody signed in but guests, and read by anybody', async () => {
    const outcome = await ann.call(face, '{{many}}.create', { title: 'One' });
    expect(outcome).toMatchObject({ ok: true, value: { title: 'One', identityId: ann.id } });
    const { id } = (outcome as { value: {{One}} }).value;
    expect(await app.call(face, '{{many}}.get', { {{one}}Id: id })).toEqual(outcome);
    expect(await guest.call(face, '{{many}}.create', { title: 'One' })).toEqual(REFUSED);
  });

  it('is changed and deleted by who created it, and restored by an admin', async () => {
    const { id } = await create();
    expect(await call(ann, 'patch', id, { title: 'Two' })).toMatchObject({ ok: true, value: { title: 'Two' } });
    for (const procedure of ['patch', 'delete'])
      expect(await call(bob, procedure, id, procedure === 'patch' ? { title: 'Three' } : {})).toEqual(REFUSED);
    expect(await call(ann, 'delete', id)).toEqual({ ok: true });
    expect(await call(ann, 'get', id)).toEqual(NOT_FOUND);
    expect(await call(admin, 'restore', id)).toMatchObject({ ok: true, value: { id, title: 'Two' } });
    expect(await call(admin, 'restore', id)).toEqual(NOT_FOUND);
  });

  it('is listed for anybody, newest first, by any field', async () => {
    const first = await create();
    app.clock.advance(1);
    const second = await create();
    expect(await app.call(face, '{{many}}.list', { limit: 2 })).toMatchObject({ value: { data: [second, first] } });
    const $filter = `title eq 'One' and identityId eq '${ann.id}'`;
    expect(await app.call(face, '{{many}}.list', { $filter, $top: 1 })).toMatchObject({ ok: true, value: { count: 1 } });
  });
});

it('what somebody said who is erased goes, from the log of events too', async () => {
  const { id, rest } = await app.signUp();
  await rest('POST', '/{{files}}', { title: 'One' }).expect(201);
  const { events, people } = app.storage;
  const erase = async () => {
    await events.last();
    const { changed, left } = await people.erase({ id, emails: [] }, { blank: false });
    return changed + left + (await people.eraseEvents({ id, emails: [] }, { blank: false }));
  };
  await expect.poll(erase).toBe(0);
  const page = admin.rest('GET', '/events?types={{one}}.*&limit=200');
  const { data: told } = await page.expect<{ data: { type: string; data: {{One}} }[] }>(200);
  const found = told.filter(({ data }) => data.identityId === id);
  expect(found.map(({ type, data }) => [type, data.title])).toEqual([
    ['{{one}}.created', ''],
    ['{{one}}.deleted', ''],
  ]);
});
