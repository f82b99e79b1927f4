import mongoose from 'mongoose';
import { endWaitsForClosedSockets } from './closing-sockets.js';
import { watchPool, type PoolState } from './pool.js';

/** A connection of its own `Mongoose`: a host's mongoose, and other servers in this process, keep their settings and models. */
export async function connect(uri: string, poolSize: number): Promise<{ connection: mongoose.Connection; pool: PoolState }> {
  endWaitsForClosedSockets();
  const instance = new mongoose.Mongoose();
  // Nothing waits for a connection in memory: an operation fails when the store cannot be reached.
  instance.set({ autoIndex: false, autoCreate: false, bufferCommands: false });
  const connection = instance.createConnection(uri, connectionOptions(uri, poolSize));
  // from the first connection on
  const pool = watchPool(connection.getClient());
  try {
    await connection.asPromise();
    return { connection, pool };
  } catch (error) {
    await connection.destroy();
    throw error;
  }
}

function connectionOptions(uri: string, maxPoolSize: number): mongoose.ConnectOptions {
  const defaults: mongoose.ConnectOptions = {
    maxPoolSize,
    // Every request is answered within 15 s, whatever the store does (decision T4).
    serverSelectionTimeoutMS: 5000,
    connectTimeoutMS: 5000,
    waitQueueTimeoutMS: 5000,
    socketTimeoutMS: 15_000,
    // What was answered survives the crash of a process and, in a replica set, the loss of a machine.
    w: 'majority',
    journal: true,
    wtimeoutMS: 10_000,
    // The store cuts long values short in the texts of its errors, also within a character.
    enableUtf8Validation: false,
  };
  const isInUri = (option: string) => new RegExp(`[?&]${option}=`, 'i').test(uri);
  const options = Object.fromEntries(Object.entries(defaults).filter(([option]) => !isInUri(option)));
  const namesDatabase = /^[^/]+\/\/[^/]+\/[^?]/.test(uri);
  return namesDatabase ? options : { ...options, dbName: 'tandem' };
}

/** The driver's database of an open connection. */
export function database(connection: mongoose.Connection): mongoose.mongo.Db {
  if (!connection.db) throw new Error('The storage is closed');
  return connection.db;
}
