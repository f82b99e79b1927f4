import { TRACE, openStorage } from '@tandem/storage';
import { FACES, TEST_SECRETS, databaseOf, fixture, startTestServer, type Face } from '@tandem/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EXTENDABLE, createHostFields } from '../host-fields.js';
import { productModel } from '../products/product.model.js';
import { ProductSchema, createProductInput, productInput, productPatchInput } from '../products/products.schemas.js';
import { createTandem } from '../tandem.js';

const products = z.object({
  gtin: z.string().regex(/^\d+$/).max(14).optional().describe('The number of the article.'),
  rank: z.number().int().default(7),
  isVegan: z.boolean().nullable().optional(),
  season: z.enum(['winter', 'summer']).optional(),
  marks: z.array(z.string()).optional(),
});
const app = fixture(() => startTestServer({ code: { fields: { products } } }));
const admin = fixture(() => app.signUpAdmin());

type Input = Record<string, unknown>;
type Shown = { id: string } & Input;
const none = { gtin: null, isVegan: null, season: null, marks: null };
const base = { name: 'Tea', description: '' };

describe.each(FACES)('over %s, fields that a host declares', (face: Face) => {
  const call = (procedure: string, input: Input) => admin.call(face, `products.${procedure}`, input);
  async function valueOf<Value = Shown>(procedure: string, input: Input): Promise<Value> {
    const outcome = await call(procedure, input);
    expect(outcome, procedure).toEqual({ ok: true, value: expect.anything() as unknown });
    return (outcome as { value: Value }).value;
  }
  const rows = async (query: Input) =>
    (await valueOf<{ data: Shown[] }>('list', query)).data.map(({ gtin, rank }) => [gtin, rank]);

  it('are stored, shown, changed, cleared and copied with their records', async () => {
    expect(await valueOf('create', base)).toMatchObject({ ...base, ...none, rank: 7 });
    const given = { gtin: '4711', rank: 1, isVegan: true, season: 'winter', marks: ['$a', 'b'] };
    const { id: productId } = await valueOf('create', { ...base, ...given });
    expect(await valueOf('get', { productId })).toMatchObject(given);
    expect(await valueOf('patch', { productId, gtin: null, rank: 2 })).toMatchObject({ ...given, gtin: null, rank: 2 });
    expect(await valueOf('patch', { productId, name: 'Green tea' })).toMatchObject({ ...given, gtin: null, rank: 2 });
    expect(await valueOf('copy', { productId })).toMatchObject({ ...given, gtin: null, rank: 2 });
    expect(await valueOf('createMany', { products: [{ ...base, gtin: '1' }, base] })).toMatchObject([{ gtin: '1' }, none]);
    const changed = await valueOf<Shown[]>('patchMany', { ids: [productId], data: { season: 'summer' } });
    expect(changed).toMatchObject([{ ...given, gtin: null, rank: 2, season: 'summer' }]);
  });

  it('keep what is changed at once', async () => {
    const { id: productId } = await valueOf('create', base);
    const changes = [{ gtin: '1' }, { rank: 3 }, { isVegan: false }, { season: 'winter' }, { metadata: { a: 1 } }];
    await Promise.all(changes.map((change) => valueOf('patch', { productId, ...change })));
    expect(await valueOf('get', { productId })).toMatchObject(Object.assign({}, ...changes) as object);
  });

  it('are validated at creation and in changes', async () => {
    const { id: productId } = await valueOf('create', base);
    const wrong = { gtin: 'x', rank: 1.5, isVegan: 'yes', season: 'spring', unknown: 1 };
    for (const [name, value] of Object.entries(wrong)) {
      for (const [procedure, input] of [
        ['create', { ...base, [name]: value }],
        ['patch', { productId, [name]: value }],
        ['createMany', { products: [{ ...base, [name]: value }] }],
        ['patchMany', { ids: [productId], data: { [name]: value } }],
      ] as const) {
        const outcome = await call(procedure, input);
        expect(outcome).toMatchObject({ ok: false, status: 400, message: 'Validation Error' });
        expect((outcome as { data: string[] }).data.join()).toContain(name);
      }
    }
    expect(await call('create', { ...base, gtin: 'x' })).toMatchObject({
      data: ['request body/gtin must match pattern "/^\\d+$/"'],
    });
  });

  it('are asked for in lists: $filter, $orderby, $select and $apply', async () => {
    const mark = crypto.randomUUID();
    const marks = [mark];
    for (const [gtin, rank] of [
      ['1', 30],
      ['2', 20],
      ['3', 10],
    ])
      await valueOf('create', { ...base, gtin, rank, marks });
    const $filter = `marks eq '${mark}'`;
    expect(await rows({ $filter: `${$filter} and gtin ge '2'`, $orderby: 'gtin' })).toEqual([
      ['2', 20],
      ['3', 10],
    ]);
    expect(await rows({ $filter: `${$filter} and rank gt 15`, $orderby: 'rank asc' })).toEqual([
      ['2', 20],
      ['1', 30],
    ]);
    const selected = await valueOf<{ data: Shown[] }>('list', { $filter, $orderby: 'rank', $select: 'gtin' });
    expect(selected.data).toEqual(['3', '2', '1'].map((gtin) => ({ id: expect.any(String) as string, gtin })));
    const sum = await valueOf<object>('list', { $apply: `filter(${$filter}) then aggregate(rank with sum as all)` });
    expect(sum).toMatchObject({ value: [{ all: 60 }] });
    const walked: unknown[] = [];
    for (let $nextToken: string | undefined, n = 0; n < 4 && (n === 0 || $nextToken !== undefined); n++) {
      const more = { $filter, $orderby: 'rank desc', $top: 1, ...($nextToken !== undefined && { $nextToken }) };
      const page = await valueOf<{ value: Shown[]; nextToken?: string }>('list', more);
      walked.push(...page.value.map(({ rank }) => rank));
      $nextToken = page.nextToken;
    }
    expect(walked).toEqual([30, 20, 10]);
    expect(await call('list', { $filter: 'gtin eq 5' })).toMatchObject({ ok: false, status: 400 });
    expect(await call('list', { $filter: 'hostFields.gtin eq 5' })).toMatchObject({ ok: false, status: 400 });
    const [one] = selected.data;
    expect(await valueOf('get', { productId: one?.id, $select: 'gtin' })).toEqual(one);
  });
});

