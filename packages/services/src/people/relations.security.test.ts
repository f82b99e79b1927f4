import { operationsOf } from '@tandem/core';
import { resourceOfInput, type Relations } from '@tandem/lists';
import { fixture, startTestServer, type Outcome, type Person as Caller } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel, say, subscribe, valueOf } from '../../test/chat-world.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import { SERVICES } from '../router.js';

/** Reads of related records alone: the path of the procedure, and the name of its id. */
const OWN_READS: Record<string, [procedure: string, id: string]> = {
  person: ['people.get', 'identityId'],
  organization: ['organizations.get', 'organizationId'],
  channel: ['chat.getChannel', 'channelId'],
  product: ['products.get', 'productId'],
  category: ['categories.get', 'categoryId'],
  attribute: ['attributes.get', 'attributeId'],
  location: ['locations.get', 'locationId'],
};
const LISTS = SERVICES.flatMap(({ name, lists }) =>
  Object.entries<{ relations: Relations }>(lists).map(([list, { relations }]) => ({ procedure: `${name}.${list}`, relations })),
).filter(({ relations }) => Object.keys(relations).length > 0);
/** Reads of one record that show related records too: the list that has such records, and the name of the id. */
const READS: Record<string, [list: string, id: string]> = {
  'categories.get': ['categories.list', 'categoryId'],
  'chat.getChannel': ['chat.listChannels', 'channelId'],
  'chat.getMessage': ['chat.listMessages', 'messageId'],
  'chat.getMessageTemplate': ['chat.listMessageTemplates', 'messageTemplateId'],
  'chat.getReport': ['chat.listReports', 'reportId'],
  'chat.getSubscription': ['chat.listSubscriptions', 'subscriptionId'],
  'invitations.get': ['invitations.list', 'invitationId'],
  'locations.get': ['locations.list', 'locationId'],
  'orders.get': ['orders.list', 'orderId'],
  'organizations.get': ['organizations.list', 'organizationId'],
  'productVariants.get': ['productVariants.list', 'productVariantId'],
  'products.get': ['products.list', 'productId'],
  'profiles.get': ['profiles.listOfIdentity', 'profileId'],
};
type Row = Record<string, unknown>;
type Call = (procedure: string, input: Row) => Promise<Outcome>;

const app = fixture(startTestServer);
const world = fixture(async () => {
  const people = await signUpAll(app, ['admin', 'owner', 'member', 'buyer', 'gone', 'stranger'], { isVerified: true });
  const { admin, owner, member, buyer, gone, stranger } = people;
  const create = async (person: Caller, path: string, body: object) =>
    (await person.rest('POST', path, body).expect<{ id: string }>(201)).id;
  const profiles = Object.fromEntries(
    await Promise.all(
      Object.entries(people).map(async ([name, person]) => [
        name,
        await create(person, '/profiles', { identityId: person.id, name }),
      ]),
    ),
  ) as Record<keyof typeof people, string>;

  const organizationId = await createOrganization(owner, { member: [member] });
  const parentId = await createOrganization(stranger);
  await admin.rest('PUT', `/organizations/${organizationId}/parent`, { parentId }).expect(200);
  await create(owner, `/organizations/${organizationId}/change-requests`, { postalCode: '1' });
  await create(owner, '/invitations', { email: 'invited@example.net', organizationId, role: 'member' });
  await create(owner, '/message-templates', { title: 'Tea', content: 'Hello', organizationId });

  const parent = await create(admin, '/categories', { name: 'All', description: '' });
  const categoryIds = [await create(admin, '/categories', { name: 'Bread', description: '', parent })];
  const attributeIds = [await create(admin, '/attributes', { name: 'Size', items: [{ key: 'size', value: '1' }] })];
  const price = { amount: 1, currency: 'EUR' };
  const rye = { name: 'Rye', description: '', price, categoryIds, attributeIds, organizationId };
  const productId = await create(admin, '/products', rye);
  const variantId = await create(admin, `/products/${productId}/variants`, { title: 'Small', price });
  const region = await create(admin, '/locations', { name: 'Region', code: 'R', type: 'REGION' });
  await create(admin, '/locations', { name: 'City', code: 'C', type: 'CITY', parentId: region });
  await create(buyer, '/orders', { identityId: buyer.id, organizationId, items: [{ productId, variantId, quantity: 1 }] });

  const channel = await openChannel(owner, [member]);
  const { id: subscriptionId } = await subscribe(owner, channel.id, gone.id);
  const { id: messageId } = await say(owner, channel.id);
  for (const who of [gone, member]) await say(who, channel.id, 'Reply', { replyToId: messageId });
  await owner.rest('PUT', `/messages/${messageId}/pin`).expect(204);
  const { id: reportedId } = await say(member, channel.id);
  await create(owner, `/messages/${reportedId}/reports`, { reason: 'rude' });
  await create(owner, `/channels/${channel.id}/bans`, { identityId: stranger.id });
  await gone.rest('DELETE', `/subscriptions/${subscriptionId}`).expect(204);

  for (const profileId of [profiles.owner, profiles.stranger]) {
    const person = profileId === profiles.owner ? owner : stranger;
    for (const path of [
      `profile-follows/${profiles.member}`,
      `organization-follows/${organizationId}`,
      `product-likes/${productId}`,
    ])
      await person.rest('PUT', `/profiles/${profileId}/${path}`);
  }
  await app.tandem.services.audit.settle();
  return { people, profiles, organizationId, parentId, channelId: channel.id, messageId, productId };
});

