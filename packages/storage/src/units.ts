import type { Clock } from './clock.js';
import type { Log } from './log.js';
import { isStoreUnavailable } from './failures.js';
import { newId } from './ids.js';
import { defineModel, type BaseRecord, type Model } from './model.js';

/**
 * One write of several. Both may run more than once, and `undo` after a `run` that was never begun or only half done: each must
 * come to the same end every time. A step takes less than half a minute.
 */
export interface UnitStep<Payload> {
  name: string;
  run(payload: Payload): Promise<unknown>;
  undo(payload: Payload): Promise<unknown>;
}

export interface UnitSettings<Payload> {
  /** Stored with what is under way: renaming a unit leaves what was interrupted before. */
  name: string;
  /** What becomes of a unit whose process died: its steps are completed, or taken back. */
  recovery: 'finish' | 'undo';
  steps: UnitStep<Payload>[];
}

/** Writes to several records that take effect together, also after a crash. */
export interface Unit<Payload> {
  /**
   * Runs the steps in order. The payload carries every id and time the steps write, made beforehand; plain values and dates.
   * @throws the error of the first failing step, after the steps before it were taken back
   */
  run(payload: Payload): Promise<void>;
}

export interface Units {
  define<Payload extends object>(settings: UnitSettings<Payload>): Unit<Payload>;
  /** Completes or takes back what is left of dead processes, each unit in one process only. */
  recover(): Promise<void>;
}

/** A unit under way. It exists from before the first step until after the last. */
export interface IntentRecord extends BaseRecord {
  name: string;
  payload: object;
  state: 'running' | 'undoing';
  /** The step that was begun last, counted from 0. */
  step: number;
  /** Who works on it, until when. After that time any process may take it. */
  owner: string;
  leaseUntil: Date;
  /** How often its recovery was tried. */
  attempts: number;
}

export const IntentModel = defineModel<IntentRecord>('units', {
  fields: { name: String, payload: Object, state: String, step: Number, owner: String, leaseUntil: Date, attempts: Number },
  softDelete: false,
  indexes: [{ keys: { leaseUntil: 1 }, serves: 'interrupted units' }],
});

const leaseMs = 60_000;
const longestWaitMs = 60 * 60_000;

/** Somebody else works on the intent: this process was away for longer than its lease. */
class LeaseLost extends Error {}

type Intent = Pick<IntentRecord, '_id' | 'name' | 'payload' | 'state' | 'step' | 'owner' | 'attempts'>;

export function createUnits({ intents, clock, log }: { intents: Model<IntentRecord>; clock: Clock; log: Log }): Units {
  const settingsOf = new Map<string, UnitSettings<object>>();
  return {
    define(settings) {
      if (settingsOf.has(settings.name)) throw new Error(`The unit ${settings.name} is defined twice`);
      // What was stored under this name was handed to this unit's own `run`.
      settingsOf.set(settings.name, settings);
      return { run: (payload) => begin(settings.name, payload) };
    },
    async recover() {
      const names = [...settingsOf.keys()];
      for (let intent = await take(names); intent; intent = await take(names)) await recoverOne(intent);
      const unknown = await intents.distinct('name', { leaseUntil: { $lte: clock.now() }, name: { $nin: names } });
      if (unknown.length > 0) log.warn({ units: unknown }, 'interrupted units of unknown names are left as they are');
    },
  };

  async function begin(name: string, payload: object): Promise<void> {
    const intent: Intent = { _id: newId(clock), name, payload, state: 'running', step: 0, owner: newId(clock), attempts: 0 };
    const now = clock.now();
    // Not through the model: an undefined value must be absent in the stored copy as well, not null.
    await intents.collection.insertOne({ ...intent, leaseUntil: lease(), createdAt: now, updatedAt: now } as never, {
      ignoreUndefined: true,
    });
    try {
      await runSteps(intent);
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      await undoSteps(intent).catch((failure: unknown) => postpone(intent, failure));
      throw error;
    }
    await remove(intent);
  }

  async function recoverOne(intent: Intent): Promise<void> {
    try {
      if (intent.state === 'undoing' || unit(intent).recovery === 'undo') await undoSteps(intent);
      else await finish(intent);
      log.info({ unit: intent.name, intent: intent._id }, 'an interrupted unit was recovered');
    } catch (error) {
      await postpone(intent, error);
    }
  }

  async function finish(intent: Intent): Promise<void> {
    try {
      await runSteps(intent);
    } catch (error) {
      if (error instanceof LeaseLost || isStoreUnavailable(error)) throw error;
      log.warn({ unit: intent.name, intent: intent._id, err: error }, 'an interrupted unit cannot be finished and is undone');
      return undoSteps(intent);
    }
    await remove(intent);
  }

  async function runSteps(intent: Intent): Promise<void> {
    const { steps } = unit(intent);
    for (let step = intent.step; step < steps.length; step += 1) {
      if (step > 0) await renew(intent, { step });
      await steps[step]?.run(intent.payload);
    }
  }

  async function undoSteps(intent: Intent): Promise<void> {
    const { steps } = unit(intent);
    for (let { step } = intent; step >= 0; step -= 1) {
      await renew(intent, { step, state: 'undoing' });
      await steps[step]?.undo(intent.payload);
    }
    await remove(intent);
  }

  /** Keeps the intent for another minute and notes how far it is. */
  async function renew(intent: Intent, progress: Partial<Intent>): Promise<void> {
    const { matchedCount } = await intents.updateOne(
      { _id: intent._id, owner: intent.owner },
      { $set: { ...progress, leaseUntil: lease() } },
    );
    if (matchedCount === 0) throw new LeaseLost(`The unit ${intent.name} took too long and was taken over`);
    Object.assign(intent, progress);
  }

  /** Takes one intent whose time has passed, so that no other process does. */
  async function take(names: string[]): Promise<Intent | null> {
    return intents
      .findOneAndUpdate(
        { leaseUntil: { $lte: clock.now() }, name: { $in: names } },
        { $set: { owner: newId(clock), leaseUntil: lease() }, $inc: { attempts: 1 } },
        { sort: { leaseUntil: 1 }, returnDocument: 'after' },
      )
      .lean<Intent>();
  }

  /** Leaves the intent for a later sweep, each time for longer. Where even that fails, its lease runs out by itself. */
  async function postpone(intent: Intent, error: unknown): Promise<void> {
    log.error(
      { unit: intent.name, intent: intent._id, attempts: intent.attempts, err: error },
      'a unit could not be recovered; it is tried again',
    );
    const leaseUntil = new Date(clock.now().getTime() + Math.min(leaseMs * 2 ** intent.attempts, longestWaitMs));
    await intents.updateOne({ _id: intent._id, owner: intent.owner }, { $set: { leaseUntil } }).catch(() => undefined);
  }

  async function remove(intent: Intent): Promise<void> {
    await intents.deleteOne({ _id: intent._id, owner: intent.owner });
  }

  function unit(intent: Intent): UnitSettings<object> {
    const settings = settingsOf.get(intent.name);
    if (!settings) throw new Error(`No unit is named ${intent.name}`);
    return settings;
  }

  function lease(): Date {
    return new Date(clock.now().getTime() + leaseMs);
  }
}
