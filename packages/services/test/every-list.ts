import { randomUUID } from 'node:crypto';
import type { OpenApiDocument } from '@tandem/core';
import { PASSWORD, describedOperations, type ListUnderTest, type Person, type TestServer } from '@tandem/testing';
import { fileModel } from '../src/files/file.model.js';
import { SERVICES, type ListShapes } from '../src/router.js';
import { deliveryModel } from '../src/webhooks/delivery.models.js';

/** Rows in every list, and who sees them. */
interface World {
  admin: Person;
  /** Whose the organizations, profiles, orders, channels and notifications are. */
  ann: Person;
  organizationId: string;
  profileId: string;
  productId: string;
  channelId: string;
  messageId: string;
  webhookId: string;
}

export interface ListCase extends Omit<ListUnderTest, 'procedure'> {
  person: Person;
}

const byAdmin = ({ admin }: World): ListCase => ({ person: admin });
const ofAnn = ({ ann }: World): ListCase => ({ person: ann, input: { identityId: ann.id } });
const ofOrganization = ({ ann, organizationId }: World): ListCase => ({ person: ann, input: { organizationId } });
const ofProfile = ({ ann, profileId }: World): ListCase => ({ person: ann, input: { profileId } });
const ofChannel = ({ ann, channelId }: World): ListCase => ({ person: ann, input: { channelId } });
const ofMessage = ({ ann, messageId }: World): ListCase => ({ person: ann, input: { messageId } });
const ofProduct = ({ admin, productId }: World): ListCase => ({ person: admin, input: { productId } });

/** Lists that need more than an admin, by tRPC path: how they are asked for in the world that `fillEveryList` makes. */
const CASES: { readonly [List in keyof ListShapes]?: (world: World) => ListCase } = {
  'auth.identityEvents': ofAnn,
  'auth.keys': ofAnn,
  'auth.sessions': ofAnn,
  'chat.listBans': ofChannel,
  'chat.listChannels': ({ ann }) => ({ person: ann, input: { memberId: ann.id } }),
  'chat.listMessageTemplatesOfOrganization': ofOrganization,
  'chat.listMessages': ofChannel,
  'chat.listMessagesOfChannel': ofChannel,
  'chat.listMessageVersions': (world) => ({ ...ofMessage(world), idOf: ({ at }) => at }),
  'chat.listPins': ofChannel,
  'chat.listReplies': ofMessage,
  'chat.listSubscriptions': ofChannel,
  'notifications.list': ofAnn,
  'orders.list': ofAnn,
  'orders.listOfOrganization': ofOrganization,
  'organizations.listChangeRequests': ofOrganization,
  'organizations.listDescendants': ofOrganization,
  'organizations.listFollowers': ofOrganization,
  'organizations.listMembers': (world) => ({ ...ofOrganization(world), idOf: ({ identityId }) => identityId }),
  'organizations.listServiceAccounts': ofOrganization,
  'organizations.listOfIdentity': (world) => ({
    ...ofAnn(world),
    idOf: ({ organization }) => (organization as { id: string }).id,
  }),
  'productVariants.list': ofProduct,
  'products.listLikers': ofProduct,
  'products.listOfOrganization': ofOrganization,
  'profiles.listFollowers': ofProfile,
  'profiles.listOfIdentity': ofAnn,
  'profiles.listOrganizationFollows': ofProfile,
  'profiles.listProductLikes': ofProfile,
  'profiles.listProfileFollows': ofProfile,
  'webhooks.listDeliveries': ({ admin, webhookId }) => ({ person: admin, input: { webhookId } }),
};

/** Every list by its tRPC path. */
export const EVERY_LIST = Object.fromEntries(
  SERVICES.flatMap(({ name, lists }) => Object.keys(lists).map((list) => `${name}.${list}` as keyof ListShapes)).map((path) => [
    path,
    CASES[path] ?? byAdmin,
  ]),
) as Record<keyof ListShapes, (world: World) => ListCase>;

