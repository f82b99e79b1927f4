import { FACES, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { made, makeRecord, recordKinds, type Input, type RecordKind, type Shown } from '../../test/record-kinds.js';
import { messageModel } from '../chat/message.model.js';
import type { Metadata } from './metadata.js';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());

const { identities, organizations, ...KINDS } = recordKinds(app, admin, ann);
const kinds: [string, RecordKind][] = Object.entries(KINDS);
const invalid = (problem: string) => ({ ok: false, status: 400, message: 'Validation Error', data: [problem] });

describe.each(FACES)('over %s, metadata', (face) => {
  describe.each(kinds)('of %s', (_, kind) => {
    const { person, procedures, id, other } = kind;
    const one = (metadata?: Metadata) => makeRecord(face, kind, metadata && { metadata });
    const patch = (named: Input, metadata: object, more: Input = {}) =>
      person.call(face, procedures.patch, { ...named, metadata, ...more });
    const read = async (named: Input) => (await made(face, person, procedures.get, named)).metadata;

    it('is given at creation, and merged by a change, in which null removes a key', async () => {
      expect((await one()).record.metadata).toEqual({});
      const { record, named } = await one({ erp: 'E1', weight: 2.5, isFragile: true, price: '$5' });
      expect(record.metadata).toEqual({ erp: 'E1', weight: 2.5, isFragile: true, price: '$5' });
      const after = { erp: '$E2', isFragile: true, price: '$5' };
      app.clock.advance(1000);
      const changed = await patch(named, { erp: '$E2', weight: null, gone: null });
      expect(changed).toMatchObject({ ok: true });
      const { metadata, updatedAt } = (changed as { value: Shown }).value;
      expect(metadata).toEqual(after);
      expect(Date.parse(updatedAt) - Date.parse(record.updatedAt)).toBeGreaterThanOrEqual(1000);
      expect(await read(named)).toEqual(after);
      expect(await patch(named, { erp: 'E3' }, other)).toMatchObject({ ok: true, value: { metadata: { erp: 'E3' }, ...other } });
      expect(await read(named)).toEqual({ ...after, erp: 'E3' });
    });

    it('keeps what callers change at once, and no more than 50 keys of it', async () => {
      const { named } = await one(Object.fromEntries(Array.from({ length: 46 }, (_, n) => [`k${n}`, n])));
      const outcomes = await Promise.all(Array.from({ length: 8 }, (_, n) => patch(named, { [`more${n}`]: n })));
      const refused = outcomes.filter(({ ok }) => !ok);
      expect(refused).toEqual(Array.from({ length: 4 }, () => invalid('request body/metadata must NOT have more than 50 keys')));
      const kept = outcomes.flatMap(({ ok }, n) => (ok ? [`more${n}`] : []));
      expect(Object.keys(await read(named))).toEqual(expect.arrayContaining(kept));
      expect(Object.keys(await read(named))).toHaveLength(50);
      expect(await patch(named, { new: 1, k0: null })).toMatchObject({ ok: true });
    });

    it('finds records by a key, but neither sorts nor groups them', async () => {
      const erp = crypto.randomUUID();
      const { record, listed } = await one({ erp, size: 7 });
      const list = async (query: Input) => person.call(face, procedures.list, { ...listed, ...query });
      expect(await list({ $filter: `metadata.erp eq '${erp}' and metadata.size gt 6` })).toMatchObject({
        value: { data: [{ id: record.id, metadata: { erp, size: 7 } }], metadata: { pagination: { total: 1 } } },
      });
      for (const query of [{ $orderby: 'metadata.erp' }, { $apply: 'groupby((metadata.erp))' }])
        expect(await list(query)).toMatchObject({ ok: false, status: 400 });
    });

    it('is selected alone', async () => {
      const { named } = await one({ erp: 'E1' });
      expect(await person.call(face, procedures.get, { ...named, $select: 'metadata' })).toMatchObject({
        value: { id: named[id], metadata: { erp: 'E1' } },
      });
    });

    it('is refused where the record is missing', async () => {
      const missing = { ...(await one()).named, [id]: crypto.randomUUID() };
      expect(await patch(missing, { erp: 'E1' })).toMatchObject({ ok: false });
      expect((await patch(missing, { erp: 'E1' })) as { status: number }).not.toMatchObject({ status: 500 });
    });
  });

  it('of an identity is written by admins, and read by itself', async () => {
    const bob = await app.signUp();
    const change = { identityId: bob.id, metadata: { erp: 'E1', gone: null } };
    expect(await bob.call(face, 'identities.patch', change)).toMatchObject({ ok: false, status: 403 });
    expect(await admin.call(face, 'identities.patch', change)).toMatchObject({ value: { metadata: { erp: 'E1' } } });
    await Promise.all(
      ['a', 'b', 'c'].map((key) => admin.call(face, 'identities.patch', { identityId: bob.id, metadata: { [key]: 1 } })),
    );
    const email = `${crypto.randomUUID()}@example.org`;
    const both = await admin.call(face, 'identities.patch', { identityId: bob.id, email, metadata: { a: null } });
    expect(both).toMatchObject({ value: { email, metadata: { erp: 'E1', b: 1, c: 1 } } });
    expect((await made(face, bob, 'identities.get', { identityId: bob.id })).metadata).toEqual({ erp: 'E1', b: 1, c: 1 });
    const many = Object.fromEntries(Array.from({ length: 48 }, (_, n) => [`k${n}`, n]));
    for (const more of [{}, { email }])
      expect(await admin.call(face, 'identities.patch', { identityId: bob.id, metadata: many, ...more })).toEqual(
        invalid('request body/metadata must NOT have more than 50 keys'),
      );
    expect(await admin.call(face, 'identities.list', { $filter: `metadata.b eq 1 and email eq '${email}'` })).toMatchObject({
      value: { data: [{ id: bob.id }] },
    });
  });

  it('of an organization is written by its owners, and read by its members', async () => {
    const [bob, name] = [await app.signUp(), crypto.randomUUID()];
    const organization = { name, description: '', contact_email: 'a@example.org', metadata: { erp: name } };
    const { id: organizationId } = await made(face, ann, 'organizations.create', { organization });
    const members = [{ identityId: bob.id, role: 'admin' }];
    expect(await ann.call(face, 'organizations.upsertMembers', { organizationId, members })).toMatchObject({ ok: true });
    const patch = (person: Person, metadata: object) => person.call(face, 'organizations.patch', { organizationId, metadata });
    expect(await patch(bob, { a: 1 })).toMatchObject({ ok: false, status: 403 });
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => patch(ann, { [key]: 1 })));
    expect(await patch(ann, { d: null })).toMatchObject({ value: { metadata: { erp: name, a: 1, b: 1, c: 1 } } });
    const byAdmin = { organizationId, name: `${name}!`, metadata: { a: null } };
    expect(await admin.call(face, 'organizations.patchAsAdmin', byAdmin)).toMatchObject({ value: { name: `${name}!` } });
    const kept = { erp: name, b: 1, c: 1 };
    expect((await made(face, bob, 'organizations.get', { organizationId })).metadata).toEqual(kept);
    const many = Object.fromEntries(Array.from({ length: 48 }, (_, n) => [`k${n}`, n]));
    expect(await patch(ann, many)).toEqual(invalid('request body/metadata must NOT have more than 50 keys'));
    expect(await admin.call(face, 'organizations.list', { $filter: `metadata.erp eq '${name}'` })).toMatchObject({
      value: { data: [{ id: organizationId, metadata: kept }] },
    });
  });

  it('of an order is given by its buyer, and changed by staff alone', async () => {
    const input = await KINDS.orders.input(face);
    const { id: orderId } = await made(face, ann, 'orders.create', { ...input, identityId: ann.id, metadata: { po: '7' } });
    for (const more of [{}, { status: 'cancelled' }]) {
      const outcome = await ann.call(face, 'orders.patch', { orderId, metadata: { po: '8' }, ...more });
      expect(outcome).toMatchObject({ ok: false, status: 403 });
      expect((outcome as { message: string }).message).toBe(
        ((await ann.call(face, 'orders.patch', { orderId, status: 'confirmed' })) as { message: string }).message,
      );
    }
    expect(await admin.call(face, 'orders.patch', { orderId, metadata: { erp: 'E1' } })).toMatchObject({ ok: true });
    expect(await made(face, ann, 'orders.get', { orderId })).toMatchObject({
      status: 'pending',
      metadata: { po: '7', erp: 'E1' },
    });
  });
});

