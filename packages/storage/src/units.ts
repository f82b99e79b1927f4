import { leaseFor, timeInStore, type Clock } from './clock.js';
import type { Log } from './log.js';
import { isDuplicateKey, isOutOfTime, isStoreUnavailable, UnitUnsettledError } from './failures.js';
import { newId } from './ids.js';
import { SEARCH, searchOf } from './search.js';
import { defineModel, type BaseRecord, type Model } from './model.js';
import { TRACE, traceContext, traceOfNew, tracingWithin, type TraceActor, type Traced } from './traces.js';

/**
 * What a step needs for its writes, so that a process that stalled for longer than its lease writes nothing (decisions
 * H14).
 */
export interface Fence {
  /** A condition to add to a write's filter: the lease has not expired, by the store's time. */
  readonly open: { $expr: object };
  /**
   * Inserts the payload's `field`, a record or a list, unchanged: the store copies it from the intent, so a process
   * that has lost the intent inserts nothing.
   * @throws a duplicate key error (`isDuplicateKey`)
   */
  insert(collectionName: string, field: string): Promise<void>;
}

/** One of several writes. A step must take less than half a minute. */
export interface UnitStep<Payload> {
  name: string;
  /** Without `isDone` it may run again, even long after the first time, and must then not overwrite newer writes. */
  run(payload: Payload, fence: Fence): Promise<unknown>;
  /**
   * Whether all of it was written, whatever was written since. A sweep does not run a step that has this: it asks, and
   * undoes the unit unless the step was done. So such a step overwrites only what its own request saw.
   */
  isDone?(payload: Payload): Promise<boolean>;
  /**
   * May run more than once, also after a `run` that never began or was half done. It undoes the unit's writes, and
   * nothing newer.
   */
  undo(payload: Payload): Promise<unknown>;
}

export interface UnitSettings<Payload> {
  /** Stored in interrupted units: after a rename the old ones are no longer recovered. */
  name: string;
  steps: UnitStep<Payload>[];
}

/** Writes to several records that take effect together, also after a crash. */
export interface Unit<Payload> {
  /**
   * Runs the steps in order. The payload contains every id and time that the steps write, made beforehand; plain values
   * and dates.
   * @param id of the run, where its records may be made by another one: at most one of an id is under way
   * @throws the error of the first failing step, after undoing the earlier steps; an error for which
   * `isStoreUnavailable` is true where the next sweep decides the outcome, also that of an earlier run of this id
   */
  run(payload: Payload, id?: string): Promise<void>;
}

export interface Units {
  define<Payload extends object>(settings: UnitSettings<Payload>): Unit<Payload>;
  /** The names of all defined units. */
  names(): string[];
  /** @throws UnitUnsettledError while a run of this id is under way, or left to the next sweep */
  expectSettled(id: string): Promise<void>;
  /**
   * Completes or undoes the units of dead processes, each in one process only.
   * @param now the store's time
   */
  recover(now: Date): Promise<void>;
}

/** A unit in progress. It exists from before the first step until after the last. */
export interface IntentRecord extends BaseRecord {
  name: string;
  payload: object;
  state: 'running' | 'undoing';
  /** The last step begun, counted from 0. */
  step: number;
  /** The process that holds the lease, and its end by the store's time. After it, any process may take over. */
  owner: string;
  leaseUntil: Date;
  /** Attempts to recover it. */
  attempts: number;
  /** In whose name it writes. */
  actor?: TraceActor | null;
}

export const IntentModel = defineModel<IntentRecord>('units', {
  fields: {
    name: String,
    payload: Object,
    state: String,
    step: Number,
    owner: String,
    leaseUntil: Date,
    attempts: Number,
    actor: Object,
  },
  softDelete: false,
  indexes: [{ keys: { leaseUntil: 1 }, serves: 'interrupted units' }],
});

const leaseMs = 60_000;
const longestWaitMs = 60 * 60_000;

interface UnitsOptions {
  intents: Model<IntentRecord>;
  clock: Clock;
  log: Log;
  /** Called for each write to a collection that bypasses the models. */
  onWrite(collectionName: string): void;
  /** What a collection keeps with its records. */
  keptIn(collectionName: string): { searched: readonly string[]; traced: Traced | undefined };
}

