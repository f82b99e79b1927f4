import { openStorage, type Storage } from '@tandem/storage';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { databaseOf } from '../../test/database-of.js';
import { createFileQueue } from '../files/file-queue.js';
import { fileModel } from '../files/file.model.js';
import { createMailQueue } from '../mail/mail-queue.js';
import { queuedMailModel } from '../mail/mail.model.js';

/** Longer than a lease, in milliseconds. */
const SKEW_MS = 90_000;

/** Processes whose clocks are right, ahead and behind. */
let right: Storage;
let ahead: Storage;
let behind: Storage;
beforeAll(async () => {
  const uri = databaseOf('due');
  [right, ahead, behind] = (await Promise.all(
    [0, SKEW_MS, -SKEW_MS].map((skewMs) =>
      openStorage({ uri, clock: { now: () => new Date(Date.now() + skewMs), inStore: () => '$$NOW' } }),
    ),
  )) as [Storage, Storage, Storage];
});
afterAll(() => Promise.all([right, ahead, behind].map((storage) => storage.close())));

const mail = {
  id: undefined,
  template: 'deactivated',
  to: 'a@example.org',
  identityId: null,
  values: {},
  expiresAt: null,
} as const;
const queues = {
  mails: {
    add: (storage: Storage) => createMailQueue(storage).add([mail]),
    take: (storage: Storage) => createMailQueue(storage).claim([]),
    clear: () => right.model(queuedMailModel).collection.deleteMany({}),
  },
  files: {
    add: (storage: Storage) =>
      storage.model(fileModel).collection.insertOne({
        _id: crypto.randomUUID(),
        objectId: crypto.randomUUID(),
        state: 'removing',
        slot: null,
        attempts: 0,
        owner: null,
        dueAt: storage.clock.now(),
      } as never),
    take: (storage: Storage) => createFileQueue(storage, storage.model(fileModel)).claim(),
    clear: () => right.model(fileModel).collection.deleteMany({}),
  },
};

it.each(Object.entries(queues))('of two processes whose clocks differ, one has a row of the queue of %s', async (_, queue) => {
  for (const [first, second] of [
    [right, ahead],
    [behind, right],
    [behind, ahead],
  ] as const) {
    await queue.clear();
    await queue.add(first);
    expect(await queue.take(first)).toBeDefined();
    expect(await queue.take(second)).toBeUndefined();
  }
});

it.each(Object.entries(queues))('a row of the queue of %s does not wait, whatever clock queued it', async (_, queue) => {
  for (const storage of [right, ahead, behind]) {
    await queue.clear();
    await queue.add(storage);
    expect(await queue.take(storage)).toBeDefined();
  }
});
