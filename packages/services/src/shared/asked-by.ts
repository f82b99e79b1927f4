import { addressGroup, type Identity, type RequestContext } from '@tandem/core';
import type { Caller, ExpandedTogether } from '@tandem/list-query';

/** The call by which a list is asked for. */
type ListCall = Pick<RequestContext, 'ip' | 'waiting' | 'departures' | 'calls'> & { identity?: Identity };

const CALL = Symbol('call');

/** A list's query with the call that it is of, for whose turn it is and until when its answer is waited for (decisions H1). */
export function askedBy<Query extends object>(call: ListCall, query: Query): Query {
  return Object.assign(query, { [CALL]: call });
}

/** Who asks; code of the host's own is one caller of no name. */
export function callerOf(query: object): Caller {
  const { identity, ip = '' } = (query as { [CALL]?: ListCall })[CALL] ?? {};
  if (identity) return { key: identity.id, isAnonymous: false };
  return ip === '' ? { key: 'the host', isAnonymous: false } : { key: addressGroup(ip), isAnonymous: true };
}

const together = new WeakMap<object, ExpandedTogether>();

/** What all calls of one request have of related records; undefined where calls come one after the other, on a socket, or from a host's own code. */
export function togetherOf(query: object): ExpandedTogether | undefined {
  const call = (query as { [CALL]?: ListCall })[CALL];
  if (!call || call.calls) return undefined;
  const known = together.get(call.departures) ?? { bytes: 0 };
  together.set(call.departures, known);
  return known;
}

/** Aborted when nobody waits for the answer any more; undefined where a host's own code asks. */
export function signalOf(query: object): AbortSignal | undefined {
  return (query as { [CALL]?: ListCall })[CALL]?.waiting?.signal;
}
