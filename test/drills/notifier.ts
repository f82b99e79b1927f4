import path from 'node:path';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { MongoClient } from 'mongodb';
import { v7 } from 'uuid';

/** Per person: more than anybody reads during a test. */
const EACH = 2000;

/** A host application that writes notifications to a server's database (spec, "Notification service"). */
export interface Notifier extends AsyncDisposable {
  /** Makes unread notifications for a person. @returns their ids */
  notify(receiverId: string): Promise<string[]>;
}

export async function notifierOf(uri: string): Promise<Notifier> {
  const client = await MongoClient.connect(uri);
  return {
    async notify(receiverId) {
      const now = new Date();
      const ids = Array.from({ length: EACH }, () => v7());
      const rows = ids.map((_id) => ({ _id, receiverId, isRead: false, createdAt: now, updatedAt: now }));
      await client.db('tandem').collection<(typeof rows)[number]>('notifications').insertMany(rows);
      return ids;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** Opens one beside a server with the embedded engine on this folder. */
export async function openNotifier(dataDir: string): Promise<Notifier> {
  const engine = await startEmbeddedMongo({ dir: path.join(dataDir, 'mongodb') });
  const notifier = await notifierOf(engine.uri);
  return {
    ...notifier,
    async [Symbol.asyncDispose]() {
      await notifier[Symbol.asyncDispose]();
      await engine.stop();
    },
  };
}
