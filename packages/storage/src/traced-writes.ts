import type { Collection } from 'mongoose';
import type { Clock } from './clock.js';
import { completeWrites, replaceMethod, type Plain } from './collection-wraps.js';
import {
  IS_NEW,
  TRACE,
  VersionError,
  expectedOf,
  isTold,
  ofVersions,
  stagesAround,
  stagesOfRemoval,
  traceContext,
  traceOfNew,
  type ExpectedVersions,
  type Traced,
} from './traces.js';

/**
 * Keeps, in the very writes of a collection's records, their versions and what is to be told of them: so that no crash
 * separates a write from its event (decisions E1). Hides it from reads.
 */
export function keepTraces(collection: Collection, clock: Clock, traced: Traced): void {
  // a record that is read alone has its version
  completeWrites(collection, (read) => (read === 'find' ? [TRACE] : HIDDEN), {
    // a record that was made earlier, or by a batch for several callers, brings its own
    document: (document) =>
      hasEvents(document) ? document : { ...document, [TRACE]: traceOfNew(document, clock.now(), traced) },
    update: (update) => inUpdate(update, clock.now(), traced),
  });
  if (traced.removes) leaveShells(collection, clock, traced);
  expectVersions(collection, traced);
}

const HIDDEN = [`${TRACE}.events`, `${TRACE}.since`];

function hasEvents(document: object): boolean {
  return (Reflect.get(document, TRACE) as { events?: unknown } | undefined)?.events !== undefined;
}

/** Lets changes of a record meet the version that the caller expects of it (decisions E6). */
function expectVersions(collection: Collection, traced: Traced): void {
  for (const name of ['updateOne', 'updateMany', 'findOneAndUpdate', 'findOneAndDelete', 'deleteOne'])
    replaceMethod(collection, name, (run, [filter, ...others]) => {
      const expected = expectedOf(idIn(filter as Plain));
      const [update] = others as [object];
      const isChange =
        name.includes('elete') || isTold(Array.isArray(update) ? update.flatMap(pathsOf) : pathsOf(update), traced);
      if (!expected || !isChange || VERSION in (filter as Plain)) return run(filter, ...others);
      return meet(collection, expected, run({ ...(filter as Plain), ...ofVersions(expected) }, ...others) as Promise<unknown>);
    });
  replaceMethod(collection, 'bulkWrite', (run, [operations, options]) => {
    const own = (operations as { updateOne?: { filter: Plain } }[]).find(({ updateOne }) => expectedOf(idIn(updateOne?.filter)));
    const expected = own && expectedOf(idIn(own.updateOne?.filter));
    if (!own?.updateOne || !expected) return run(operations, options);
    const conditional = { updateOne: { ...own.updateOne, filter: { ...own.updateOne.filter, ...ofVersions(expected) } } };
    const others = (operations as object[]).map((one) => (one === own ? conditional : one));
    return meet(collection, expected, run(others, options) as Promise<unknown>);
  });
}

const VERSION = `${TRACE}.version`;

/** The record that a filter names: `{ _id }`, `{ _id: { $in: [id] } }`. */
function idIn(filter: Plain = {}): unknown {
  const { _id } = filter as { _id?: { $in?: unknown[]; $eq?: unknown } | string };
  if (typeof _id !== 'object') return _id;
  return _id.$in?.length === 1 ? _id.$in[0] : _id.$eq;
}

/** @throws VersionError when a write has changed nothing because the record has another version */
async function meet(collection: Collection, expected: ExpectedVersions, writing: Promise<unknown>): Promise<unknown> {
  const result = await writing;
  const { matchedCount, deletedCount } = (result ?? { matchedCount: 0 }) as { matchedCount?: number; deletedCount?: number };
  if (result !== null && (matchedCount ?? deletedCount) !== 0) {
    expected.isMet = true;
    return result;
  }
  const found = (await collection.findOne({ _id: expected.id } as object, { projection: { [VERSION]: 1 } })) as {
    trace?: { version: number };
  } | null;
  if (found && !expected.versions.includes(found.trace?.version ?? 0)) throw new VersionError();
  return result;
}

