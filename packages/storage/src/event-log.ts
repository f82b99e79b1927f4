import type { mongo } from 'mongoose';
import { defineModel, type BaseRecord } from './model.js';
import { MAJORITY } from './failures.js';
import type { TraceActor } from './traces.js';

/** Marks commands that append to the log or follow it, for those who watch the store. */
export const BESIDE = { comment: 'event log' } as const;

/** A change of a record, in the order in which it became known. */
export interface LoggedEvent {
  /** A UUID v7; grows from event to event. */
  _id: string;
  /** `order.created`. */
  type: string;
  at: Date;
  subject: { type: string; id: string };
  organizationId: string | null;
  actor: TraceActor | null;
  /** The record after the change, as stored, without what its model hides; a deleted one as it was last. */
  state: Record<string, unknown>;
}

export const eventModel = defineModel<BaseRecord & LoggedEvent>('events', {
  softDelete: false,
  // ids alone stay: they lead to nobody. States follow what the models of their records say
  people: {
    'actor.id': { erased: 'keep', exported: false },
    'subject.id': { erased: 'keep', exported: false },
    state: { erased: 'own', exported: false },
  },
  fields: { type: String, at: Date, subject: Object, organizationId: String, actor: Object, state: Object },
  indexes: [
    { keys: { type: 1, _id: 1 }, serves: 'the events of some types, in order' },
    { keys: { organizationId: 1, type: 1, _id: 1 }, serves: 'the events of an organization, in order' },
    { keys: { 'subject.id': 1 }, where: { 'state.email': { $gt: '' } }, serves: 'the addresses that a record had' },
  ],
});

/** An event that is being appended: an element's with its state; a record's with the version of the change that it tells. */
export type PendingEvent = Omit<LoggedEvent, 'state'> & { state?: LoggedEvent['state']; version?: number };

/** The state of the log: one document. Ids are missing before the first event. */
export interface LogState {
  _id: string;
  /** The process that appends, until a time of the store's. */
  owner: string | null;
  leaseUntil: Date;
  /** The last id given to an event. */
  lastId?: string;
  /** The last event that may be shown: all before it are stored. */
  head?: string;
  /** All events up to this one have been removed. */
  removedUpTo?: string;
  /** Events that are being appended, and what is then cleared in the records that they came from. */
  batch?: PendingEvent[];
  cleared?: Cleared[];
}

/** The entries of a record that stand in the log: those up to a version. */
export interface Cleared {
  collection: string;
  id: string;
  version: number;
  /** The record is removed with them. */
  isRemoved?: true;
}

export const logStateModel = defineModel<BaseRecord & LogState>('eventLog', {
  softDelete: false,
  fields: {
    owner: String,
    leaseUntil: Date,
    lastId: String,
    head: String,
    removedUpTo: String,
    batch: [Object],
    cleared: [Object],
  },
  indexes: [],
});
export const LOG_STATE = 'log';

/** Sorts before all ids. */
export const BEFORE_ALL = '';

export interface EventQuery {
  /** The id of the last event that is known. */
  since?: string | undefined;
  /** `order.created`; default all. */
  types?: readonly string[] | undefined;
  organizationId?: string | undefined;
  limit: number;
}
export interface EventPage {
  events: LoggedEvent[];
  /** Where to go on: the last event shown, or of the log if there are no more; null before the first. */
  nextSince: string | null;
  /** Events after `since` have been removed. */
  isGone: boolean;
}

/** The id of the last event that may be shown; null before the first. */
export async function lastEvent({ states }: { states: mongo.Collection<LogState> }): Promise<string | null> {
  const state = await states.findOne({ _id: LOG_STATE }, { projection: { head: 1 }, ...MAJORITY });
  const { head = BEFORE_ALL } = state ?? {};
  return head === BEFORE_ALL ? null : head;
}

/** Reads the log. What has been shown to somebody must not be rolled back: with majority concern (decisions H13). */
export async function readEvents(
  { events, states }: { events: mongo.Collection<LoggedEvent>; states: mongo.Collection<LogState> },
  { since = BEFORE_ALL, types, organizationId, limit }: EventQuery,
): Promise<EventPage> {
  const marks = () => states.findOne({ _id: LOG_STATE }, { projection: { head: 1, removedUpTo: 1 }, ...MAJORITY });
  const { head = BEFORE_ALL, removedUpTo = BEFORE_ALL } = (await marks()) ?? {};
  if (since !== BEFORE_ALL && since < removedUpTo) return { events: [], nextSince: since, isGone: true };
  const filter = {
    _id: { $gt: since, $lte: head },
    ...(types && { type: { $in: types } }),
    ...(organizationId !== undefined && { organizationId }),
  };
  const found = await events.find(filter, { sort: { _id: 1 }, limit, ...MAJORITY }).toArray();
  // the marks say what is removed before it is: some of it may have gone while it was read
  if (since !== BEFORE_ALL && since < ((await marks())?.removedUpTo ?? BEFORE_ALL))
    return { events: [], nextSince: since, isGone: true };
  const last = found.length < limit ? head : (found.at(-1)?._id ?? head);
  const nextSince = last > since ? last : since;
  return { events: found, nextSince: nextSince === BEFORE_ALL ? null : nextSince, isGone: false };
}
