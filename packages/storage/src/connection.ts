import mongoose from 'mongoose';
import { endWaitsForClosedSockets } from './closing-sockets.js';
import { watchPool, type PoolState } from './pool.js';
import { checkServers, watchServers, type Servers } from './servers.js';
import { StoreSetupError, addressProblems, defaultPoolSize, optionsOf } from './store-address.js';

interface Connected {
  connection: mongoose.Connection;
  pool: PoolState;
  servers: Servers;
}

/**
 * Connects a separate `Mongoose`, so that a host's mongoose, and other servers in this process, keep their settings and
 * models.
 * @throws StoreSetupError for an address or a server that would weaken durability (decision H13)
 */
export async function connect(uri: string, poolSize = defaultPoolSize(uri)): Promise<Connected> {
  const problems = addressProblems(uri);
  if (problems.length > 0) throw new StoreSetupError(problems.map((problem) => `The address of the store ${problem}`).join('\n'));
  endWaitsForClosedSockets();
  const instance = new mongoose.Mongoose();
  instance.set({ autoIndex: false, autoCreate: false });
  const connection = instance.createConnection(uri, connectionOptions(uri, poolSize));
  // a malformed address leaves no client, and the reason here
  if (!(connection.getClient() as mongoose.mongo.MongoClient | undefined)) await connection.asPromise();
  // before connecting, to count from the first connection on
  const pool = watchPool(connection.getClient());
  const servers = watchServers(connection.getClient());
  try {
    await connection.asPromise();
    await checkServers(database(connection), servers.versions());
    return { connection, pool, servers };
  } catch (error) {
    await connection.destroy();
    throw error;
  }
}

function connectionOptions(uri: string, maxPoolSize: number): mongoose.ConnectOptions {
  const defaults: mongoose.ConnectOptions = {
    maxPoolSize,
    // Every request must be answered within 15 s, whatever the store does (decision T4).
    serverSelectionTimeoutMS: 5000,
    connectTimeoutMS: 5000,
    waitQueueTimeoutMS: 5000,
    socketTimeoutMS: 15_000,
    // Acknowledged writes survive a process crash and, in a replica set, the loss of a machine.
    w: 'majority',
    journal: true,
    wtimeoutMS: 10_000,
    // The store truncates long values in error texts, sometimes inside a character.
    enableUtf8Validation: false,
    // Operations are not buffered: they fail while the store is unreachable.
    bufferCommands: false,
  };
  const given = new Set([...optionsOf(uri).keys()].map((option) => option.toLowerCase()));
  const options = Object.fromEntries(Object.entries(defaults).filter(([option]) => !given.has(option.toLowerCase())));
  const namesDatabase = /^[^/]+\/\/[^/]+\/[^?]/.test(uri);
  return namesDatabase ? options : { ...options, dbName: 'tandem' };
}

/** The driver's database for an open connection. */
export function database(connection: mongoose.Connection): mongoose.mongo.Db {
  if (!connection.db) throw new Error('The storage is closed');
  return connection.db;
}
