import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { fillEveryList } from '../../test/every-list.js';

/** Names of fields with ids of other things than people. */
const OTHERS = [
  'acceptanceId',
  'categoryIds',
  'attributeIds',
  'channelId',
  'clientId',
  'decisionId',
  'disablingId',
  'eventId',
  'fileId',
  'followOrganizationId',
  'followProfileId',
  'lastId',
  'lastReadMessageId',
  'likeProductId',
  'linkId',
  'mailId',
  'messageId',
  'objectId',
  'organizationId',
  'parentId',
  'productId',
  'profileId',
  'recordId',
  'replyToId',
  'requestId',
  'resourceId',
  'sessionId',
  'sparedSessionId',
  'subscriptionId',
  'typeId',
  'variantId',
  'webhookId',
  'id',
  'jti',
  'imageIds',
  'removedUpTo',
];

const app = fixture(() => startTestServer());

it('no schema has a path that may name a person, of which its model does not say what becomes of it', () => {
  expect(app.storage.people.undeclared(OTHERS)).toEqual([]);
});

it('what goes for good with another record is found by an index, deleted or not', () => {
  expect(app.storage.people.unindexed()).toEqual([]);
});

it('no record holds the id or the address of a person where its model does not say what becomes of it', async () => {
  await fillEveryList(app, 2);
  // what waits in records, and what is being appended, passes
  await app.storage.events.last();
  const collections = new Map<string, Map<string, unknown>>();
  const people: string[] = [];
  for await (const line of app.storage.exportLines(() => {})) {
    const { collection, document } = JSON.parse(line) as { collection?: string; document?: { _id: string; email?: string } };
    if (collection === undefined || !document) continue;
    if (collection === 'identities') people.push(document._id, ...(document.email ? [document.email] : []));
    const paths = collections.get(collection) ?? new Map<string, unknown>();
    collections.set(collection, paths);
    for (const [path, value] of leavesOf(document)) paths.set(`${path} ${value}`, path);
  }
  const undeclared = new Set<string>();
  for (const [collection, paths] of collections)
    for (const [leaf, path] of paths) {
      const isNamed = people.some((one) => leaf.endsWith(one));
      if (isNamed && !app.storage.people.declares(collection, String(path))) undeclared.add(`${collection}.${String(path)}`);
    }
  expect([...undeclared].toSorted()).toEqual([]);
});

function* leavesOf(value: unknown, path = ''): Generator<[path: string, text: string]> {
  if (typeof value === 'string') yield [path, value];
  else if (Array.isArray(value)) for (const one of value) yield* leavesOf(one, path);
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value)) yield* leavesOf(one, path === '' ? name : `${path}.${name}`);
}
