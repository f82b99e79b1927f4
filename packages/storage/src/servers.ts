import type { mongo } from 'mongoose';
import { StoreSetupError } from './store-address.js';

/**
 * Wire versions of MongoDB 7.0, the oldest supported, and of 8.0, the first that writes to several collections in one
 * command.
 */
const OLDEST = 21;
const WRITES_JOINTLY = 25;

/** The versions of a store's servers, as last reported by each. */
export interface Servers {
  /** Whether all of them support `bulkWrite` over several collections, by wire version. */
  canWriteJointly(): boolean;
}

/**
 * Tracks the wire version of each server through the driver's own monitoring, which renews it after each reconnect.
 * Behind a load balancer the driver monitors none; then only features of the oldest version are used.
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
 * Checks an open connection before use.
 * @param versions of the servers known so far
 * @throws StoreSetupError for a server older than MongoDB 7.0, and for `w=1` unless a single server is the majority
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
