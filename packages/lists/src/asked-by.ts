import { addressGroup, validationError, type Identity, type RequestContext } from '@tandem/core';
import type { Caller } from '@tandem/list-query';

/** The parts of a request context that a list needs. */
export type ListCall = Pick<RequestContext, 'ip' | 'waiting' | 'batch' | 'server'> & { identity?: Identity };

const CALL = Symbol('call');

/**
 * Attaches the request to a list query: the gate needs the caller, and the store needs the signal that cancels the query
 * (decisions H1).
 */
export function askedBy<Query extends object>(call: ListCall, query: Query): Query {
  return Object.assign(query, { [CALL]: call });
}

/** The request that asks; undefined for calls by host code. */
export function callOf(query: object): ListCall | undefined {
  return (query as { [CALL]?: ListCall })[CALL];
}

/** The caller that the gate queues by: the identity, else the network. All calls by host code count as one caller. */
export function callerOf(query: object): Caller {
  const { identity, ip = '' } = callOf(query) ?? {};
  if (identity) return { key: identity.id, isAnonymous: false };
  return ip === '' ? { key: 'the host', isAnonymous: false } : { key: addressGroup(ip), isAnonymous: true };
}

/** Whether an admin asks. */
export function isAskedByAdmin(query: object): boolean {
  const { identity, server } = callOf(query) ?? {};
  return identity !== undefined && server !== undefined && identity.typeId === server.typeIds.admin;
}

/** Aborts when the client has left or the request has timed out; undefined for calls by host code. */
export function signalOf(query: object): AbortSignal | undefined {
  return callOf(query)?.waiting?.signal;
}

/** Bytes of JSON after which a batch gets no further list. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** The lists of one batch: their bytes so far, and the end of the last one. */
interface Batch {
  bytes: number;
  turn: Promise<unknown>;
}
const batches = new WeakMap<object, Batch>();

/**
 * Answers a list. Those of a batch are answered one after the other, until they have reached 4 MiB, because the whole batch is
 * kept in memory and sent at once (decisions H3).
 * @throws validationError for the others
 */
export function answerInTurn<Answer>(query: object, answer: () => Promise<Answer>): Promise<Answer> {
  const key = callOf(query)?.batch;
  if (!key) return answer();
  const batch = batches.get(key) ?? { bytes: 0, turn: Promise.resolve() };
  batches.set(key, batch);
  const turn = batch.turn.then(async () => {
    if (batch.bytes >= BATCH_BYTES) throw validationError(['batch gives too much']);
    const answered = await answer();
    batch.bytes += Buffer.byteLength(JSON.stringify(answered));
    return answered;
  });
  batch.turn = turn.catch(() => {});
  return turn;
}