it('indexes serve their filters and orders', async () => {
  const { collection } = app.storage.model(productModel);
  const planOf = async (filter: object, sort?: Record<string, 1 | -1>) => {
    const found = collection.find({ ...filter, deletedAt: null } as object);
    return JSON.stringify(await (sort ? found.sort(sort) : found).explain('queryPlanner'));
  };
  expect(await planOf({ 'hostFields.gtin': { $eq: '1' } })).toContain('"indexName":"hostFields.gtin_');
  const plan = await planOf({}, { 'hostFields.rank': -1, _id: 1 });
  expect(plan).toContain('"indexName":"hostFields.rank_');
  expect(plan).not.toContain('"stage":"SORT"');
});

it('what storage kept before a field was declared is shown with null', async () => {
  const { collection } = app.storage.model(productModel);
  const id = crypto.randomUUID();
  const times = { createdAt: new Date(), updatedAt: new Date(), deletedAt: null };
  await collection.insertOne({ _id: id, ...base, ...times } as never);
  expect(await admin.call('rest', 'products.get', { productId: id })).toMatchObject({ value: { ...none, rank: null } });
});

it('the document of a server describes them, that of another does not', async () => {
  await using other = await startTestServer();
  const [mine, theirs] = await Promise.all(
    [app, other].map(async (server) => JSON.stringify(await (await fetch(`${server.url}/openapi.json`)).json())),
  );
  expect(mine).toContain('The number of the article.');
  expect(theirs).not.toContain('gtin');
  const person = await other.signUpAdmin();
  expect(await person.call('rest', 'products.create', { ...base, gtin: '1' })).toMatchObject({ ok: false, status: 400 });
});

it('null clears what may be left out alone, and each input has the text of a field', () => {
  const fields = z.object({ weight: z.number(), gtin: z.string().optional().describe('The number.') });
  const { schema } = createHostFields({ products: fields }, { addIndexes() {} });
  const accepts = (change: object) => schema(productPatchInput).safeParse({ productId: crypto.randomUUID(), ...change }).success;
  expect([{ gtin: null }, { weight: 1 }, { weight: null }].map(accepts)).toEqual([true, true, false]);
  for (const one of [createProductInput, productPatchInput, ProductSchema])
    expect(JSON.stringify(z.toJSONSchema(schema(one), { io: 'input', unrepresentable: 'any' }))).toContain('The number.');
  expect(schema(productInput)).toBe(productInput);
});

describe('a server does not start', () => {
  const opened = openStorage({ uri: databaseOf('host_fields') });
  afterAll(async () => (await opened).close());

  it.each<[string, object, string]>([
    ['of a service that has none', { auth: z.object({}) }, 'fields: "auth" has no records that fields can be added to'],
    ['that are no object', { products: z.string() }, 'fields.products must be a z.object(…)'],
    [
      'with rules over several of them',
      { products: z.object({ a: z.string() }).refine(() => true) },
      'fields.products: rules over several fields cannot be kept, because a change gives some of them',
    ],
    [
      'with a name that is taken',
      { products: z.object({ price: z.string() }) },
      'fields.products.price: there already is a field',
    ],
    ['with the name of a relation', { products: z.object({ organization: z.string() }) }, 'fields.products.organization: there'],
    ['with the name of a parameter', { products: z.object({ limit: z.string() }) }, 'fields.products.limit: there already is'],
    ['with a name of a path', { products: z.object({ 'a.b': z.string() }) }, 'fields.products.a.b: a name has up to 40 letters'],
    ['with a name of every object', { products: z.object({ valueOf: z.string() }) }, 'fields.products.valueOf: a name has'],
    ['of a type that cannot be stored', { products: z.object({ at: z.date() }) }, 'fields.products.at: a date can be neither'],
    ['of numbers in an enum', { products: z.object({ a: z.enum({ low: 1, high: 2 }) }) }, 'fields.products.a: an enum must have'],
    ['of lists of them', { products: z.object({ a: z.array(z.enum({ no: 'no', low: 1 })) }) }, 'fields.products.a: an enum must'],
    ['of objects', { products: z.object({ a: z.object({}).optional() }) }, 'fields.products.a: a object can be neither'],
    ['of lists of lists', { products: z.object({ a: z.array(z.array(z.string())) }) }, 'fields.products.a: a array can be'],
  ])('with fields %s', async (_, fields, problem) => {
    const storage = await opened;
    await expect(createTandem({ storage, authSecrets: TEST_SECRETS, fields })).rejects.toThrow(problem);
  });

  it.each(Object.entries(EXTENDABLE))(
    'with fields of %s named like what their records store',
    async (kind, { model, resource }) => {
      const storage = await opened;
      const internal = resource.hidden.filter((path) => path !== '__v');
      for (const name of [...Object.keys(model.fields), ...internal, TRACE, 'createdAt']) {
        const fields = { [kind]: z.object({ [name]: z.string().optional() }) };
        const problem = `fields.${kind}.${name}: there already is a field`;
        await expect(createTandem({ storage, authSecrets: TEST_SECRETS, fields }), name).rejects.toThrow(problem);
      }
    },
  );
});
