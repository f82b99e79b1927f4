import { FACES, fixture, openStream, startTestServer, type Frame, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openChannel, say } from '../../test/chat-world.js';
import { made, makeRecord, recordKinds, type Input } from '../../test/record-kinds.js';

const fields = z.object({ ref: z.string().optional(), rank: z.number().optional() });
const app = fixture(() =>
  startTestServer({ code: { fields: Object.fromEntries(Object.keys(KINDS).map((name) => [name, fields])) } }),
);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const KINDS = recordKinds(app, admin, ann);

const given = { ref: 'a', rank: 1 };
const SHOWN = ['Category', 'Channel', 'Location', 'Message', 'Organization', 'Product', 'ProductVariant', 'Profile'];
const EXPANDED = [...SHOWN.filter((name) => name !== 'Channel'), 'ListedChannel', 'ReadChannel', 'ListedOrder'];
const RECORDS = [...SHOWN, 'Identity', 'Order', ...EXPANDED.map((name) => `Expanded${name}`)];
type Rows = { data: Input[] };

describe.each(FACES)('over %s, the fields that a host declares', (face) => {
  const call = (person: Person, procedure: string, input: Input) => made(face, person, procedure, input);
  const make = async (kind: keyof typeof KINDS) => (await makeRecord(face, KINDS[kind], given)).record;

  it.each<[string, () => Promise<{ named: Input; procedure: string; listed?: Input }>]>([
    [
      'product',
      async () => {
        const { id: productId } = await make('products');
        const { id: productVariantId } = await call(admin, 'productVariants.create', { productId, title: 'Tea' });
        return { named: { productId, productVariantId }, procedure: 'productVariants', listed: { productId } };
      },
    ],
    [
      'organization',
      async () => {
        const { id: organizationId } = await make('organizations');
        const product = await call(admin, 'products.create', { name: 'Tea', description: '', organizationId });
        return { named: { productId: product.id }, procedure: 'products' };
      },
    ],
    [
      'parentCategory',
      async () => {
        const { id: parent } = await make('categories');
        return {
          named: { categoryId: (await call(admin, 'categories.create', { name: 'T', description: '', parent })).id },
          procedure: 'categories',
        };
      },
    ],
    [
      'parent',
      async () => {
        const { id: parentId } = await make('locations');
        const { id } = await call(admin, 'locations.create', { name: 'T', code: '', type: 'CITY', parentId });
        return { named: { locationId: id }, procedure: 'locations' };
      },
    ],
  ])('are shown by $expand=%s in reads and lists, as by the own read', async (name, record) => {
    const { named, procedure, listed = {} } = await record();
    const query = { $expand: name };
    expect(await call(admin, `${procedure}.get`, { ...named, ...query })).toMatchObject({ ref: null, [name]: given });
    const selected = await call(admin, `${procedure}.get`, { ...named, ...query, $select: 'id' });
    expect(selected).toEqual({ id: selected.id, [name]: expect.objectContaining(given) as object });
    const { data } = (await call(admin, `${procedure}.list`, { ...listed, ...query })) as unknown as Rows;
    expect(data.find(({ id }) => id === selected.id)).toMatchObject({ ref: null, [name]: given });
  });

  it('are shown by $expand of a message, a like, and the lines of an order', async () => {
    const { record: channel } = await makeRecord(face, KINDS.channels, given);
    const { id: messageId } = await say(ann, channel.id);
    expect(await call(ann, 'chat.getMessage', { messageId, $expand: 'channel' })).toMatchObject({ channel: given });

    const { id: productId } = await make('products');
    const { id: profileId } = await make('profiles');
    await call(ann, 'profiles.likeProduct', { profileId, likeProductId: productId });
    const likes = (await call(ann, 'profiles.listProductLikes', { profileId, $expand: 'product' })) as unknown as Rows;
    expect(likes.data).toMatchObject([{ product: given }]);

    const { id: variantId } = await call(admin, 'productVariants.create', { productId, title: 'Tea', ...given });
    const items = [{ productId, variantId, quantity: 1, price: 1 }];
    const order = await call(ann, 'orders.create', { identityId: ann.id, currency: 'USD', items });
    const read = { orderId: order.id, $expand: 'items.product,items.variant' };
    const whole = await call(ann, 'orders.get', read);
    expect(whole).toMatchObject({ items: [{ product: given, variant: given }] });
    // the lines come with what is shown in them, selected or not
    const shown = { id: order.id, status: 'pending', items: whole['items'] };
    expect(await call(ann, 'orders.get', { ...read, $select: 'status' })).toEqual(shown);
    const asked = { identityId: ann.id, $expand: read.$expand, $select: 'status', $filter: `id eq '${order.id}'` };
    const { data } = (await call(ann, 'orders.list', asked)) as unknown as Rows;
    expect(data).toEqual([shown]);
  });

  it('of an order are given by its buyer, and changed by staff alone', async () => {
    const input = { ...(await KINDS.orders.input(face)), identityId: ann.id };
    const { id: orderId } = await call(ann, 'orders.create', { ...input, ...given });
    for (const change of [{ rank: 2 }, { rank: 2, status: 'cancelled' }])
      expect(await ann.call(face, 'orders.patch', { orderId, ...change })).toMatchObject({ ok: false, status: 403 });
    expect(await call(admin, 'orders.patch', { orderId, rank: 2, status: 'confirmed' })).toMatchObject({ ref: 'a', rank: 2 });
    expect(await call(ann, 'orders.cancel', { orderId })).toMatchObject({ ref: 'a', rank: 2, status: 'cancelled' });
  });

  it('of an organization are changed by its owners without a change request, and shown where it is', async () => {
    const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org', ref: 'a' };
    const { id: organizationId } = await call(ann, 'organizations.create', { organization });
    expect(await call(ann, 'organizations.patch', { organizationId, rank: 1 })).toMatchObject(given);
    expect(await call(admin, 'organizations.move', { organizationId, parentId: null })).toMatchObject(given);
    for (const query of [{}, { $select: 'organization' }, { $filter: `organization.id eq '${organizationId}'` }]) {
      const { data } = (await call(ann, 'organizations.listOfIdentity', { identityId: ann.id, ...query })) as unknown as Rows;
      expect(data.map((row) => row['organization'])).toContainEqual(expect.objectContaining(given));
    }
    const asked = { organizationId, branchName: 'Tea' };
    await call(ann, 'organizations.requestChange', asked);
    const requests = { organizationId, $expand: 'organization' };
    expect(await call(admin, 'organizations.listChangeRequests', requests)).toMatchObject({ data: [{ organization: given }] });
    expect(await ann.call(face, 'organizations.requestChange', { ...asked, rank: 2 })).toMatchObject({ status: 400 });
  });

  it('of an identity are given by admins, and told of in its events', async () => {
    const bob = await app.signUp();
    const change = { identityId: bob.id, ...given };
    expect(await bob.call(face, 'identities.patch', change)).toMatchObject({ ok: false, status: 403 });
    await call(admin, 'identities.patch', change);
    expect(await call(bob, 'identities.get', { identityId: bob.id })).toMatchObject(given);
    const events = await call(bob, 'auth.identityEvents', { identityId: bob.id, $filter: "type eq 'identity.changed'" });
    expect(events).toMatchObject({ data: [{ details: { fields: ['ref', 'rank'] } }] });
  });

  it('of a last message are shown in lists of channels', async () => {
    const { id: channelId } = await openChannel(ann, [], given);
    await say(ann, channelId, 'Tea?', given);
    const { data } = (await call(ann, 'chat.listChannels', { memberId: ann.id })) as unknown as Rows;
    expect(data.find(({ id }) => id === channelId)).toMatchObject({ ...given, lastMessage: given });
  });
});

