import type { mongo } from 'mongoose';

/** The connections of a process to its store. */
export interface PoolState {
  /** So many at most. */
  readonly size: number;
  open: number;
  /** Those with an operation on them. */
  inUse: number;
  /** Operations that wait for one. */
  waiting: number;
}

/** Keeps count of the driver's connections by its events of them: of commands it has some too, which cost much more. */
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
