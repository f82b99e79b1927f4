import type { Collection } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productDocuments, products } from '../test/products.js';
import { NextTokenError, defineListResource, runListQuery, type ListQueryOptions, type ListResource } from './index.js';

type Pairs = [string, string][];
const ASKED: Pairs = [
  ['$orderby', 'price desc'],
  ['$filter', "status eq 'live'"],
  ['$top', '3'],
];

let collection: Collection<Stored>;
let options: ListQueryOptions;
let token: string;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'products', productDocuments(60));
  options = { collection, cursorSecret: 'the first secret', scope: { stock: { $lt: 9 } } };
  token = (await runListQuery(products, ASKED, options)).nextToken ?? '';
});

function follow(given: string, pairs = ASKED, changed: Partial<ListQueryOptions> = {}, resource: ListResource = products) {
  return runListQuery(resource, [...pairs, ['$nextToken', given]], { ...options, ...changed });
}

const replaced = (key: string, value: string): Pairs => ASKED.map((pair) => (pair[0] === key ? [key, value] : pair));

async function expectRefusal(refused: Promise<unknown>): Promise<void> {
  const error: unknown = await refused.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(NextTokenError);
  expect(error).toMatchObject({
    name: 'NextTokenError',
    status: 400,
    parameter: '$nextToken',
    offset: 0,
    message: 'Invalid $nextToken',
  });
}

it('a cursor continues the list that it belongs to', async () => {
  expect(token).toMatch(/^[\w-]+$/);
  expect((await follow(token)).count).toBe(3);
  expect((await follow(token, replaced('$top', '50'))).count).toBeGreaterThan(3);
  expect((await follow(token, [...ASKED, ['$expand', 'category']], { relations: { category: collection } })).count).toBe(3);
});

it('a cursor with any character changed, removed or added is refused', async () => {
  for (let n = 0; n < token.length; n += 1) {
    await expectRefusal(follow(token.slice(0, n) + (token[n] === 'A' ? 'B' : 'A') + token.slice(n + 1)));
    await expectRefusal(follow(token.slice(0, n) + token.slice(n + 1)));
  }
  for (const added of ['A', '=', '==', ' ', '.', 'AAAA', '%', '\n', '日本']) {
    await expectRefusal(follow(token + added));
    await expectRefusal(follow(added + token));
  }
});

it.each(['', 'garbage', 'eyJfaWQiOnsiJG5lIjoxfX0', '日本😀', 'A'.repeat(10_000), '[]', 'null', '__proto__'])(
  'the made-up cursor %.20s is refused',
  (made) => expectRefusal(follow(made)),
);

it('a cursor is bound to its order, filter, scope and resource', async () => {
  await expectRefusal(follow(token, replaced('$orderby', 'price asc')));
  await expectRefusal(follow(token, replaced('$orderby', 'price desc, name asc')));
  await expectRefusal(follow(token, [['$filter', "status eq 'live'"]]));
  await expectRefusal(follow(token, replaced('$filter', "status eq 'draft'")));
  await expectRefusal(follow(token, [['$orderby', 'price desc']]));
  await expectRefusal(follow(token, ASKED, { scope: { stock: { $lt: 10 } } }));
  await expectRefusal(follow(token, ASKED, { scope: {} }));
  const others = defineListResource({ name: 'others', fields: { price: 'number', status: 'string' } });
  await expectRefusal(follow(token, ASKED, {}, others));
});

it('the same query written differently keeps its cursor', async () => {
  expect((await follow(token, [['$filter', " (status  eq 'live') "], ['$orderby', 'price desc , id asc, name desc'], ['$top', '3']])).count).toBe(3); // prettier-ignore
  const byId = (await runListQuery(products, replaced('$orderby', 'id'), options)).nextToken ?? '';
  expect((await follow(byId, replaced('$orderby', 'id asc, price desc'))).count).toBe(3);
});

it('a cursor outlives a rotation of secrets while the old one is still listed', async () => {
  expect((await follow(token, ASKED, { cursorSecret: ['the second secret', 'the first secret'] })).count).toBe(3);
  await expectRefusal(follow(token, ASKED, { cursorSecret: 'the second secret' }));
  const second = await runListQuery(products, ASKED, { ...options, cursorSecret: ['the second secret', 'the first secret'] });
  expect((await follow(second.nextToken ?? '', ASKED, { cursorSecret: Buffer.from('the second secret') })).count).toBe(3);
  const binary = await runListQuery(products, ASKED, { ...options, cursorSecret: Buffer.of(0xff) });
  await expectRefusal(follow(binary.nextToken ?? '', ASKED, { cursorSecret: Buffer.of(0xfe) }));
});

it('without a secret there are no cursors', async () => {
  const { cursorSecret: _, ...without } = options;
  expect(await runListQuery(products, ASKED, without)).not.toHaveProperty('nextToken');
  await expect(runListQuery(products, [...ASKED, ['$nextToken', token]], without)).rejects.toMatchObject({
    message: "query parameter '$nextToken' is not allowed",
  });
  for (const cursorSecret of ['', [], ['the first secret', '']])
    await expect(runListQuery(products, ASKED, { ...without, cursorSecret })).rejects.toThrow(new TypeError('A cursor secret is empty')); // prettier-ignore
});

it('a cursor cannot be combined with $skip or $apply', async () => {
  await expect(follow(token, [...ASKED, ['$skip', '1']])).rejects.toMatchObject({
    message: "query parameter '$skip' cannot be used together with '$nextToken'",
  });
  await expect(follow(token, [['$apply', 'top(5)']])).rejects.toMatchObject({
    message: "query parameter '$apply' cannot be used together with '$nextToken'",
  });
});
