import { BESIDE } from '@tandem/storage';
import { FACES, startTestServer, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { organizationModel } from './organization.model.js';

/** Organizations with parts below one that are walked through. */
const MOST = 10_000;
const PATIENCE = { timeout: 120_000 };

let home: TestServer;
/** Another instance, whose commands are watched. */
let app: TestServer;
let admin: Person;
/** Aggregates over organizations that have not ended, and the most there were at once. */
const underWay = new Set<number>();
let most = 0;
const organizations = () => home.storage.model(organizationModel).collection;
const idOf = (kind: string, n: number) => `00000000-0000-7000-8000-${kind}${String(n).padStart(11, '0')}`;
const top = idOf('a', 0);
/** Has fewer parts, so that its walk takes little time. */
const smallTop = idOf('e', 0);

beforeAll(async () => {
  home = await startTestServer();
  const joint = home.mongodbUri.includes('?') ? '&' : '?';
  app = await startTestServer({ mongodbUri: `${home.mongodbUri}${joint}monitorCommands=true` });
  admin = await app.signUpAdmin();
  const at = { createdAt: app.clock.now(), updatedAt: app.clock.now(), deletedAt: null };
  const row = (_id: string, parentId: string | null) => ({ _id, parentId, name: _id, members: [], ...at });
  /** A tree in which so many have parts, with the one at its top. */
  const tree = (top: string, withParts: number, kinds: readonly [string, string]) => [
    row(top, null),
    ...Array.from({ length: withParts - 1 }, (_, n) => {
      const [child, grandchild] = [idOf(kinds[0], n), idOf(kinds[1], n)];
      return [row(child, top), row(grandchild, child)];
    }).flat(),
  ];
  const rows = [...tree(top, MOST, ['b', 'c']), ...tree(smallTop, 500, ['f', '9'])];
  while (rows.length > 0) await organizations().insertMany(rows.splice(0, 2000) as never[]);
  const client = app.storage.model(organizationModel).db.getClient();
  client.on('commandStarted', ({ requestId, command }: { requestId: number; command: Record<string, unknown> }) => {
    if (command['aggregate'] !== 'organizations' || command['comment'] === BESIDE.comment) return;
    underWay.add(requestId);
    most = Math.max(most, underWay.size);
  });
  for (const event of ['commandSucceeded', 'commandFailed'] as const)
    client.on(event, ({ requestId }: { requestId: number }) => underWay.delete(requestId));
}, 120_000);
afterAll(() => Promise.all([app.close(), home.close()]));

describe.each(FACES)('over %s what lies below an organization', PATIENCE, (face) => {
  const read = (organizationId = top) => admin.call(face, 'organizations.listDescendants', { organizationId, limit: 1 });

  it('is read by one command per caller at a time', async () => {
    most = 0;
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => read(smallTop)));
    expect(outcomes.some(({ ok }) => ok)).toBe(true);
    expect(most).toBe(1);
  });

  it('is too much if more than 10,000 have parts', async () => {
    expect(await read()).toMatchObject({ ok: true });
    const last = { _id: idOf('d', 0), parentId: idOf('c', 0), name: 'one more', members: [], deletedAt: null };
    await organizations().insertOne(last as never);
    expect(await read()).toMatchObject({ status: 400, data: [expect.stringContaining('gives too much')] as unknown[] });
    await organizations().deleteOne({ _id: last._id } as object);
  });
});
