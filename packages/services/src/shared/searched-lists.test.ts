import { operationsOf } from '@tandem/core';
import { createLists, resourceOfInput, type SearchDriver } from '@tandem/lists';
import { FACES, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { openChannel, say } from '../../test/chat-world.js';
import { z } from 'zod';
import { EVERY_LIST, fillEveryList } from '../../test/every-list.js';
import { categoryList } from '../categories/categories.schemas.js';
import { categoryModel, type CategoryRecord } from '../categories/category.model.js';

const SEARCHED: Record<string, string[]> = {
  attributes: ['name'],
  categories: ['name', 'description'],
  channels: ['name'],
  identities: ['email'],
  invitations: ['email'],
  locations: ['name'],
  messageTemplates: ['title', 'content'],
  messages: ['title', 'content'],
  organizations: ['name', 'description'],
  productVariants: ['title', 'sku'],
  products: ['name', 'description'],
  profiles: ['name'],
};

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ mongodbUri: app.mongodbUri, clock: app.clock }));
const world = fixture(() => fillEveryList(app, 2));

/** The searched lists of stored records, with their fields. */
const searchedLists = () =>
  operationsOf(app.tandem.router).flatMap(({ name, schema }) => {
    const resource = schema && resourceOfInput(schema);
    return resource && resource.searched.length > 0 ? [{ name, resource }] : [];
  });

it('the lists with names and texts are searched', () => {
  const found = Object.fromEntries(searchedLists().map(({ resource }) => [resource.name, resource.searched]));
  expect(found).toEqual(SEARCHED);
});

describe.each(FACES)('over %s', (face) => {
  it('each searched list finds its rows by a word of each of their fields, and shows nothing of its index', async () => {
    for (const { name, resource } of searchedLists()) {
      const { person, input } = EVERY_LIST[name as keyof typeof EVERY_LIST](world);
      const ask = async (query: object) => {
        const answer = (await person.call(face, name, { ...input, ...query })) as { value: { data: Record<string, unknown>[] } };
        expect(JSON.stringify(answer), name).not.toMatch(/"grams"|"words"|__rank/);
        return answer.value.data;
      };
      const [row] = await ask({});
      for (const field of resource.searched) {
        const [word] = (row?.[field] as string | null | undefined)?.match(/[\p{L}\p{N}]{2,}/u) ?? [];
        if (word === undefined) continue;
        for (const query of [{ $search: word.toUpperCase() }, { $filter: `contains(${field}, '${word}')` }, { $filter: `startswith(tolower(${field}), '${word.toLowerCase()}')` }]) // prettier-ignore
          expect((await ask(query)).map(({ id }) => id), `${name} ${JSON.stringify(query)}`).toContain(row?.['id']); // prettier-ignore
      }
    }
  });
});

describe('messages without a channel', () => {
  let ann: Person;
  let bob: Person;
  beforeAll(async () => {
    [ann, bob] = await Promise.all([app.signUp(), app.signUp()]);
  });
  const search = async (person: Person, query: object, server = app) => {
    const answer = await server.call('rest', 'chat.listMessages', { $search: 'walnut', ...query }, person.credentials);
    const { value } = answer as { value: { data: { content: string }[] } };
    return value.data.map(({ content }) => content).sort();
  };

  it('are searched in the channels of the caller, and of no other', async () => {
    const [shared, own, foreign] = [await openChannel(ann, [bob]), await openChannel(ann), await openChannel(bob)];
    await say(ann, shared.id, 'a walnut table');
    await say(ann, own.id, 'Walnuts');
    await say(bob, foreign.id, 'walnut bread');
    expect(await search(ann, {})).toEqual(['Walnuts', 'a walnut table']);
    expect(await search(bob, {})).toEqual(['a walnut table', 'walnut bread']);
    expect(await search(ann, { channelId: shared.id })).toEqual(['a walnut table']);
    expect(await ann.call('rest', 'chat.listMessages', { $search: 'walnut', channelId: foreign.id })).toMatchObject({ status: 403 }); // prettier-ignore
    expect(await ann.call('rest', 'chat.listMessages', {})).toMatchObject({ status: 403 });
    const refused = await ann.rest('GET', '/messages?$search=walnut&$apply=top(1)');
    expect(refused.body).toEqual({ error: { message: 'Validation Error', data: ["query parameter '$apply' cannot be used without 'channelId'"] } }); // prettier-ignore
  });

  it('of a channel that was left are found no more, on any instance', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    await say(ann, channelId, 'walnut farewell');
    for (const server of [app, other]) expect(await search(bob, {}, server)).toContain('walnut farewell');
    const { value } = (await bob.call('rest', 'chat.listSubscriptions', { channelId, subscribedId: bob.id })) as { value: { data: { id: string }[] } }; // prettier-ignore
    await bob.rest('DELETE', `/subscriptions/${value.data[0]?.id}`).expect(204);
    for (const server of [app, other]) expect(await search(bob, {}, server)).not.toContain('walnut farewell');
  });
});

it('another service takes the place of the built-in search: its rows, in its order, within the conditions of the list', async () => {
  const admin = await app.signUpAdmin();
  const create = async (name: string) =>
    (await admin.rest('POST', '/categories', { name, description: '' }).expect<{ id: string }>(201)).id;
  const [first, second, third] = [await create('One'), await create('Two'), await create('Three')];
  const ids = [second, third, first];
  const asked: unknown[] = [];
  const search: SearchDriver = {
    find(question) {
      asked.push(question);
      return { filter: { _id: { $in: ids } }, rank: { $indexOfArray: [ids, '$_id'] } };
    },
  };
  const lists = createLists({ storage: app.storage, cursorSecrets: [new Uint8Array(32)], log: SILENT, search });
  const found = await lists.answer<CategoryRecord, { id: string }>(
    { ...categoryList, row: z.object({ id: z.string() }) },
    app.storage.model(categoryModel),
    { show: ({ _id }) => ({ id: _id }) },
    { $search: 'anything', $filter: "name ne 'Three'" },
  );
  expect(found).toMatchObject({ data: [{ id: second }, { id: first }] });
  expect(asked).toEqual([{ collection: 'categories', fields: ['name', 'description'], text: 'anything' }]);
});
