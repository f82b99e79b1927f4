import { FACES, NO_ID, OK, failing, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { Attribute } from './attributes.schemas.js';

const NOT_FOUND = failing(404, 'Attribute group not found');

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const size = {
  name: 'Size',
  items: [
    { key: 'S', value: 'small' },
    { key: 'L', value: 'large' },
  ],
};
const create = () => admin.rest('POST', '/attributes', size).expect<Attribute>(201);

describe.each(FACES)('an attribute group over %s', (face) => {
  const call = (procedure: string, attributeId: string, input: object = {}) =>
    admin.call(face, `attributes.${procedure}`, { attributeId, ...input });

  it('is created with its items in their order, and read by anybody', async () => {
    const outcome = await admin.call(face, 'attributes.create', size);
    const { value } = outcome as { value: Attribute };
    expect(value).toEqual({ ...size, id: value.id, createdAt: value.createdAt, updatedAt: value.createdAt });
    expect(await app.call(face, 'attributes.get', { attributeId: value.id })).toEqual(outcome);
  });

  it('is changed in the given fields only', async () => {
    const { id } = await create();
    expect(await call('patch', id, { name: 'Sizes' })).toMatchObject({ ok: true, value: { ...size, name: 'Sizes' } });
    const items = [{ key: 'M', value: '' }];
    expect(await call('patch', id, { items })).toMatchObject({ ok: true, value: { name: 'Sizes', items } });
    expect(await call('patch', id)).toEqual(failing(400, 'Failed to update attribute group'));
    expect(await call('patch', NO_ID, { name: 'x' })).toEqual(NOT_FOUND);
  });

  it('is soft-deleted and restored', async () => {
    const { id } = await create();
    expect(await call('delete', id)).toEqual(OK);
    expect(await call('get', id)).toEqual(NOT_FOUND);
    expect(await call('delete', id)).toEqual(failing(404, 'Attribute not found'));
    expect(await call('restore', id)).toMatchObject({ ok: true, value: { id, ...size } });
    expect(await call('restore', id)).toEqual(NOT_FOUND);
  });

  it('is listed for anybody, newest first', async () => {
    const first = await create();
    app.clock.advance(1);
    const second = await create();
    expect(await app.call(face, 'attributes.list', { limit: 2 })).toMatchObject({ value: { data: [second, first] } });
  });

  it('is validated, and reports all problems at once', async () => {
    const items = [
      { key: '', value: 5 },
      { value: 'x', foo: 1 },
    ];
    expect(await admin.call(face, 'attributes.create', { name: '', items })).toEqual({
      ...failing(400, 'Validation Error'),
      data: [
        'request body/name must NOT have fewer than 1 characters',
        'request body/items/0/key must NOT have fewer than 1 characters',
        'request body/items/0/value must be string',
        "request body/items/1 must have required property 'key'",
        "request body/items/1 must NOT have additional properties: 'foo'",
      ],
    });
    expect(await admin.call(face, 'attributes.create', { ...size, items: [] })).toMatchObject({
      data: ['request body/items must NOT have fewer than 1 items'],
    });
  });
});
