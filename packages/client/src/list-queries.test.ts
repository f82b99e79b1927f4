import type { Tandem } from '@tandem/services';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { createClient, newAccount } from '../test/clients.js';
import {
  aggregate,
  count,
  createTandemClient,
  expandOf,
  queriesOf,
  field,
  groupBy,
  not,
  queryOf,
  rowOf,
  rowsOf,
  selectOf,
  type RouterInputs,
} from './index.js';

const app = fixture(startTestServer);

it('a typed query reaches the server unchanged, and its rows come back typed', async () => {
  const { client } = createClient(app);
  const { id: identityId } = await client.signUp(newAccount());
  const { list, markRead } = client.api.notifications;
  const written = await app.tandem.services.notifications.notifyMany(
    Array.from({ length: 5 }, () => ({ receiverId: identityId })),
  );
  await markRead.mutate({ notificationId: written[0]?.id ?? '' });

  const unread = queryOf('notifications.list')
    .where(not(field('isRead').eq(true)))
    .orderBy('id')
    .top(3);
  const first = rowsOf(await list.query({ identityId, ...unread.parameters }), unread.parameters);
  expect(first).toMatchObject({ total: 4, count: 3 });
  expectTypeOf(first.value[0]?.isRead).toEqualTypeOf<boolean | undefined>();
  const rest = unread.after(first.nextToken ?? '').parameters;
  const second = rowsOf(await list.query({ identityId, ...rest }), rest);
  expect([...first.value, ...second.value].map(({ id }) => id)).toEqual(written.slice(1).map(({ id }) => id));
  expect(second.nextToken).toBeUndefined();

  const selected = queryOf('notifications.list').select('isRead').orderBy('id').top(1).parameters;
  const [marked] = rowsOf(await list.query({ identityId, ...selected }), selected).value;
  expectTypeOf(marked).toEqualTypeOf<{ id: string; isRead: boolean } | undefined>();
  expect(marked).toEqual({ id: written[0]?.id, isRead: true });

  const { parameters } = queryOf('notifications.list')
    .apply(groupBy(['isRead'], aggregate({ n: count() })))
    .orderBy('n');
  const groups = rowsOf(await list.query({ identityId, ...parameters }), parameters);
  expectTypeOf(groups.value).toEqualTypeOf<{ isRead: boolean | null; n: number }[]>();
  expect(groups.value).toEqual([
    { isRead: true, n: 1 },
    { isRead: false, n: 4 },
  ]);
});

it('a query typed by the router of a host finds records by its fields', async () => {
  const fields = { products: z.object({ gtin: z.string().optional() }) };
  await using shop = await startTestServer({ code: { fields } });
  const admin = await shop.signUpAdmin();
  const made = await admin.call('rest', 'products.create', { name: 'Tea', description: '', gtin: '4711' });
  type Shop = Tandem<'products', readonly [], typeof fields>['router'];
  const { api } = createTandemClient<Shop>({ url: shop.url });
  const { queryOf: ofShop } = queriesOf<Shop>();
  const { parameters } = ofShop('products.list').where('gtin', 'eq', '4711').orderBy('gtin').select('gtin').top(5);
  const [found] = rowsOf(await api.products.list.query(parameters), parameters).value;
  expectTypeOf(found?.gtin).toEqualTypeOf<string | null | undefined>();
  expect(made).toMatchObject({ value: found });
  expect(Object.keys(found ?? {})).toEqual(['id', 'gtin']);
});

it('a typed selection of one record gives its fields and their type', async () => {
  const { client } = createClient(app);
  const { id: identityId } = await client.signUp(newAccount());
  const selection = selectOf('identities.get', 'locked');
  const identity = rowOf(await client.api.identities.get.query({ identityId, ...selection }), selection);
  expectTypeOf(identity).toEqualTypeOf<{ id: string; locked: boolean }>();
  expect(identity).toEqual({ id: identityId, locked: false });
  // @ts-expect-error -- no such field
  selectOf('identities.get', 'nope');
});

it('a typed expansion of one record gives its related records and their type, beside a selection too', async () => {
  const { client } = createClient(app);
  const { id: identityId } = await client.signUp(newAccount());
  const { id: profileId } = await client.api.profiles.create.mutate({ identityId, name: 'Ann' });
  const person = { id: identityId, name: 'Ann', avatarUrl: null, profileId };
  const expansion = expandOf('profiles.get', 'person');
  const whole = rowOf(await client.api.profiles.get.query({ profileId, ...expansion }), expansion);
  expectTypeOf(whole.person?.name).toEqualTypeOf<string | null | undefined>();
  expect(whole).toMatchObject({ id: profileId, name: 'Ann', person });
  const both = { ...selectOf('profiles.get', 'name'), ...expansion };
  const part = rowOf(await client.api.profiles.get.query({ profileId, ...both }), both);
  expectTypeOf<keyof typeof part>().toEqualTypeOf<'id' | 'name' | 'person'>();
  expect(part).toEqual({ id: profileId, name: 'Ann', person });
  // @ts-expect-error -- no such relation
  expandOf('profiles.get', 'owner');
  // @ts-expect-error -- a relation is no field
  selectOf('profiles.get', 'person');
  expectTypeOf<{ orderId: string; $expand: 'buyer,items.product' }>().toExtend<RouterInputs['orders']['get']>();
  expectTypeOf<{ orderId: string; $expand: 'items' }>().not.toExtend<RouterInputs['orders']['get']>();
  expectTypeOf(expandOf('orders.get', 'buyer', 'items.product').related)
    .exclude<undefined>()
    .toHaveProperty('buyer');
});

it('an answer by page has no query rows, and says so', async () => {
  const { client } = createClient(app);
  const { id: identityId } = await client.signUp(newAccount());
  const { parameters } = queryOf('notifications.list').where('isRead', 'eq', false);
  const answer = await client.api.notifications.list.query({ identityId, ...parameters });
  expect(answer.data).toEqual([]);
  expect(() => rowsOf(answer, parameters)).toThrow(TypeError);
});

/** Each of these is a type error. */
export function wrongQueries() {
  // @ts-expect-error -- no such list
  queryOf('nothing.list');
  // @ts-expect-error -- no such field
  queryOf('notifications.list').where('nope', 'eq', 1);
  // @ts-expect-error -- a boolean is no text
  queryOf('notifications.list').where('isRead', 'eq', 'true');
  // @ts-expect-error -- what is hidden cannot be asked for
  queryOf('identities.list').orderBy('passwordHash');
}