/** The lists of the interface by the OpenAPI document, each with its query parameters. */
export async function documentedLists(app: TestServer): Promise<Map<string, string[]>> {
  const operations = describedOperations((await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument);
  const lists = operations.filter(({ parameters }) => parameters.some(({ name }) => name === '$filter'));
  return new Map(
    lists.map(({ name: list, parameters }) => [list, parameters.filter((one) => one.in === 'query').map(({ name }) => name)]),
  );
}

/** Puts so many rows at least into every list, with the files and the relations that they can have. */
export async function fillEveryList(app: TestServer, rows: number): Promise<World> {
  const [admin, ann] = await Promise.all([app.signUpAdmin(), app.signUp()]);
  const each = <T>(make: (n: number) => PromiseLike<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: rows }, (_, n) => make(n)));
  const create = async (person: Person, path: string, body: unknown): Promise<string> =>
    (await person.rest('POST', path, body).expect<{ id: string }>(201)).id;

  const people = await each(() => create(admin, '/auth/register', { email: `${randomUUID()}@example.org`, password: PASSWORD }));
  await each(() => app.signIn(ann.email));
  await app.tandem.services.notifications.notifyMany(people.map(() => ({ receiverId: ann.id })));

  const named = (n: number) => ({
    organization: {
      name: `No. ${n}`,
      description: `About ${n}`,
      contact_email: `${n}@example.org`,
      contact_phone: `0${n}`,
    },
  });
  const organizationId = await create(ann, '/organizations', named(rows));
  const parts = await each((n) => create(ann, '/organizations', { ...named(n), parentId: organizationId }));
  const organizations = [organizationId, ...parts];
  const members = people.map((identityId) => ({ identityId, role: 'member' }));
  await ann.rest('PATCH', `/organizations/${organizationId}/members`, members).expect(204);
  await each((n) => create(ann, `/organizations/${organizationId}/service-accounts`, { name: `No. ${n}`, role: 'member' }));
  await each((n) => create(ann, `/auth/${ann.id}/keys`, { name: `No. ${n}`, scopes: ['*'] }));
  await each(() => create(admin, '/invitations', { email: `${randomUUID()}@example.org`, organizationId, role: 'member' }));
  const changeRequests = await each((n) =>
    create(ann, `/organizations/${organizationId}/change-requests`, { postalCode: `${n}` }),
  );

  const parent = await create(admin, '/categories', { name: 'All', description: '' });
  const categories = await each((n) => create(admin, '/categories', { name: `No. ${n}`, description: `About ${n}`, parent }));
  const attributes = await each((n) => create(admin, '/attributes', { name: `No. ${n}`, items: [{ key: 'n', value: `${n}` }] }));
  const products = await each((n) => {
    const ids = { categoryIds: [categories[n]], attributeIds: [attributes[n]], organizationId };
    return create(admin, '/products', { name: `No. ${n}`, description: '', price: { amount: n, currency: 'EUR' }, ...ids });
  });
  const productId = products[0] as string;
  await each((n) =>
    create(admin, `/products/${productId}/variants`, { title: `No. ${n}`, price: { amount: n, currency: 'EUR' } }),
  );
  await each((n) =>
    create(ann, '/orders', { identityId: ann.id, organizationId, items: [{ productId: products[n], quantity: 1 }] }),
  );
  const region = await create(admin, '/locations', { name: 'Region', code: 'R', type: 'REGION' });
  await each((n) => create(admin, '/locations', { name: `No. ${n}`, code: `${n}`, type: 'CITY', parentId: region }));

  const profiles = await each((n) => create(ann, '/profiles', { identityId: ann.id, name: `No. ${n}` }));
  const profileId = profiles[0] as string;
  for (const [relation, targets] of [
    ['profile-follows', profiles],
    ['organization-follows', organizations],
    ['product-likes', products],
  ] as const) {
    // the first profile leads to all targets, all profiles lead to the first target
    const pairs = [...targets.map((target) => [profileId, target]), ...profiles.slice(1).map((from) => [from, targets[0]])];
    await Promise.all(pairs.map(([from, target]) => ann.rest('PUT', `/profiles/${from}/${relation}/${target}`)));
  }

  const channels = await each((n) => create(ann, '/channels', { name: `No. ${n}`, ownerId: ann.id }));
  const channelId = channels[0] as string;
  await each((n) => create(ann, '/subscriptions', { channelId, subscribedId: people[n] }));
  const post = (to: string | undefined, replyToId?: string) =>
    create(ann, '/messages', { channelId: to, senderId: ann.id, title: 'Tea', content: 'Hello', replyToId });
  const messages = await each(() => post(channelId));
  const messageId = messages[0] as string;
  await each((n) => ann.rest('PUT', `/messages/${messages[n]}/pin`).expect(204));
  // the one with replies is the last that was pinned
  for (const method of ['DELETE', 'PUT']) await ann.rest(method, `/messages/${messageId}/pin`).expect(204);
  await each((n) => create(ann, `/messages/${messages[n]}/reports`, { reason: `No. ${n}` }));
  messages.push(...(await each(() => post(channelId, messageId))));
  await each((n) => ann.rest('PATCH', `/messages/${messageId}`, { content: `Hello ${n}` }).expect(200));
  await each(async () => create(ann, `/channels/${channelId}/bans`, { identityId: (await app.signUp()).id }));
  await each((n) => create(ann, '/message-templates', { title: `No. ${n}`, content: 'Hello', organizationId }));
  messages.push(...(await Promise.all(channels.slice(1).map((to) => post(to)))));

  await attachFiles(app, 'organization-logo', organizations);
  await attachFiles(app, 'organization-certificate', changeRequests);
  await attachFiles(app, 'profile-avatar', profiles);
  await attachFiles(app, 'product-image', products);
  await attachFiles(app, 'channel-icon', channels);
  await attachFiles(app, 'message-attachment', messages);
  const webhookId = await fillWebhooks(app, admin, { rows, organizationId });
  await fillOthers(admin, rows);
  await app.tandem.services.audit.settle();
  return { admin, ann, organizationId, profileId, productId, channelId, messageId, webhookId };
}

