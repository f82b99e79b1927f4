import type { mongo } from 'mongoose';
import { StoreSetupError } from './store-address.js';

/** Wire versions of MongoDB 7.0, the oldest that is used, and of 8.0, the first that writes to several collections by one command. */
const OLDEST = 21;
const WRITES_JOINTLY = 25;

/** What the servers of a store say of themselves, as of the last time that each was heard. */
export interface Servers {
  /** Whether all of them have the `bulkWrite` of several collections, by their wire versions. */
  canWriteJointly(): boolean;
}

/**
 * Keeps the wire version of each server by the driver's own checks, so that it is known anew after each reconnect. Behind a load balancer the
 * driver checks none: then nothing newer than the oldest is used.
 */
export function watchServers(client: mongo.MongoClient): Servers & { versions(): number[] } {
  const versions = new Map<string, number>();
  client
    .on('serverHeartbeatSucceeded', ({ connectionId, reply }) => versions.set(connectionId, Number(reply['maxWireVersion'] ?? 0)))
    .on('serverClosed', ({ address }) => versions.delete(address));
  return {
    versions: () => [...versions.values()],
    canWriteJointly: () => versions.size > 0 && Math.min(...versions.values()) >= WRITES_JOINTLY,
  };
}

/**
 * Looks at an open connection before it is used.
 * @param versions those of the servers that were heard so far
 * @throws StoreSetupError for a server older than MongoDB 7.0, and for `w=1` where one server is not the majority
 */
export async function checkServers(database: mongo.Db, versions: readonly number[]): Promise<void> {
  const hello = await database.admin().command({ hello: 1, maxTimeMS: 5000 });
  const lowest = Math.min(Number(hello['maxWireVersion'] ?? 0), ...versions);
  if (lowest < OLDEST)
    throw new StoreSetupError(
      `The store has to be MongoDB 7.0 or later: a server of it speaks wire version ${lowest}, not ${OLDEST}`,
    );
  const standsAlone = hello['setName'] === undefined && hello['msg'] !== 'isdbgrid';
  if (!standsAlone && database.writeConcern?.w === 1)
    throw new StoreSetupError('The address of the store must not have w=1: in a replica set it is weaker than majority');
}