it('an order that is made again shows the metadata that it was made with', async () => {
  const input = await KINDS.orders.input('rest');
  const credentials = { ...ann.credentials, headers: { 'Idempotency-Key': 'metadata' } };
  const post = async (metadata: Metadata) => app.rest('POST', '/orders', { ...input, identityId: ann.id, metadata }, credentials);
  const first = await post({ po: '7' });
  const orderId = (first.body as Shown).id;
  expect(await admin.call('trpc', 'orders.patch', { orderId, metadata: { erp: 'E1', po: null } })).toMatchObject({ ok: true });
  expect((await post({ po: '7' })).body).toEqual(first.body);
  expect((await post({ po: '8' })).status).toBe(422);
});

it('a message without metadata stores none', async () => {
  const { named } = await makeRecord('trpc', KINDS.messages);
  expect(await app.storage.model(messageModel).collection.findOne({ _id: named['messageId'] } as object)).not.toHaveProperty(
    'metadata',
  );
});

it.each(['identities', 'organizations', 'orders', 'profiles', 'categories', 'locations', 'channels', 'messages'])(
  'an index of keys serves the filters of %s',
  async (name) => {
    const { db } = app.storage.model(messageModel);
    const plan = await db
      .collection(name)
      .find({ 'metadata.erp': { $eq: 'E1' }, deletedAt: null })
      .explain('queryPlanner');
    const { winningPlan } = (plan as unknown as { queryPlanner: { winningPlan: object } }).queryPlanner;
    expect(JSON.stringify(winningPlan)).toContain('metadata.$**_1');
  },
);