/** A file for each record, as if it had been uploaded. */
async function attachFiles(app: TestServer, purpose: string, resourceIds: readonly string[]): Promise<void> {
  const attached = { purpose, type: 'image/png', size: 100, state: 'attached', attachedAt: app.clock.now(), counts: true };
  const files = resourceIds.map((resourceId) => {
    const [_id, objectId] = [randomUUID(), randomUUID()];
    return { ...attached, _id, objectId, resourceId, issuedTo: resourceId };
  });
  await app.storage.model(fileModel).insertMany(files);
}

/** Webhooks, and deliveries of the first, which nobody sends. @returns the first's id */
async function fillWebhooks(
  app: TestServer,
  admin: Person,
  { rows, organizationId }: { rows: number; organizationId: string },
): Promise<string> {
  const create = async () => {
    const webhook = { url: 'https://receiver.invalid/', types: ['order.*'], organizationId };
    return (await admin.rest('POST', '/webhooks', webhook).expect<{ id: string }>(201)).id;
  };
  const [webhookId = ''] = await Promise.all(Array.from({ length: rows }, create));
  const row = { webhookId, eventType: 'order.created', subjectId: randomUUID(), status: 'delivered', attempts: 1 };
  const kept = { ...row, expiresAt: new Date(app.clock.now().getTime() + 3_600_000) };
  const deliveries = Array.from({ length: rows }, () => ({ ...kept, eventId: randomUUID() }));
  await app.storage.model(deliveryModel).insertMany(deliveries as object[]);
  return webhookId;
}

/** Creates rows for lists that are still empty from the input that their service's `create` takes. */
async function fillOthers(admin: Person, rows: number): Promise<void> {
  for (const { name, lists } of SERVICES) {
    if (!('list' in lists) || `${name}.list` in CASES) continue;
    const outcome = await admin.call('trpc', `${name}.list`, { limit: 1 });
    if ((outcome as { value: { data: unknown[] } }).value.data.length > 0) continue;
    for (let n = 0; n < rows; n++) {
      const created = await admin.call('trpc', `${name}.create`, { title: `No. ${n}` });
      if (!created.ok) throw new Error(`fill ${name}.list in every-list.ts: ${JSON.stringify(created)}`);
    }
  }
}
