import type { OpenApiDocument, OpenApiParameter } from '@tandem/core';
import { FACES, fixture, resolveReference, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { fillEveryList } from '../../test/every-list.js';
import { productModel } from '../products/product.model.js';

/** A kind of records: how one is read, changed, deleted and restored by its id, and what is said of one that is not there. */
interface Kind {
  collection: string;
  id: string;
  read: string;
  missing: string;
  /** What is said of one that is to be changed or restored comes last, where it is something else. */
  change?: [procedure: string, input: object, missing?: string];
  deletion?: [remove: string, restore: string, missing?: string];
  /** What else names it. */
  within?: 'productId';
  isReadByMembers?: true;
}

const name = { name: 'Another' };
const KINDS: Kind[] = [
  {
    collection: 'attributes',
    id: 'attributeId',
    read: 'attributes.get',
    missing: 'Attribute group not found',
    change: ['attributes.patch', name],
    deletion: ['attributes.delete', 'attributes.restore'],
  },
  {
    collection: 'categories',
    id: 'categoryId',
    read: 'categories.get',
    missing: 'Category does not exist',
    change: ['categories.patch', name],
    deletion: ['categories.delete', 'categories.restore', 'Category not found'],
  },
  {
    collection: 'locations',
    id: 'locationId',
    read: 'locations.get',
    missing: 'Location not found',
    change: ['locations.patch', name],
    deletion: ['locations.delete', 'locations.restore'],
  },
  {
    collection: 'productVariants',
    id: 'productVariantId',
    within: 'productId',
    read: 'productVariants.get',
    missing: 'Product variant not found',
    change: ['productVariants.patch', { title: 'Another' }],
    deletion: ['productVariants.delete', 'productVariants.restore'],
  },
  {
    collection: 'products',
    id: 'productId',
    read: 'products.get',
    missing: 'Product not found',
    change: ['products.patch', name],
    deletion: ['products.delete', 'products.restore'],
  },
  {
    collection: 'orders',
    id: 'orderId',
    read: 'orders.get',
    missing: 'Order not found',
    change: ['orders.patch', { status: 'confirmed' }],
    deletion: ['orders.delete', 'orders.restore'],
  },
  {
    collection: 'messages',
    id: 'messageId',
    isReadByMembers: true,
    read: 'chat.getMessage',
    missing: 'Chat message not found.',
    change: ['chat.patchMessage', { content: 'Another' }, 'Chat message not found'],
    deletion: ['chat.deleteMessage', 'chat.restoreMessage', 'Chat message not found'],
  },
  {
    collection: 'messageTemplates',
    id: 'messageTemplateId',
    read: 'chat.getMessageTemplate',
    missing: 'Chat message template not found',
    change: ['chat.patchMessageTemplate', { title: 'Another' }, 'Message template not found'],
    deletion: ['chat.deleteMessageTemplate', 'chat.restoreMessageTemplate', 'Message template not found'],
  },
  {
    collection: 'subscriptions',
    id: 'subscriptionId',
    read: 'chat.getSubscription',
    missing: 'Subscription not found',
  },
  {
    collection: 'reports',
    id: 'reportId',
    read: 'chat.getReport',
    missing: 'Report not found',
    change: ['chat.patchReport', { status: 'resolved' }],
  },
  {
    collection: 'channels',
    id: 'channelId',
    read: 'chat.getChannel',
    missing: 'Channel not found',
    change: ['chat.patchChannel', name],
    deletion: ['chat.deleteChannel', 'chat.restoreChannel'],
  },
  {
    collection: 'profiles',
    id: 'profileId',
    read: 'profiles.get',
    missing: 'Profile not found',
    change: ['profiles.patch', name],
    deletion: ['profiles.delete', 'profiles.restore'],
  },
  {
    collection: 'invitations',
    id: 'invitationId',
    read: 'invitations.get',
    missing: 'Invitation not found',
  },
  {
    collection: 'organizations',
    id: 'organizationId',
    read: 'organizations.get',
    missing: 'Organization not found',
    change: ['organizations.patch', { description: 'Another' }],
    deletion: ['organizations.delete', 'organizations.restore'],
  },
  {
    collection: 'identities',
    id: 'identityId',
    read: 'identities.get',
    missing: 'Identity not found',
    change: ['identities.patch', { emailVerified: true }],
    deletion: ['identities.delete', 'identities.restore'],
  },
];

const app = fixture(startTestServer);
let world: Awaited<ReturnType<typeof fillEveryList>>;
beforeAll(async () => {
  world = await fillEveryList(app, 3);
}, 60_000);

it('every operation that reads one record by its id is among these', async () => {
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as OpenApiDocument;
  const reads = Object.entries(document.paths).flatMap(([path, { get }]) => {
    const isList =
      get?.parameters?.some((given) => resolveReference<OpenApiParameter>(document, given).name === '$filter') ?? false;
    return get && path.endsWith('Id}') && !isList ? [get.operationId] : [];
  });
  // a person is no record, and nobody but Tandem writes webhooks
  expect(reads.filter((read) => !['people.get', 'webhooks.get'].includes(read)).toSorted()).toEqual(
    KINDS.map(({ read }) => read).toSorted(),
  );
});

describe.each(FACES)('over %s', (face) => {
  it.each(KINDS)('one of $collection that does not fit its schema is not there, and logged once', async (kind) => {
    const collection = app.storage.model(productModel).db.collection<{ _id: string }>(kind.collection);
    const rows = await collection
      .find({ deletedAt: null, serviceAccountOf: { $exists: false } }, { sort: { _id: -1 }, limit: FACES.length })
      .toArray();
    const { _id } = rows[FACES.indexOf(face)] as { _id: string };
    const { admin, ann } = world;
    const reader = kind.isReadByMembers ? ann : admin;
    const named = { [kind.id]: _id, ...(kind.within && { [kind.within]: world[kind.within] }) };
    const breakIt = () => collection.updateOne({ _id }, [{ $set: { kept: '$createdAt', createdAt: 'yesterday' } }]);
    const mend = () => collection.updateOne({ _id }, [{ $set: { createdAt: '$kept' } }, { $unset: 'kept' }]);
    const { missing, change, deletion } = kind;
    const answers: unknown[] = [];
    const expected: unknown[] = [];
    const ask = async (who: Person, procedure: string, message = missing, input = {}) => {
      answers.push(await who.call(face, procedure, { ...named, ...input }));
      expected.push({ ok: false, status: 404, message });
    };

    await breakIt();
    await ask(reader, kind.read);
    await ask(reader, kind.read);
    if (change) await ask(reader, change[0], change[2], change[1]);
    await mend();
    expect(await reader.call(face, kind.read, named)).toMatchObject({ ok: true, value: { id: _id } });
    await breakIt();
    if (deletion) {
      await admin.call(face, deletion[0], named);
      await ask(admin, deletion[1], deletion[2]);
    }
    await mend();
    expect(answers).toEqual(expected);
    expect(await reader.call(face, kind.read, named)).toMatchObject({ ok: true, value: { id: _id } });
    const logged = app.logs().split('\n').filter((line) => line.includes('does not fit') && line.includes(_id)); // prettier-ignore
    expect(logged).toHaveLength(1);
  });
});