export function createUnits({ intents, clock, log, onWrite, keptIn }: UnitsOptions): Units {
  const settingsOf = new Map<string, UnitSettings<object>>();
  return {
    define(settings) {
      if (settingsOf.has(settings.name)) throw new Error(`The unit ${settings.name} is defined twice`);
      // What is stored under this name came from this unit's own `run`.
      settingsOf.set(settings.name, settings);
      return { run: (payload, id) => begin(settings.name, payload, id) };
    },
    names: () => [...settingsOf.keys()],
    async expectSettled(id) {
      if (await intents.exists({ _id: id })) throw new UnitUnsettledError(`The unit ${id} is not settled yet`);
    },
    async recover(now) {
      const names = [...settingsOf.keys()];
      for (let intent = await take(names, now); intent; intent = await take(names, now)) await recoverOne(intent);
      const unknown = await intents.distinct('name', { leaseUntil: { $lte: now }, name: { $nin: names } });
      if (unknown.length > 0) log.warn({ units: unknown }, 'interrupted units of unknown names are left as they are');
    },
  };

  async function begin(name: string, payload: object, id?: string): Promise<void> {
    const intent = await write(name, payload, id);
    try {
      await runSteps(intent);
    } catch (error) {
      // the outcome of the last write is unknown: the next sweep checks it
      if (isStoreUnavailable(error)) throw error;
      await undoSteps(intent).catch(async (failure: unknown) => {
        await postpone(intent, failure);
        throw new UnitUnsettledError(`The unit ${name} could not be taken back`, { cause: error });
      });
      throw error;
    }
    await remove(intent);
  }

  /** Stores an intent; the store measures its lease. @throws UnitUnsettledError where there is one of this id */
  async function write(name: string, payload: object, _id = newId(clock)): Promise<IntentRecord> {
    const now = clock.now();
    const owner = newId(clock);
    const { actor } = traceContext();
    const fields = { name, payload, state: 'running', step: 0, attempts: 0, actor, createdAt: now, updatedAt: now };
    const own = { _id, owner } as object;
    const storing = intents.collection.findOneAndUpdate(own, [{ $set: { ...literals(fields), ...lease() } }], {
      upsert: true,
      returnDocument: 'after',
      // undefined values must be absent from the stored copy too, not null
      ignoreUndefined: true,
    });
    const stored = await storing.catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
      throw new UnitUnsettledError(`An earlier unit ${name} is not settled yet`, { cause: error });
    });
    // the steps get the caller's own values
    return { ...(stored as unknown as IntentRecord), payload };
  }

  async function recoverOne(intent: IntentRecord): Promise<void> {
    try {
      if (intent.state === 'undoing') await undoSteps(intent);
      else await finish(intent);
      log.info({ unit: intent.name, intent: intent._id }, 'an interrupted unit was recovered');
    } catch (error) {
      await postpone(intent, error);
    }
  }

  async function finish(intent: IntentRecord): Promise<void> {
    try {
      await runSteps(intent, true);
    } catch (error) {
      if (isStoreUnavailable(error)) throw error;
      log.warn({ unit: intent.name, intent: intent._id, err: error }, 'an interrupted unit cannot be finished and is undone');
      return undoSteps(intent);
    }
    await remove(intent);
  }

  async function runSteps(intent: IntentRecord, isRecovery = false): Promise<void> {
    for (const [at, step] of stepsOf(intent).entries()) {
      if (at < intent.step) continue;
      if (at > intent.step) await renew(intent, { step: at });
      if (!isRecovery || !step.isDone) await tracingWithin(tracing(intent), () => step.run(intent.payload, fenceOf(intent)));
      else if (!(await step.isDone(intent.payload)))
        throw new Error(`${step.name} was not done, and only its own process may do it`);
    }
  }

  async function undoSteps(intent: IntentRecord): Promise<void> {
    const steps = stepsOf(intent);
    for (let { step } = intent; step >= 0; step -= 1) {
      await renew(intent, { step, state: 'undoing' });
      await tracingWithin({ undoes: intent._id }, () => steps[step]?.undo(intent.payload));
    }
    await remove(intent);
  }

  function fenceOf(intent: IntentRecord): Fence {
    return {
      get open() {
        return { $expr: { $lt: [timeInStore(clock), intent.leaseUntil] } };
      },
      async insert(collectionName, field) {
        const { searched, traced } = keptIn(collectionName);
        const records = [Reflect.get(intent.payload, field) as object | object[]].flat();
        const context = { ...traceContext(), ...tracing(intent) };
        const kept = records.map((record) => ({
          ...(searched.length > 0 && { [SEARCH]: searchOf(record, searched) }),
          ...(traced && { [TRACE]: traceOfNew(record, clock.now(), traced, context) }),
        }));
        const found = { $arrayElemAt: [{ $literal: kept }, { $ifNull: ['$at', 0] }] };
        const copy = [
          { $match: { _id: intent._id, owner: intent.owner, ...this.open } },
          { $unwind: { path: `$payload.${field}`, includeArrayIndex: 'at' } },
          { $replaceWith: { $mergeObjects: [`$payload.${field}`, found] } },
          { $merge: { into: collectionName, whenMatched: 'fail' } },
        ];
        await intents.collection
          .aggregate(copy)
          .toArray()
          .finally(() => onWrite(collectionName));
      },
    };
  }

  /** Extends the intent's lease by a minute and records its progress. */
  async function renew(intent: IntentRecord, progress: Partial<IntentRecord>): Promise<void> {
    const own = { _id: intent._id, owner: intent.owner, $expr: { $gt: ['$leaseUntil', timeInStore(clock)] } };
    const stages = [{ $set: { ...literals(progress), ...lease() } }];
    const renewed = await intents.collection.findOneAndUpdate(own as object, stages, {
      returnDocument: 'after',
      projection: { leaseUntil: 1 },
    });
    if (!renewed) throw new UnitUnsettledError(`The unit ${intent.name} took too long`);
    Object.assign(intent, progress, { leaseUntil: renewed['leaseUntil'] as Date });
  }

  /** Takes over one expired intent, so that no other process does. */
  async function take(names: string[], now: Date): Promise<IntentRecord | null> {
    const stages = [{ $set: { ...literals({ owner: newId(clock) }), ...lease(), attempts: { $add: ['$attempts', 1] } } }];
    const taken = await intents.collection.findOneAndUpdate({ leaseUntil: { $lte: now }, name: { $in: names } }, stages, {
      returnDocument: 'after',
    });
    return taken as unknown as IntentRecord | null;
  }

  /** Leaves the intent for a later sweep, with a delay that grows unless the store ran out of time: a long write goes on. */
  async function postpone(intent: IntentRecord, error: unknown): Promise<void> {
    log.error(
      { unit: intent.name, intent: intent._id, attempts: intent.attempts, err: error },
      'a unit could not be recovered; it is tried again',
    );
    const own = { _id: intent._id, owner: intent.owner } as object;
    const attempts = isOutOfTime(error) ? 0 : intent.attempts;
    const wait = { attempts, ...lease(Math.min(leaseMs * 2 ** attempts, longestWaitMs)) };
    // if this fails too, the lease simply expires
    await intents.collection.updateOne(own, [{ $set: wait }]).catch(() => undefined);
  }

  /** Ends the unit with the single write that decides its outcome. */
  async function remove(intent: IntentRecord): Promise<void> {
    const { deletedCount } = await intents.deleteOne({ _id: intent._id, owner: intent.owner });
    if (deletedCount === 0) throw new UnitUnsettledError(`The unit ${intent.name} took too long and was taken over`);
  }

  function stepsOf(intent: IntentRecord): UnitStep<object>[] {
    return (settingsOf.get(intent.name) as UnitSettings<object>).steps;
  }

  function lease(milliseconds = leaseMs): { leaseUntil: object } {
    return leaseFor(clock, milliseconds);
  }
}

/** What the writes of a unit are part of, also those of a sweep. */
function tracing({ _id, actor }: IntentRecord): { unit: string; actor?: TraceActor | null } {
  return { unit: _id, ...(actor !== undefined && { actor }) };
}

/** Marks values as literals in an update pipeline, which would otherwise read them as expressions. */
function literals(values: object): Record<string, { $literal: unknown }> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { $literal: value as unknown }]));
}
