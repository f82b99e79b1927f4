import { randomUUID } from 'node:crypto';
import { FACES, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { productModel } from './product.model.js';
import type { Product } from './products.schemas.js';

const app = fixture(startTestServer);
let admin: Person;
beforeAll(async () => {
  admin = await app.signUpAdmin();
});
beforeEach(async () => {
  await app.storage.model(productModel).collection.deleteMany({});
});

const create = (name: string, description = '') => admin.rest('POST', '/products', { name, description }).expect<Product>(201);
const createAll = (products: { name: string; description: string }[]) =>
  admin.rest('POST', '/products/batch', products).expect<Product[]>(201);
type Slice = { value: Product[]; total: number; nextToken?: string };
const ask = (query: Record<string, unknown>) =>
  admin.call('rest', 'products.list', { $top: 100, ...query }) as Promise<{ ok: true; value: Slice }>;
async function namesOf(query: Record<string, unknown>): Promise<string[]> {
  const { value } = await ask(query);
  expect(value.total).toBe(value.value.length);
  return value.value.map(({ name }) => name);
}

describe.each(FACES)('$search over %s', (face) => {
  const found = async (query: object) => {
    const answer = (await admin.call(face, 'products.list', { ...query })) as { value: { data: Product[] } };
    return answer.value.data.map(({ name }) => name);
  };

  it('finds the beginnings of words, and parts from three letters, from two without spaces', async () => {
    for (const name of ['Mountain Bicycle', 'Rye loaf', '大学生協', 'パン屋']) await create(name);
    for (const $search of ['bicycle', 'BICY', 'm b', 'ountain bicycle', 'tai', 'mountain, bicycle!'])
      expect(await found({ $search }), $search).toEqual(['Mountain Bicycle']);
    for (const $search of ['学生', '大学', '生協']) expect(await found({ $search }), $search).toEqual(['大学生協']);
    expect(await found({ $search: 'ﾊﾟﾝ' })).toEqual(['パン屋']);
    for (const $search of ['ai', 'bicycles', 'mountain rye', '学大', 'ハン'])
      expect(await found({ $search }), $search).toEqual([]);
  });

  it('puts whole words first, then beginnings, and names before descriptions', async () => {
    await create('Crossbar', 'a grand tour');
    await create('Detour', '');
    await create('Plain', 'the touring kind');
    await create('Tourist map', '');
    await create('Grand tour', '');
    await create('Contour', 'tour tour');
    expect(await found({ $search: 'tour' })).toEqual(['Grand tour', 'Contour', 'Crossbar', 'Tourist map', 'Plain', 'Detour']);
    expect(await found({ $search: 'grand tour' })).toEqual(['Grand tour', 'Crossbar']);
    expect(await found({ $search: 'tour', $orderby: 'name' })).toEqual(['Contour', 'Crossbar', 'Detour', 'Grand tour', 'Plain', 'Tourist map']); // prettier-ignore
    expect(await found({ $search: 'tour', $filter: "startswith(name, 'C')" })).toEqual(['Contour', 'Crossbar']);
    const counted = await admin.call(face, 'products.list', { $search: 'tour', $apply: 'aggregate($count as n)' });
    expect(counted).toMatchObject({ value: { value: [{ n: 6 }] } });
  });

  it('is refused without a letter or digit, too short, too long, and of too many words', async () => {
    for (const [$search, problem] of [
      ['a', 'must NOT have fewer than 2 characters'],
      ['x'.repeat(201), 'must NOT have more than 200 characters'],
      ['--', 'must have a letter or digit'],
      ['a b c d e f g h i j k', 'must NOT have more than 10 words'],
    ] as const) {
      const refused = (await admin.call(face, 'products.list', { $search })) as { status: number; data: string[] };
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused)).toContain(problem);
    }
    expect(await admin.call(face, 'notifications.list', { identityId: admin.id, $search: 'tour' })).toMatchObject({
      status: 400,
    });
  });
});