/** Whatever lists may be asked of this world. */
function questions(): Row[] {
  const { people, profiles, organizationId, parentId, channelId, messageId, productId } = world;
  return [
    {},
    { organizationId },
    { organizationId: parentId },
    { channelId },
    { messageId },
    { productId },
    ...Object.values(people).flatMap(({ id }) => [{ identityId: id }, { memberId: id }, { subscribedId: id }]),
    ...Object.values(profiles).map((profileId) => ({ profileId })),
  ];
}

const callers = (): Record<string, Call> => ({
  ...Object.fromEntries(
    Object.entries(world.people).map(([name, person]) => [
      name,
      (procedure: string, input: Row) => person.call('rest', procedure, input),
    ]),
  ),
  anonymous: (procedure, input) => app.call('rest', procedure, input),
});

/** What the caller's own read of a related record shows, null where it refuses. */
async function ownRead(call: Call, kind: string, row: Row, id: unknown): Promise<unknown> {
  if (id === null) return null;
  if (Array.isArray(id)) return Promise.all(id.map((one) => ownRead(call, kind, row, one)));
  const { admin } = world.people;
  if (kind === 'person of a profile') {
    const { identityId } = valueOf(await admin.call('trpc', 'profiles.get', { profileId: id })) as { identityId: string };
    return ownRead(call, 'person', row, identityId);
  }
  if (kind === 'owners of an organization') {
    const members = valueOf(await admin.call('trpc', 'organizations.listMembers', { organizationId: id, limit: 50 }));
    const owners = (members as { data: { identityId: string; role: string }[] }).data.filter(({ role }) => role === 'owner');
    const cards = await Promise.all(owners.map(({ identityId }) => ownRead(call, 'person', row, identityId)));
    return cards.filter((card) => card !== null);
  }
  if (kind === 'variant') return ownVariant(call, row, id);
  const [procedure, key] = OWN_READS[kind] as [string, string];
  const outcome = await call(procedure, { [key]: id });
  if (!outcome.ok) return null;
  // beside the record: it moves with each message
  const { lastChange: _, ...record } = outcome.value as Row;
  return record;
}

async function ownVariant(call: Call, { productId }: Row, productVariantId: unknown): Promise<unknown> {
  const variants = valueOf(await call('productVariants.list', { productId })) as { data: Row[] };
  return variants.data.find(({ id }) => id === productVariantId) ?? null;
}

/** The places of a relation in a row, with the field that names it. */
function placesOf(row: Row, name: string, from: string): { place: Row; shownAs: string; id: unknown }[] {
  const [list, inner] = name.split('.');
  if (list !== undefined && inner !== undefined)
    return (row[list] as Row[]).map((place) => ({ place, shownAs: inner, id: place[from.slice(list.length + 1)] }));
  // some lists name the stored field otherwise
  const id = row[from] ?? (from === '_id' ? (row['identityId'] ?? row['id']) : row['id']);
  return [{ place: row, shownAs: name, id: row[from] === null ? null : id }];
}

/** By relation: whether records of it were shown, and were not. */
type Seen = Map<string, Set<boolean>>;
const nothingSeen = (relations: Relations): Seen => new Map(Object.keys(relations).map((name) => [name, new Set<boolean>()]));

/** Checks that the related records of a row are what this caller's own reads show, and that nothing has an email. */
async function expectOwnReads(row: Row, relations: Relations, call: Call, who: string, seen: Seen): Promise<void> {
  const text = JSON.stringify(row);
  for (const { email } of Object.values(world.people)) expect(text, `${who} ${email}`).not.toContain(email);
  for (const [name, { kind, from }] of Object.entries(relations)) {
    for (const { place, shownAs, id } of placesOf(row, name, from)) {
      expect(place[shownAs], `${who}: ${name} of ${text}`).toEqual(await ownRead(call, kind.name, place, id));
      seen.get(name)?.add(place[shownAs] !== null);
    }
  }
}

