import { randomUUID } from 'node:crypto';
import type { OpenApiDocument } from '@tandem/core';
import {
  FACES,
  PATIENCE,
  describedOperations,
  failing,
  fixture,
  openStream,
  resolveSchema,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
} from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { openChannel, say, valueOf } from '../../test/chat-world.js';
import { EVERY_LIST, fillEveryList } from '../../test/every-list.js';
import { makeRecord, namesOf, recordKinds, type Input, type RecordKind } from '../../test/record-kinds.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
let admin: Person;
let ann: Person;
beforeAll(async () => {
  [admin, ann] = await Promise.all([app.signUpAdmin(), app.signUp()]);
});

const STALE = failing(412, 'Precondition Failed');
const KINDS = ['categories', 'channels', 'identities', 'locations', 'messages', 'orders', 'organizations', 'products', 'productVariants', 'profiles'] as const; // prettier-ignore

/** Records without metadata. */
const OTHERS = ['webhooks', 'reports'] as const;
const otherKinds = (): Record<(typeof OTHERS)[number], RecordKind> => ({
  webhooks: {
    person: admin,
    procedures: namesOf((verb) => `webhooks.${verb}`),
    id: 'webhookId',
    input: () => ({ url: 'https://receiver.invalid/hook', types: ['order.*'] }),
    other: { description: 'Stock' },
  },
  reports: {
    person: admin,
    procedures: namesOf((verb) => `chat.${verb}Report`),
    id: 'reportId',
    input: async () => ({ messageId: (await say(admin, (await openChannel(admin)).id, 'Tea?')).id, reason: 'rude' }),
    other: { status: 'resolved' },
  },
});

/** A call with one more header. */
function callWith(
  face: Face,
  person: Person,
  headers: Record<string, string>,
  procedure: string,
  input: Input,
): Promise<Outcome> {
  return app.call(face, procedure, input, { ...person.credentials, headers });
}

/** The path of a record's own read. */
function pathOf({ procedures }: RecordKind, named: Input, id: string): string {
  const [service = '', verb = ''] = procedures.get.split('.');
  if (service === 'productVariants') return `/products/${String(named['productId'])}/variants/${id}`;
  return service === 'chat' ? `/${verb.replace('get', '').toLowerCase()}s/${id}` : `/${service}/${id}`;
}

async function tagOf(path: string, person: Person, headers: Record<string, string> = {}) {
  const answer = await app.rest('GET', path, undefined, { ...person.credentials, headers });
  return { status: answer.status, tag: answer.headers.get('etag') ?? '', body: answer.body };
}

describe.each([...KINDS, ...OTHERS])('a record of %s', (name) => {
  const kindOf = (): RecordKind => ({ ...recordKinds(app, admin, ann), ...otherKinds() })[name];

  it('has a tag of id and version, by which a read is 304 until it has changed', async () => {
    const kind = kindOf();
    const { record, named } = await makeRecord('rest', kind);
    const path = pathOf(kind, named, record.id);
    const first = await tagOf(path, kind.person);
    expect(first.tag).toMatch(new RegExp(`^"${record.id}\\.\\d+"$`));
    expect((await tagOf(`${path}?$select=createdAt`, admin)).tag).toBe(first.tag);
    expect(await tagOf(path, kind.person, { 'if-none-match': `"x", ${first.tag}` })).toMatchObject({
      status: 304,
      body: undefined,
    });
    valueOf(await kind.person.call('rest', kind.procedures.patch, { ...named, ...kind.other }));
    const second = await tagOf(path, kind.person, { 'if-none-match': first.tag });
    expect(second.status).toBe(200);
    expect(second.tag).not.toBe(first.tag);
  });

  it.skipIf(OTHERS.some((one) => one === name))('is restored with the tag that a read of it has', async () => {
    const kind = kindOf();
    const { record, named } = await makeRecord('rest', kind);
    const path = pathOf(kind, named, record.id);
    valueOf(await admin.call('rest', kind.procedures.delete, named));
    const restored = await app.rest('POST', `${path}/restore`, undefined, admin.credentials);
    expect(restored.status).toBe(200);
    expect(restored.headers.get('etag')).toBe((await tagOf(path, kind.person)).tag);
  });

  describe.each(FACES)('over %s', (face) => {
    /** Makes a record; resolves to it, and to what calls a procedure with a version. */
    async function one(verb: 'patch' | 'delete', caller?: Person) {
      const kind = kindOf();
      const { record, named } = await makeRecord(face, kind);
      const read = () => tagOf(pathOf(kind, named, record.id), kind.person);
      const input = verb === 'patch' ? { ...named, ...kind.other } : named;
      const call = (match: string) => callWith(face, caller ?? kind.person, { 'if-match': match }, kind.procedures[verb], input);
      const before = await read();
      for (const wrong of [`"${record.id}.99"`, `W/${before.tag}`, '"another.1"', 'x'])
        expect(await call(wrong), wrong).toEqual(STALE);
      expect(await read()).toEqual(before);
      return { tag: before.tag, call };
    }

    it('is changed only in the version that If-Match names', async () => {
      const { tag, call } = await one('patch');
      expect(await call(`"other.1", ${tag}`)).toMatchObject({ ok: true });
      expect(await call(tag)).toEqual(STALE);
    });

    it.skipIf(name === 'reports')('is deleted only in that version', async () => {
      const { tag, call } = await one('delete', admin);
      expect(await call(tag)).toMatchObject({ ok: true });
    });
  });
});