function pathsOf(stage: object): string[] {
  return Object.values(stage).flatMap((fields: unknown) =>
    typeof fields === 'string' ? [fields] : Array.isArray(fields) ? (fields as string[]) : Object.keys(fields as object),
  );
}

function inUpdate(update: object, at: Date, traced: Traced): object {
  const paths = Array.isArray(update) ? update.flatMap(pathsOf) : pathsOf(update);
  // one that brings its own trace is a removal
  if (paths.includes(TRACE) || !isTold(paths, traced)) return update;
  // nothing happens to a record that is there
  const { $setOnInsert: made, ...others } = update as { $setOnInsert?: object };
  if (made && Object.keys(others).length === 0) return { $setOnInsert: { ...made, [TRACE]: traceOfNew(made, at, traced) } };
  const { parts } = traced;
  const [before, after] = stagesAround(at, traced, parts !== undefined && paths.includes(parts.field));
  return [before, ...(Array.isArray(update) ? (update as object[]) : stagesOf(update as Plain)), after];
}

/** How each operator changes a field, as an expression. */
const CHANGES: Record<string, (field: string, value: unknown) => unknown> = {
  $set: (_, $literal) => ({ $literal }),
  $setOnInsert: (field, $literal) => ({ $cond: [IS_NEW, { $literal }, `$${field}`] }),
  $unset: () => '$$REMOVE',
  $push: (field, value) => {
    const many = (value as { $each?: unknown[] } | null)?.$each ?? [value];
    return { $concatArrays: [{ $ifNull: [`$${field}`, []] }, { $literal: many }] };
  },
  $pull: (field, value) => {
    const isOther = { $not: [matching('$$one', value)] };
    const others = { $filter: { input: `$${field}`, as: 'one', cond: isOther } };
    return { $cond: [{ $isArray: `$${field}` }, others, `$${field}`] };
  },
};

/** Whether an element is a value, or has the fields of one. */
function matching(element: string, value: unknown): object {
  if (typeof value !== 'object' || value === null) return { $eq: [element, { $literal: value }] };
  return { $and: Object.entries(value).map(([field, $literal]) => ({ $eq: [`${element}.${field}`, { $literal }] })) };
}

/** An update by operators as a pipeline. @throws TypeError for an operator that is not known here */
function stagesOf(update: Plain): object[] {
  const changes = Object.entries(update).flatMap(([operator, fields]) => {
    const change = CHANGES[operator];
    if (!change) throw new TypeError(`${operator} cannot change a record whose changes are told`);
    const given = Object.entries(fields as Plain).filter(([, value]) => value !== undefined);
    return given.map(([field, value]) => [field, change(field, value)] as const);
  });
  return [{ $set: Object.fromEntries(changes) }];
}

/** A shell is what is left of one that was removed: it cannot be removed again. */
const IS_THERE = { [`${TRACE}.isRemoved`]: { $ne: true } };

/** Lets removals leave a shell of the record, unless they take back its making. */
function leaveShells(collection: Collection, clock: Clock, traced: Traced): void {
  const isUndo = () => traceContext().undoes !== undefined;
  replaceMethod(collection, 'findOneAndDelete', (run, [filter, options]) => {
    if (isUndo()) return run(filter, options);
    const update = stagesOfRemoval(clock.now(), traced);
    return collection.findOneAndUpdate({ ...(filter as object), ...IS_THERE }, update, {
      ...(options as object),
      returnDocument: 'before',
    });
  });
  replaceMethod(collection, 'deleteOne', async (run, [filter, options]) => {
    if (isUndo()) return run(filter, options);
    const update = stagesOfRemoval(clock.now(), traced);
    const { acknowledged, modifiedCount } = await collection.updateOne(
      { ...(filter as object), ...IS_THERE },
      update,
      options as object,
    );
    return { acknowledged, deletedCount: modifiedCount };
  });
}