it('what finds a product changes with it, in every way to write it', async () => {
  const [one, other] = await createAll([
    { name: 'Alder', description: 'wood' },
    { name: 'Birch', description: 'wood' },
  ]);
  const ids = [one?.id ?? '', other?.id ?? ''];
  expect(await namesOf({ $search: 'wood' })).toEqual(['Birch', 'Alder']);
  await admin.rest('PATCH', `/products/${ids[0]}`, { name: 'Cedar' }).expect(200);
  expect(await namesOf({ $search: 'alder' })).toEqual([]);
  expect(await namesOf({ $search: 'cedar wood' })).toEqual(['Cedar']);
  await admin.rest('PATCH', '/products/batch', { ids, data: { description: 'timber' } }).expect(200);
  expect(await namesOf({ $search: 'wood' })).toEqual([]);
  expect(await namesOf({ $search: 'timber' })).toEqual(['Birch', 'Cedar']);
  await admin.rest('POST', `/products/${ids[0]}/copy`).expect(201);
  expect(await namesOf({ $search: 'cedar' })).toEqual(['Cedar', 'Cedar']);
  await admin.rest('DELETE', `/products/${ids[1]}`).expect(204);
  expect(await namesOf({ $search: 'birch' })).toEqual([]);
  await admin.rest('POST', `/products/${ids[1]}/restore`).expect(200);
  expect(await namesOf({ $search: 'birch' })).toEqual(['Birch']);
});

it('what finds a product is never shown', async () => {
  const { id } = await create('Secretive', 'thing');
  const answers = [
    await admin.rest('GET', `/products/${id}`),
    await ask({ $search: 'secretive' }),
    await ask({ $filter: "contains(name, 'ecret')" }),
    await ask({ $apply: 'groupby((name), top(1))' }),
    await ask({ $search: 'secretive', $apply: 'top(1)' }),
  ];
  for (const answer of answers) expect(JSON.stringify(answer)).toMatch(/Secretive/);
  for (const answer of answers) expect(JSON.stringify(answer)).not.toMatch(/grams|"search"|__rank/);
  const stored = await app.storage.model(productModel).findOne({ _id: id }).lean();
  expect(Object.keys(stored ?? {})).not.toContain('search');
  for await (const line of app.storage.exportLines(() => {})) expect(line).not.toContain('grams');
  expect(await admin.rest('GET', '/products?$filter=search%20ne%20null')).toMatchObject({ status: 400 });
});

it('pages by token are one list, also where more are found than are ranked', async () => {
  const collection = app.storage.model(productModel).collection;
  const now = new Date();
  const rows = Array.from({ length: 1130 }, (_, n) => ({ _id: randomUUID(), name: n % 3 ? `Common ${n}` : `Commoner ${n}`, description: '', createdAt: now, updatedAt: now, deletedAt: null })); // prettier-ignore
  await collection.insertMany(rows as never[]);
  const { value: first } = await ask({ $search: 'common' });
  expect(first.value).toHaveLength(100);
  expect(first.value.every(({ name }) => name.startsWith('Common '))).toBe(true);
  for (const [$search, all] of [
    ['common', 1130],
    ['commoner', 377],
  ] as const) {
    // prettier-ignore
    const names: string[] = [];
    for (let token: string | undefined = ''; token !== undefined;) {
      const { value } = await ask({ $search, ...(token !== '' && { $nextToken: token }) });
      expect(value.total).toBe(all);
      names.push(...value.value.map(({ name }) => name));
      token = value.nextToken;
    }
    expect(new Set(names).size).toBe(all);
    expect(names).toHaveLength(all);
  }
  const few = await ask({ $search: 'common', $select: 'name', $top: 2 });
  expect(few.value.value.map((row) => Object.keys(row).sort())).toEqual([['id', 'name'], ['id', 'name']]); // prettier-ignore
  const more = await ask({ $search: 'common', $select: 'name', $nextToken: few.value.nextToken });
  expect(more.value.value.map(({ name }) => name).slice(0, 98)).toEqual(first.value.slice(2).map(({ name }) => name));
  const other = await ask({ $search: 'common', $top: 2 });
  expect(await ask({ $search: 'commoner', $nextToken: other.value.nextToken })).toMatchObject({ status: 400 });
});