it.each(FACES)('every operation over %s that documents If-Match changes nothing in another version', async (face) => {
  const world = await fillEveryList(app, 1);
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
  const operations = describedOperations(document);
  const conditional = operations.filter(({ parameters }) => parameters.some(({ name }) => name === 'If-Match'));
  expect(conditional.length).toBeGreaterThan(30);
  for (const { name, path, parameters, body } of conditional) {
    // the newest of the list in which the record is
    const [, place = '', id = ''] = /^(.*)\/\{(\w+)\}/.exec(path) ?? [];
    const list = operations.find((one) => one.method === 'get' && place.endsWith(one.path))?.name as keyof typeof EVERY_LIST;
    const { person, input: within = {} } = EVERY_LIST[list](world);
    const rows = async () => (valueOf(await person.call('rest', list, within)) as { data: Input[] }).data;
    const before = await rows();
    const row = before[0] as Input;
    const inPath = Object.keys(within).filter((key) => parameters.some((one) => one.name === key && one.in === 'path'));
    // a field as it is: also this would be a change
    const field = Object.keys(resolveSchema(document, body ?? {}).properties ?? {}).find((key) => typeof row[key] === 'string');
    const input = Object.fromEntries([
      ...inPath.map((key) => [key, within[key]]),
      [id, row['id']],
      ...(field === undefined ? [] : [[field, row[field]]]),
    ]) as Input;
    const as = (caller: Person) => callWith(face, caller, { 'if-match': `"${String(row['id'])}.99"` }, name, input);
    // some are for the person alone, some for admins
    expect([await as(person), await as(admin)], name).toContainEqual(STALE);
    expect(await rows(), name).toEqual(before);
  }
});

