import { AsyncLocalStorage } from 'node:async_hooks';

/** The field in which a record keeps its version, and what has happened to it and stands in no log yet. Never shown. */
export const TRACE = 'trace';
/** The trace of a new record of which nobody is told. */
export const NO_EVENTS = { version: 1, events: [] } as const;
/** Changes that wait in one record; beyond them, one update takes the place of another. */
const WAITING_MAX = 500;

/** Who made a change. */
export interface TraceActor {
  type: 'identity' | 'key' | 'system';
  id: string | null;
}

/** What can happen to a record. */
export const TRACE_TYPES = ['created', 'updated', 'deleted', 'restored'] as const;
export type TraceType = (typeof TRACE_TYPES)[number];

/** A change of a record that stands in no log yet. */
export interface TraceEntry {
  /** The record's version by this change; 1 is the first. */
  version: number;
  type: TraceType;
  at: Date;
  actor: TraceActor | null;
  /** The unit of work that it is part of. Until that has ended, nobody knows whether it stands. */
  unit?: string;
  /** The record after this change; absent while it is the last, whose state is the record's own. */
  state?: Record<string, unknown>;
  /** Elements of the record that have a history of their own: as they are now, and as they were. */
  parts?: { now: object[]; was: object[] };
}

/** How changes of a collection's records are told. */
export interface Traced {
  /** The kind of record, as events name it. */
  kind: string;
  /** Fields that no event shows. */
  hidden?: readonly string[];
  /** Fields whose changes alone are no change of the record, besides `ALWAYS_UNTOLD`. */
  untold?: readonly string[];
  /** A field that holds a list of elements with a history of their own, and what identifies an element. */
  parts?: { kind: string; field: string; by: string };
  /** The field with the id of the organization that a record belongs to; or the record that it belongs to with. */
  organization?: string | { through: string; by: string };
  /**
   * Records are removed for real. Until the log has their end, only a shell of them stays, without these fields of
   * unique indexes.
   */
  removes?: readonly string[];
}

/** What a write is part of. */
export interface TraceContext {
  actor: TraceActor | null;
  unit?: string;
  /** The unit that is being taken back. */
  undoes?: string;
  /** The only versions of a record in which it may be changed. */
  expected?: ExpectedVersions;
  /** The ids of the records that it has made. */
  made?: Set<string>;
}

/** What a caller knows of a record: `If-Match` (decisions E6). */
export interface ExpectedVersions {
  id: string;
  versions: readonly number[];
  /** Set by the first change, which makes another version. */
  isMet?: boolean;
}

/** A record has another version than the caller expects. */
export class VersionError extends Error {
  override readonly name = 'VersionError';
}

const SYSTEM: TraceContext = { actor: { type: 'system', id: null } };
const contexts = new AsyncLocalStorage<TraceContext>();

/** Runs what writes in the name of somebody; null is an anonymous caller. Writes outside are the system's. */
export function actingAs<T>(actor: TraceActor | null, run: () => T): T {
  return contexts.run({ actor, made: new Set() }, run);
}

/** Runs what writes in nobody's name, such as work for all callers that one of them has woken. */
export function asSystem<T>(run: () => T): T {
  return contexts.run(SYSTEM, run);
}

/** Notes a record that the call under way makes by an upsert. */
export function noteMade(id: string): void {
  contexts.getStore()?.made?.add(id);
}

/** Whether the call under way has made a record. */
export function hasMade(id: string): boolean {
  return contexts.getStore()?.made?.has(id) === true;
}

/** Runs what changes a record only in some versions. Its change throws a `VersionError` in another. */
export function expecting<T>(expected: ExpectedVersions, run: () => T): T {
  return contexts.run({ ...traceContext(), expected: { ...expected } }, run);
}

/** What a write of a record has to match besides, until the first has changed it; undefined where nothing is expected. */
export function expectedOf(id: unknown): ExpectedVersions | undefined {
  const { expected, undoes } = traceContext();
  return undoes === undefined && expected?.id === id && !expected?.isMet ? expected : undefined;
}

/** The records of some versions. One that was never written with a trace has version 0. */
export function ofVersions({ versions }: ExpectedVersions): Record<string, object> {
  return { [`${TRACE}.version`]: { $in: versions.includes(0) ? [...versions, null] : versions } };
}

/** Runs what writes as part of a unit of work, or takes it back. */
export function tracingWithin<T>(within: Partial<TraceContext>, run: () => PromiseLike<T> | undefined): Promise<T | undefined> {
  // a query of Mongoose begins when it is awaited
  return contexts.run({ ...traceContext(), ...within }, async () => await run());
}

/** What a write made now is part of. Code that writes for several callers at once keeps it from each call. */
export function traceContext(): TraceContext {
  return contexts.getStore() ?? SYSTEM;
}

/** Fields of the store's own, in no event or archive. Spelled out, as `purges.ts` imports this file. */
export const INTERNAL = ['deletionId', 'restoration', 'notes', 'writer', 'treeVersion', 'hiddenBy', 'purging', 'search', TRACE];
const ALWAYS_UNTOLD = ['_id', ...INTERNAL];

/** Whether a write of these paths changes what is told of a record. */
export function isTold(paths: readonly string[], { untold = [] }: Traced): boolean {
  return paths.some((path) => {
    const field = path.split('.', 1)[0] as string;
    return !ALWAYS_UNTOLD.includes(field) && !untold.includes(field);
  });
}