/** The related records of a row, and the parts of it that have such. */
function relatedOf(row: Row, relations: Relations): Row {
  const names = Object.keys(relations).map((name) => name.split('.', 1)[0] as string);
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

/** All rows of a list that anybody may read, by id. */
async function rowsOf(procedure: string): Promise<Map<unknown, Row>> {
  const rows = new Map<unknown, Row>();
  for (const call of Object.values(callers())) {
    for (const question of questions()) {
      const outcome = await call(procedure, question);
      if (outcome.ok) for (const row of (outcome.value as { data: Row[] }).data) rows.set(row['id'], row);
    }
  }
  return rows;
}

describe('related records', () => {
  it.each(LISTS)(
    'of $procedure are what the own read of each shows to the same caller, else null, and never an email',
    { timeout: 60_000 },
    async ({ procedure, relations }) => {
      const seen = nothingSeen(relations);
      const unfitting = new Set<Row>();
      const asked = questions();
      for (const [who, call] of Object.entries(callers())) {
        for (const question of asked.filter((one) => !unfitting.has(one))) {
          const outcome = await call(procedure, { ...question, $expand: Object.keys(relations).join(',') });
          if (!outcome.ok && outcome.status === 400) unfitting.add(question);
          if (!outcome.ok) continue;
          const { data } = outcome.value as { data: Row[] };
          for (const row of data) await expectOwnReads(row, relations, call, who, seen);
          const selected = await call(procedure, { ...question, $expand: Object.keys(relations).join(','), $select: 'id' });
          expect(valueOf(selected), `${who}, with $select`).toMatchObject({ data: data.map((row) => relatedOf(row, relations)) });
        }
      }
      for (const [name, outcomes] of seen) expect([...outcomes], `${procedure} ${name}`).toContain(true);
    },
  );

  it.each(Object.entries(READS).map(([procedure, [list, id]]) => ({ procedure, list, id })))(
    'of $procedure are the same, and asking for them lets nobody read more records',
    { timeout: 60_000 },
    async ({ procedure, list, id }) => {
      const relations = LISTS.find((one) => one.procedure === list)?.relations ?? {};
      const seen = nothingSeen(relations);
      const $expand = Object.keys(relations).join(',');
      const rows = await rowsOf(list);
      for (const [who, call] of Object.entries(callers())) {
        for (const [key, { productId }] of rows) {
          const input = { [id]: key, ...(list === 'productVariants.list' && { productId }) };
          const bare = await call(procedure, input);
          const whole = await call(procedure, { ...input, $expand });
          expect(whole, who).toMatchObject(bare);
          const row = whole.ok ? (whole.value as Row) : {};
          await expectOwnReads(row, whole.ok ? relations : {}, call, who, seen);
          const selected = bare.ok ? { ok: true, value: { id: key, ...relatedOf(row, relations) } } : bare;
          expect(await call(procedure, { ...input, $expand, $select: 'id' }), who).toEqual(selected);
        }
      }
      for (const [name, outcomes] of seen) expect([...outcomes], `${procedure} ${name}`).toContain(true);
    },
  );

  it('are there in every read of one record whose list has them', () => {
    const shapeOf = (schema: unknown) => (schema as { shape?: Row } | undefined)?.shape ?? {};
    const reads = operationsOf(app.tandem.router).filter(
      ({ schema }) => '$expand' in shapeOf(schema) && schema && !resourceOfInput(schema),
    );
    // how far one has read oneself
    const own = 'chat.readState';
    expect(reads.map(({ name }) => name).toSorted()).toEqual([...Object.keys(READS), own].toSorted());
  });
});

it('each kind of related record that not everybody may read is null for somebody', async () => {
  const anonymous = callers()['anonymous'] as Call;
  const { data } = valueOf(await anonymous('products.list', { $expand: 'organization' })) as { data: Row[] };
  expect(data.map(({ organization }) => organization)).toEqual([null]);
  const { member, stranger } = world.people;
  const messages = valueOf(await member.call('rest', 'chat.listMessages', { channelId: world.channelId, $expand: 'sender' }));
  expect((messages as { data: Row[] }).data.map(({ sender }) => (sender as Row | null)?.['name'])).toEqual([
    'member',
    'member',
    undefined,
    'owner',
  ]);
  const liked = { profileId: world.profiles.stranger, $expand: 'followed' };
  for (const procedure of ['profiles.listProfileFollows', 'profiles.listOrganizationFollows']) {
    const follows = valueOf(await stranger.call('rest', procedure, liked)) as { data: Row[] };
    expect(follows.data.map(({ followed }) => followed)).toEqual([null]);
  }
});

it('a read of one record refuses relations that its list does not have', async () => {
  const { productId } = world;
  const data = ["query parameter '$select' has the unknown property 'organization' at offset 0", "query parameter '$expand' has the unknown relation 'owner' at offset 12"]; // prettier-ignore
  expect(await app.call('rest', 'products.get', { productId, $select: 'organization', $expand: 'categories, owner' })).toEqual(
    { ok: false, status: 400, message: 'Validation Error', data }, // prettier-ignore
  );
});

it('a wrong token is refused where related records depend on the caller, and there alone', async () => {
  for (const path of ['/products', `/products/${world.productId}`]) {
    const ask = (query: string) => fetch(`${app.url}${path}${query}`, { headers: { authorization: 'Bearer wrong' } });
    expect((await ask('?$expand=organization')).status).toBe(401);
    expect((await ask('?$expand=categories,%20organization')).status).toBe(401);
    for (const query of ['', '?$expand=categories']) expect((await ask(query)).status).toBe(200);
  }
});
