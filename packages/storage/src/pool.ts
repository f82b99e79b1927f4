import type { mongo } from 'mongoose';

/** The connections of a process to its store. */
export interface PoolState {
  /** Largest number. */
  readonly size: number;
  open: number;
  /** Connections with an operation in progress. */
  inUse: number;
  /** Operations that wait for a connection. */
  waiting: number;
}

/** Counts connections by the driver's pool events; its command events cost much more. */
export function watchPool(client: mongo.MongoClient): PoolState {
  const state = { size: client.options.maxPoolSize, open: 0, inUse: 0, waiting: 0 };
  client
    .on('connectionCreated', () => (state.open += 1))
    .on('connectionClosed', () => (state.open -= 1))
    .on('connectionCheckOutStarted', () => (state.waiting += 1))
    .on('connectionCheckOutFailed', () => (state.waiting -= 1))
    .on('connectionCheckedOut', () => {
      state.waiting -= 1;
      state.inUse += 1;
    })
    .on('connectionCheckedIn', () => (state.inUse -= 1));
  return state;
}