/** The trace of a new record. */
export function traceOfNew(record: object, at: Date, { parts }: Traced, { actor, unit, made } = traceContext()): object {
  made?.add(String(Reflect.get(record, '_id')));
  const now: unknown = parts && Reflect.get(record, parts.field);
  const entry = {
    version: 1,
    type: 'created',
    at,
    actor,
    ...(unit !== undefined && { unit }),
    ...(Array.isArray(now) && now.length > 0 && { parts: { now, was: [] } }),
  };
  return { version: 1, since: at, events: [entry] };
}

const path = (name: string) => `$${TRACE}.${name}`;
/** The entries that wait, after the first of `stagesAround`. */
const EVENTS = path('events');
const IS_FULL = { $gte: [{ $size: EVENTS }, WAITING_MAX] };
/** In the stages of `stagesAround`: whether the write makes the record. */
export const IS_NEW = { $eq: [path('was'), 'new'] };

/** A record without what no event shows. */
export function shownIn(record: string, { hidden = [] }: Traced): unknown {
  const unset = [...new Set([...hidden, 'search', TRACE])];
  return unset.reduce<unknown>((input, field) => ({ $unsetField: { field, input } }), record);
}

const elementsOf = ({ parts }: Traced) => parts && { $ifNull: [`$${parts.field}`, []] };

/** What the stages between need to know, and the entries that wait, each with its state. */
function seenBefore(traced: Traced): Record<string, unknown> {
  const waiting = { $ifNull: [EVENTS, []] };
  const kept = { $map: { input: waiting, as: 'one', in: { $mergeObjects: [{ state: shownIn('$$ROOT', traced) }, '$$one'] } } };
  return {
    version: { $ifNull: [path('version'), 0] },
    was: {
      $cond: [{ $lte: ['$createdAt', null] }, 'new', { $cond: [{ $gt: ['$deletedAt', null] }, 'deleted', 'live'] }],
    },
    events: kept,
  };
}

/**
 * The stages before and after those of an update of a record's told fields. Nothing is copied unless an earlier change
 * still waits: then that one keeps the state in which this write found the record.
 * @param changesParts whether the update may change the elements
 */
export function stagesAround(at: Date, traced: Traced, changesParts: boolean, context = traceContext()): [object, object] {
  const elements = changesParts ? elementsOf(traced) : undefined;
  const before = { ...seenBefore(traced), ...(elements && { parts: elements }) };
  return [{ $set: { [TRACE]: before } }, { $set: { [TRACE]: after(at, context, elements) } }];
}

function after(at: Date, { actor, unit, undoes }: TraceContext, elements: unknown): object {
  const isLive = { $lte: ['$deletedAt', null] };
  const ofDeleted = { $cond: [isLive, 'restored', null] };
  const ofLive = { $cond: [isLive, 'updated', 'deleted'] };
  const ofKnown = { $cond: [{ $eq: [path('was'), 'live'] }, ofLive, ofDeleted] };
  const type = { $cond: [IS_NEW, 'created', ofKnown] };
  const version = { $add: [path('version'), 1] };
  const parts = {
    now: { $setDifference: [elements, path('parts')] },
    was: { $setDifference: [path('parts'), elements] },
  };
  const entry = {
    version,
    type,
    at,
    actor: { $literal: actor },
    ...(unit !== undefined && { unit }),
    ...(elements !== undefined && { parts }),
  };
  const isOwn = (one: string) => ({ $eq: [`${one}.unit`, undoes] });
  const others = { $filter: { input: EVENTS, as: 'one', cond: { $not: [isOwn('$$one')] } } };
  // the version is another, so that an append of the former under way does not clear this one
  const isReplaced = {
    $and: [
      elements === undefined,
      IS_FULL,
      ...[type, '$$last.type'].map((one) => ({ $eq: [one, 'updated'] })),
      { $eq: [{ $ifNull: ['$$last.unit', null] }, unit ?? null] },
      { $lte: ['$$last.parts', null] },
    ],
  };
  const known = { $cond: [isReplaced, { $slice: [EVENTS, { $subtract: [{ $size: EVENTS }, 1] }] }, EVENTS] };
  // what is taken back before anybody was told of it leaves no trace
  const isNone = { $or: [{ $eq: [type, null] }, ...(undoes === undefined ? [] : [isOwn('$$last')])] };
  const standing = undoes === undefined ? known : others;
  const events = {
    $let: {
      vars: { last: { $ifNull: [{ $last: EVENTS }, {}] } },
      in: { $concatArrays: [standing, { $cond: [isNone, [], [entry]] }] },
    },
  };
  // an expression, since an object would be merged into the field
  return { $mergeObjects: [{ version, events, since: { $ifNull: [path('since'), at] } }] };
}

/** The stages that make a record the shell of one that is removed. */
export function stagesOfRemoval(at: Date, traced: Traced, { actor } = traceContext()): object[] {
  const last = { $mergeObjects: [shownIn('$$ROOT', traced), { deletedAt: at }] };
  const version = { $add: [path('version'), 1] };
  const entry = { version, type: 'deleted', at, actor: { $literal: actor }, state: path('last') };
  const trace = {
    version,
    events: { $concatArrays: [EVENTS, [entry]] },
    since: { $ifNull: [path('since'), at] },
    isRemoved: true,
  };
  const keys = Object.fromEntries((traced.removes ?? []).map((field) => [field, { $concat: ['removed ', '$_id'] }]));
  return [
    { $set: { [TRACE]: { ...seenBefore(traced), last } } },
    { $set: { ...keys, deletedAt: at, [TRACE]: { $mergeObjects: [trace] } } },
  ];
}