describe('If-Match', () => {
  it('lets one of a hundred writers win, on two instances', async () => {
    const { id } = await admin.rest('POST', '/categories', { name: 'Tea', description: '' }).expect<{ id: string }>(201);
    const headers = { 'if-match': `"${id}.1"` };
    const statuses = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const server = n % 2 === 0 ? app : other;
        return (await server.rest('PATCH', `/categories/${id}`, { name: `${n}` }, { ...admin.credentials, headers })).status;
      }),
    );
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, ...Array.from({ length: 99 }, () => 412)]);
  });

  it('lets one of ten moves of a tree win, and leaves nothing that another finishes', async () => {
    const make = (name: string) => admin.rest('POST', '/locations', { name, code: '', type: 'CITY' }).expect<{ id: string }>(201);
    const [{ id }, above] = [await make('a'), await make('b')];
    const headers = { 'if-match': `"${id}.1"` };
    const parents = Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? above.id : null));
    const answers = await Promise.all(
      parents.map((parentId, n) =>
        (n % 2 === 0 ? app : other).rest(
          'PATCH',
          `/locations/${id}`,
          { parentId, name: `${n}` },
          { ...admin.credentials, headers },
        ),
      ),
    );
    const [won, ...more] = answers.filter(({ status }) => status === 200);
    expect(more).toEqual([]);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(9);
    await make('c');
    expect(await admin.rest('GET', `/locations/${id}`).expect(200)).toEqual(won?.body);
  });

  it('is checked after rules and validation, and a missing record stays 404', async () => {
    const channel = await openChannel(ann);
    const stranger = await app.signUp();
    const headers = { 'if-match': '"x.1"' };
    const patch = (body: object, person: Person, id: string = channel.id) =>
      app.rest('PATCH', `/channels/${id}`, body, { ...person.credentials, headers });
    await patch({ name: 'x' }, stranger).expect(403);
    await patch({ name: 5 }, ann).expect(400);
    await patch({ name: 'x' }, ann).expect(412, 'Precondition Failed');
    await patch({ name: 'x' }, admin, randomUUID()).expect(404);
  });

  it('of any tag is met by any version', async () => {
    const channel = await openChannel(ann);
    const headers = { 'if-match': '*' };
    await app.rest('PATCH', `/channels/${channel.id}`, { name: 'x' }, { ...ann.credentials, headers }).expect(200);
  });

  it('names one record: the version of another is no version of this one', async () => {
    const [channel, another] = [await openChannel(ann), await openChannel(ann)];
    const { tag } = await tagOf(`/channels/${channel.id}`, ann);
    const headers = { 'if-match': tag.replace(channel.id, another.id) };
    expect(await callWith('rest', ann, headers, 'chat.patchChannel', { channelId: channel.id, name: 'x' })).toEqual(STALE);
  });

  it('says nothing of the calls of a batch', async () => {
    const [one, two] = [await openChannel(ann), await openChannel(ann)];
    const calls = [one, two].map(({ id }, at) => [at, { channelId: id, name: 'Renamed' }] as const);
    const answer = await fetch(`${app.url}/trpc/chat.patchChannel,chat.patchChannel?batch=1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.accessToken}`, 'content-type': 'application/json', 'if-match': `"${one.id}.9"` },
      body: JSON.stringify(Object.fromEntries(calls)),
    });
    expect(await answer.json()).toMatchObject([one, two].map(({ id }) => ({ result: { data: { id, name: 'Renamed' } } })));
  });

  it('says nothing of the calls of a socket', async () => {
    const { id } = await admin.rest('POST', '/categories', { name: 'Tea', description: '' }).expect<{ id: string }>(201);
    await using stream = await openStream(app.url, '/trpc', { ...admin.credentials, headers: { 'if-match': '"x.1"' } });
    stream.send({ id: 1, method: 'mutation', params: { path: 'categories.patch', input: { categoryId: id, name: 'Rye' } } });
    await expect.poll(() => stream.frames, PATIENCE).toMatchObject([{ id: 1, result: { data: { id, name: 'Rye' } } }]);
  });

  it('moves an order only in the state that the caller knows', async () => {
    const { record, named } = await makeRecord('rest', recordKinds(app, admin, ann).orders);
    const cancel = (match: string) => callWith('rest', admin, { 'if-match': match }, 'orders.cancel', named);
    valueOf(await admin.call('rest', 'orders.patch', { ...named, status: 'confirmed' }));
    expect(await cancel(`"${record.id}.1"`)).toEqual(STALE);
    expect(await cancel(`"${record.id}.2"`)).toMatchObject({ ok: true, value: { status: 'cancelled' } });
  });
});

it('an answer to a creation or a change has the tag that the next read has', async () => {
  for (const kind of Object.values(recordKinds(app, admin, ann)) as RecordKind[]) {
    if (kind.procedures.create.endsWith('.patch')) continue;
    const input = await kind.input('rest');
    const created = await restOf(kind.procedures.create, input, kind.person);
    const { id } = created.body as { id: string };
    const named = { ...kind.within?.(input), [kind.id]: id };
    const path = pathOf(kind, named, id);
    expect(created.headers.get('etag'), kind.procedures.create).toBe((await tagOf(path, kind.person)).tag);
    const changed = await restOf(kind.procedures.patch, { ...named, ...kind.other }, kind.person);
    expect(changed.headers.get('etag'), kind.procedures.patch).toBe((await tagOf(path, kind.person)).tag);
  }
});

/** The REST answer of a procedure, with its headers. */
async function restOf(procedure: string, input: Input, person: Person) {
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  for (const [template, methods] of Object.entries(document.paths))
    for (const [method, { operationId }] of Object.entries(methods)) {
      if (operationId !== procedure) continue;
      const path = template.replace(/\{(\w+)\}/g, (_, key: string) => String(input[key]));
      const body = Object.fromEntries(Object.entries(input).filter(([key]) => !template.includes(`{${key}}`)));
      const answer = await person.rest(method.toUpperCase(), path, body);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
      return answer;
    }
  throw new Error(procedure);
}