/** Texts of four scripts, always the same. */
function texts(count: number): string[] {
  const words = 'rye Loaf größer Straße Émile café mountain Bicycle ночь Новый ёлка ΟΔΟΣ δρόμος Ὀδός 東京 大学生協 パン カタカナ とうきょう 2kg C++ a.b*c'.split(' '); // prettier-ignore
  let seed = 7;
  const next = (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * limit);
  };
  return Array.from({ length: count }, () => Array.from({ length: 1 + next(3) }, () => words[next(words.length)]).join([' ', '-', ''][next(3)])); // prettier-ignore
}

it('contains by the index finds what every text that contains it holds, in four scripts', async () => {
  const all = texts(300);
  for (let n = 0; n < 300; n += 100)
    await createAll(all.slice(n, n + 100).map((name, at) => ({ name, description: all[299 - n - at] ?? '' })));
  let seed = 1;
  for (const text of all.slice(0, 60)) {
    seed += 3;
    const letters = Array.from(text);
    const part = letters.slice(seed % letters.length, (seed % letters.length) + 1 + (seed % 4)).join('');
    const quoted = `'${part.replaceAll("'", "''")}'`;
    const { value } = await ask({ $filter: `contains(name, ${quoted})`, $top: 0 });
    expect(value.total, part).toBe(all.filter((one) => one.includes(part)).length);
    const lower = part.toLowerCase().replaceAll('ς', 'σ');
    const lowered = await ask({ $filter: `contains(tolower(name), '${lower}')`, $top: 0 });
    expect(lowered.value.total, part).toBe(all.filter((one) => Array.from(one).map((letter) => letter.toLowerCase()).join('').includes(lower)).length); // prettier-ignore
  }
});

it('long texts are found by all of their words, though the index holds a part of them', async () => {
  const long = Array.from({ length: 900 }, (_, n) => `${n.toString(36)}zq${n}`).join(' ');
  const bread = await create('Bread', `${long} sourdough`);
  await create('Cake', long);
  const stored = await app.storage
    .model(productModel)
    .collection.findOne({ _id: bread.id } as object, { projection: { search: 1 } });
  const { grams } = (stored as unknown as { search: { description: { grams: string[] } } }).search.description;
  expect(grams.length).toBeLessThan(1100);
  expect(grams.filter((gram) => 'sourdough'.startsWith(gram.trimStart()))).toEqual([]);
  for (const $search of ['sourdough', 'sour', 'dough', 'bread sourdough'])
    expect(await namesOf({ $search }), $search).toEqual(['Bread']);
  expect(await namesOf({ $filter: "contains(description, 'sourdough')" })).toEqual(['Bread']);
  expect(await namesOf({ $search: 'rye' })).toEqual([]);
});

it('rows that lack what finds them are completed', async () => {
  const Products = app.storage.model(productModel);
  const row = { description: null, createdAt: new Date(), updatedAt: new Date(), deletedAt: null };
  const raw = Products.db.getClient().db(Products.db.name).collection('products');
  await raw.insertMany(Array.from({ length: 700 }, (_, n) => ({ _id: randomUUID(), name: `Legacy ${n}`, ...row })) as never[]);
  expect((await ask({ $search: 'legacy' })).value.total).toBe(0);
  expect((await app.storage.fillSearch()).get('products')).toBe(700);
  expect((await app.storage.fillSearch()).get('products')).toBe(0);
  expect((await ask({ $search: 'legacy' })).value.total).toBe(700);
});
