import { addressGroup, type Identity, type RequestContext } from '@tandem/core';
import type { Caller, ExpandedTogether } from '@tandem/list-query';

/** The parts of a request context that a list needs. */
type ListCall = Pick<RequestContext, 'ip' | 'waiting' | 'departures' | 'calls'> & { identity?: Identity };

const CALL = Symbol('call');

/**
 * Attaches the request to a list query: the gate needs the caller, and the store needs the signal that cancels the query
 * (decisions H1).
 */
export function askedBy<Query extends object>(call: ListCall, query: Query): Query {
  return Object.assign(query, { [CALL]: call });
}

/** The caller that the gate queues by: the identity, else the network. All calls by host code count as one caller. */
export function callerOf(query: object): Caller {
  const { identity, ip = '' } = (query as { [CALL]?: ListCall })[CALL] ?? {};
  if (identity) return { key: identity.id, isAnonymous: false };
  return ip === '' ? { key: 'the host', isAnonymous: false } : { key: addressGroup(ip), isAnonymous: true };
}

const together = new WeakMap<object, ExpandedTogether>();

/**
 * The related records that all calls of one request share; undefined for calls on a socket, which run one after the other, and
 * for host code.
 */
export function togetherOf(query: object): ExpandedTogether | undefined {
  const call = (query as { [CALL]?: ListCall })[CALL];
  if (!call || call.calls) return undefined;
  const known = together.get(call.departures) ?? { bytes: 0 };
  together.set(call.departures, known);
  return known;
}

/** Aborts when the client has left or the request has timed out; undefined for calls by host code. */
export function signalOf(query: object): AbortSignal | undefined {
  return (query as { [CALL]?: ListCall })[CALL]?.waiting?.signal;
}
