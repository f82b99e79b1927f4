import { FACES, NO_ID, OK, failing, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { Category } from './categories.schemas.js';

const DOES_NOT_EXIST = failing(404, 'Category does not exist');
const NOT_FOUND = failing(404, 'Category not found');
const CYCLE = failing(409, 'Category cannot be below itself');

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const books = { name: 'Books', description: 'To read' };
const create = (parent?: string) => admin.rest('POST', '/categories', { ...books, parent }).expect<Category>(201);

describe.each(FACES)('a category over %s', (face) => {
  const call = (procedure: string, categoryId: string, input: object = {}) =>
    admin.call(face, `categories.${procedure}`, { categoryId, ...input });

  it('is created active and at the top by default, and read by anybody', async () => {
    const outcome = await admin.call(face, 'categories.create', { ...books, name: ' Books ' });
    const { value } = outcome as { value: Category };
    const { id, createdAt } = value;
    expect(value).toEqual({ ...books, id, status: 'active', parent: null, metadata: {}, createdAt, updatedAt: createdAt });
    expect(await app.call(face, 'categories.get', { categoryId: id })).toEqual(outcome);
    const given = { ...books, status: 'inactive', parent: id };
    expect(await admin.call(face, 'categories.create', given)).toMatchObject({ ok: true, value: given });
  });

  it('is changed in the given fields; only enable and disable change the status, and both are idempotent', async () => {
    const { id } = await create();
    app.clock.advance(1000);
    const outcome = await call('patch', id, { description: '' });
    const { value } = outcome as { value: Category };
    expect(value).toMatchObject({ id, name: 'Books', description: '' });
    expect(value.updatedAt > value.createdAt).toBe(true);
    expect(await call('patch', id)).toEqual(failing(400, 'Failed to update category'));
    expect(await call('patch', id, { status: 'inactive' })).toMatchObject({ status: 400 });
    for (const [act, status] of [
      ['disable', 'inactive'],
      ['disable', 'inactive'],
      ['enable', 'active'],
      ['enable', 'active'],
    ] as const) {
      // prettier-ignore
      expect(await call(act, id)).toEqual(OK);
      expect(await call('get', id)).toMatchObject({ value: { status } });
    }
  });

  it('moves below another and back to the top, together with other changes, and never below itself', async () => {
    const top = await create();
    const middle = await create(top.id);
    const low = await create(middle.id);
    const other = await create();
    expect(await call('patch', middle.id, { parent: other.id, name: 'Moved' })).toMatchObject({
      ok: true,
      value: { parent: other.id, name: 'Moved' },
    });
    for (const parent of [other.id, middle.id, low.id]) expect(await call('patch', other.id, { parent })).toEqual(CYCLE);
    expect(await call('patch', middle.id, { parent: null })).toMatchObject({ ok: true, value: { parent: null } });
    expect(await call('patch', other.id, { parent: low.id })).toMatchObject({ ok: true, value: { parent: low.id } });
  });

  it('cannot be below a missing category: not found, while one in the path does not exist', async () => {
    const { id } = await create();
    expect(await admin.call(face, 'categories.create', { ...books, parent: NO_ID })).toEqual(NOT_FOUND);
    expect(await call('patch', id, { parent: NO_ID })).toEqual(NOT_FOUND);
    for (const procedure of ['get', 'patch', 'delete', 'enable', 'disable'])
      expect(await call(procedure, NO_ID, procedure === 'patch' ? { parent: id } : {})).toEqual(DOES_NOT_EXIST);
    expect(await call('restore', NO_ID)).toEqual(NOT_FOUND);
  });

  it('is soft-deleted; its subcategories stay below it, and no cycle can be made through it', async () => {
    const top = await create();
    const middle = await create(top.id);
    const low = await create(middle.id);
    expect(await call('delete', middle.id)).toEqual(OK);
    for (const procedure of ['get', 'delete', 'enable']) expect(await call(procedure, middle.id)).toEqual(DOES_NOT_EXIST);
    expect(await call('get', low.id)).toMatchObject({ value: { parent: middle.id } });
    expect(await call('patch', top.id, { parent: middle.id })).toEqual(NOT_FOUND);
    expect(await call('patch', top.id, { parent: low.id })).toEqual(CYCLE);
    expect(await call('restore', middle.id)).toMatchObject({ ok: true, value: { id: middle.id, parent: top.id } });
    expect(await call('restore', middle.id)).toEqual(NOT_FOUND);
  });

  it('is listed for anybody, newest first, disabled ones included', async () => {
    const first = await create();
    app.clock.advance(1);
    const second = await create();
    await call('disable', second.id);
    const outcome = await app.call(face, 'categories.list', { limit: 2 });
    expect(outcome).toMatchObject({ ok: true, value: { data: [{ id: second.id, status: 'inactive' }, { id: first.id }] } });
  });

  it('is validated, and reports all problems at once', async () => {
    expect(await admin.call(face, 'categories.create', { status: 'open', parent: 'x', foo: 1 })).toEqual({
      ...failing(400, 'Validation Error'),
      data: [
        "request body must have required property 'name'",
        "request body must have required property 'description'",
        'request body/status must be equal to one of the allowed values: active, inactive',
        'request body/parent must match format "uuid"',
        "request body must NOT have additional properties: 'foo'",
      ],
    });
    expect(await call('patch', 'no-uuid', { name: 'x' })).toMatchObject({
      status: 400,
      data: ['path parameter \'categoryId\' must match format "uuid"'],
    });
  });
});