it('streams send them with messages and channels, live and again, and take them', async () => {
  const { id: channelId } = await openChannel(ann);
  const listen = () => openStream(app.url, '/messages/listen', ann.credentials);
  await using stream = await listen();
  stream.send({ type: 'subscribe', channelId });
  await stream.next('subscribed');
  const create = { type: 'message.create', channelId, content: 'Tea?' };
  stream.send({ ...create, clientId: 'a', ...given });
  expect(await stream.next('message.created')).toMatchObject({ message: given });
  expect(await stream.next('ack')).toMatchObject({ message: given });
  const { id: messageId } = await say(ann, channelId);
  const isIt = ({ message }: Frame) => (message as { id?: string } | undefined)?.id === messageId;
  expect(await stream.next('message.created', isIt)).toMatchObject({ message: { ref: null, rank: null } });
  await ann.rest('PATCH', `/messages/${messageId}`, { rank: 2 }).expect(200);
  expect(await stream.next('message.updated')).toMatchObject({ message: { ref: null, rank: 2 } });
  await ann.rest('PATCH', `/channels/${channelId}`, given).expect(200);
  expect(await stream.next('channel.updated')).toMatchObject({ channel: given });
  for (const wrong of [{ rank: 'a' }, { unknown: 1 }]) {
    stream.send({ ...create, clientId: 'b', ...wrong });
    expect(await stream.next('error')).toMatchObject({ message: 'Validation Error', clientId: 'b' });
  }
  await using again = await listen();
  again.send({ type: 'subscribe', channelId, sinceSeq: 0, expand: ['sender'] });
  expect(await again.next('message.created')).toMatchObject({ message: { ...given, senderId: ann.id } });
  expect(await again.next('message.created', isIt)).toMatchObject({ message: { rank: 2 } });
});

it.each([{ ref: 'a' }, {}])('an order that is made again shows those that it was made with: %j', async (own) => {
  const body = { ...(await KINDS.orders.input('rest')), identityId: ann.id, ...own };
  const credentials = { ...ann.credentials, headers: { 'Idempotency-Key': JSON.stringify(own) } };
  const first = await app.rest('POST', '/orders', body, credentials);
  const { id: orderId } = first.body as { id: string };
  await made('rest', admin, 'orders.patch', { orderId, ref: null, rank: 1 });
  expect((await app.rest('POST', '/orders', body, credentials)).body).toEqual(first.body);
  expect((await app.rest('POST', '/orders', { ...body, ref: 'b' }, credentials)).status).toBe(422);
});

it('the documents describe them in every schema of their records, and these keep their names', async () => {
  await using other = await startTestServer();
  const read = async (url: string) => (await (await fetch(url)).json()) as { components: { schemas: Record<string, object> } };
  for (const path of ['/openapi.json', '/asyncapi.json']) {
    const [mine, theirs] = await Promise.all([read(app.url + path), read(other.url + path)]);
    const [named, before] = [mine.components.schemas, theirs.components.schemas];
    expect(Object.keys(named).sort()).toEqual(Object.keys(before).sort());
    const changed = Object.keys(named).filter((name) => JSON.stringify(named[name]) !== JSON.stringify(before[name]));
    expect(changed).toEqual(expect.arrayContaining(path === '/openapi.json' ? RECORDS : ['Channel', 'Message', 'SentMessage']));
  }
});
