import { createCascades, type Cascades } from './cascades.js';
import { systemClock, timeInStore, type Clock } from './clock.js';
import { connect, database } from './connection.js';
import { createJointWrites, type JointWrite } from './joint-writes.js';
import { compareIndexes, createIndexes, type IndexCreation, type IndexReport } from './indexes.js';
import { noLog, type Log } from './log.js';
import { compileModel, type BaseRecord, type IndexDefinition, type Model, type ModelDefinition } from './model.js';
import { timeOperations, type OperationListener } from './operations.js';
import type { PoolState } from './pool.js';
import { fillSearch } from './search-filling.js';
import { removeExpired, sweepNowAndThen } from './sweeper.js';
import { CLAIMS, expectWhole, exportLines, importLines, type TransferProgress } from './transfer.js';
import { eventModel, logStateModel } from './event-log.js';
import { createEventFeed, type EventFeed } from './events.js';
import type { Traced } from './traces.js';
import { createPeopleData, type PeopleData } from './people-data.js';
import { createUnits, IntentModel, type Unit, type UnitSettings } from './units.js';

/** How often is looked for changes that a process has not told of before it died, in milliseconds. */
const RELAYED_MS = 2000;

export interface StorageOptions {
  /**
   * URI of a MongoDB 7.0 or later; its path names the database, `tandem` by default. It may not weaken `primary` and
   * `majority`, nor set the pool size.
   */
  uri: string;
  clock?: Clock;
  log?: Log;
  /** Longest time for one operation in the store, in ms. Default 10,000. */
  maxTimeMs?: number;
  /**
   * Most connections. Default 50; over a Unix socket 8, the number of commands that the embedded engine runs
   * concurrently.
   */
  poolSize?: number;
}

/** A connection, its models, and the maintenance of their records. */
export interface Storage {
  readonly clock: Clock;
  /** The Mongoose model of a definition on this connection; always the same object. */
  model<R extends BaseRecord>(definition: ModelDefinition<R>): Model<R>;
  /** Adds indexes to those of a definition, here alone: for fields that this host declares. */
  addIndexes(definition: { collectionName: string }, indexes: readonly IndexDefinition[]): void;
  /**
   * Calls `listener` when a write of this process to a collection has ended, successfully or not: caches of it may be
   * stale.
   */
  onWrite(listener: (collectionName: string) => void): void;
  /**
   * Independent writes in one command, where the server supports it.
   * @throws the failure of a write without `settled`
   */
  writeJointly(writes: readonly JointWrite[]): Promise<void>;
  /**
   * Calls `listener` for each later operation of a model, or `writeJointly`, when it ends. It must be fast, and must
   * not throw.
   */
  onOperation(listener: OperationListener): void;
  /** The connections of this process. */
  connections(): Readonly<PoolState>;
  /** Deletes and restores records with their parents; `defineDeletion` uses it. */
  readonly cascades: Cascades;
  /** A set of writes to several records that take effect together. Define each unit once, before `startSweeping`. */
  defineUnit<Payload extends object>(settings: UnitSettings<Payload>): Unit<Payload>;
  /** @throws an error for which `isStoreUnavailable` is true while a unit's run of this id is not settled */
  expectSettled(id: string): Promise<void>;
  /** Whether a unit that began before a time is under way, or left to a sweep. */
  hasUnitsFrom(before: Date): Promise<boolean>;
  /** The names of the units that a sweep here can recover. */
  unitNames(): string[];
  /**
   * Creates the indexes of every model requested so far. Safe on several instances at once.
   * @throws Error that names collection and index, where one cannot be created (existing duplicates, other options)
   */
  ensureIndexes(): Promise<IndexCreation>;
  /**
   * Completes the records that lack what finds them: those of an earlier version, and those that a host wrote without a
   * model. Safe on several instances at once, and after an interruption.
   * @returns how many were completed, by collection
   */
  fillSearch(): Promise<Map<string, number>>;
  /** Compares declared indexes with those in the store; changes nothing. */
  indexReport(): Promise<IndexReport[]>;
  /** One pass: removes expired records, finishes or undoes interrupted units. Safe on several instances at once. */
  sweep(): Promise<void>;
  /** Adds to each sweep what other processes may have left undone. Sweeps of several instances may run it at once. */
  onSweep(work: () => Promise<void>): void;
  /** Sweeps at once and then every 30 s, until the returned function is called or the storage is closed. */
  startSweeping(intervalMs?: number): () => Promise<void>;
  /** What records say of people, and the end of records. */
  readonly people: PeopleData;
  /** The log of the changes of records whose model says how they are told. */
  readonly events: EventFeed;
  /** The time as measured by the store, shifted if the clock was moved. */
  time(): Promise<Date>;
  /** Every document of the database as lines of text, including collections without a model; not a snapshot. */
  exportLines(onProgress: (progress: TransferProgress) => void): AsyncGenerator<string>;
  /**
   * Fills an empty database from the lines of an export: all or nothing. Of two documents that share a unique value, as a
   * change during the export may leave them, the newer one is stored.
   * @returns the number of documents stored
   * @throws ImportError for a database with documents, and for lines that are not a complete export
   */
  importLines(lines: AsyncIterable<string>, onProgress: (progress: TransferProgress) => void): Promise<number>;
  /** @throws StoreSetupError while an import is under way, or after one was broken off: the database is not whole */
  expectWhole(): Promise<void>;
  /** @throws when the store does not answer (`isStoreUnavailable`) */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects to the store.
 * @throws when it cannot be reached within five seconds (`isStoreUnavailable`)
 * @throws StoreSetupError when the address or server would weaken durability: a line for each reason (decision H13)
 */
export async function openStorage({
  uri,
  clock = systemClock,
  log = noLog,
  maxTimeMs = 10_000,
  poolSize,
}: StorageOptions): Promise<Storage> {
  const { connection, pool, servers } = await connect(uri, poolSize);
  const models = new Map<string, { definition: ModelDefinition<BaseRecord>; model: Model<BaseRecord> }>();
  const added = new Map<string, IndexDefinition[]>();
  const stops = new Set<() => Promise<void>>();
  const listeners: ((collectionName: string) => void)[] = [];
  const sweeping: (() => Promise<void>)[] = [];
  const operationListeners: OperationListener[] = [];
  const timed = timeOperations(operationListeners);
  const writeJointly = createJointWrites(
    () => ({ client: connection.getClient(), database: database(connection), maxTimeMS: maxTimeMs }),
    written,
    servers.canWriteJointly,
  );
  const cascades = createCascades(models);
  const traces = new Map<string, Traced>();
  const events = createEventFeed({
    database: () => database(connection),
    clock,
    log,
    traced: () => traces,
    maxTimeMS: maxTimeMs,
  });
  listeners.push(events.written);
  const people = createPeopleData({ models, database: () => database(connection), clock, onWrite: written });
  const intents = model(IntentModel);
  const units = createUnits({ intents, clock, log, onWrite: written, keptIn });

  return {
    clock,
    model,
    addIndexes({ collectionName }, indexes) {
      added.set(collectionName, [...(added.get(collectionName) ?? []), ...indexes]);
    },
    onWrite(listener) {
      listeners.push(listener);
    },
    writeJointly: (writes) => timed('writeJointly', () => writeJointly(writes)),
    onOperation(listener) {
      operationListeners.push(listener);
    },
    connections: () => pool,
    cascades,
    people,
    events,
    defineUnit: units.define,
    expectSettled: units.expectSettled,
    hasUnitsFrom: async (before) => (await intents.exists({ createdAt: { $lte: before } })) !== null,
    unitNames: units.names,
    async ensureIndexes() {
      cascades.check();
      return createIndexes(database(connection), definitions());
    },
    async fillSearch() {
      const filled = new Map<string, number>();
      for (const definition of definitions()) {
        filled.set(definition.collectionName, await fillSearch(database(connection), definition));
        written(definition.collectionName);
      }
      return filled;
    },
    indexReport: () => compareIndexes(database(connection), definitions()),
    sweep,
    onSweep: (work) => void sweeping.push(work),
    startSweeping(intervalMs = 30_000) {
      // the first sweep relays, too
      const stopping = [sweepNowAndThen(sweep, intervalMs, log), sweepNowAndThen(relay, RELAYED_MS, log, RELAYED_MS)];
      const stop = async () => void (await Promise.all(stopping.map((end) => end())));
      stops.add(stop);
      return stop;
    },
    time,
    exportLines: (onProgress) => exportLines(database(connection), onProgress, searchedIn),
    importLines: (lines, onProgress) => importLines(database(connection), lines, onProgress, searchedIn),
    expectWhole: () => expectWhole(database(connection)),
    async ping() {
      await database(connection).command({ ping: 1, maxTimeMS: maxTimeMs });
    },
    async close() {
      await Promise.all([...stops].map((stop) => stop()));
      await events.close();
      await connection.close();
    },
  };

  function model<R extends BaseRecord>(definition: ModelDefinition<R>): Model<R> {
    if (definition.collectionName === CLAIMS) throw new Error(`The collection ${CLAIMS} is that of imports under way`);
    const existing = models.get(definition.collectionName);
    if (existing && existing.definition !== definition)
      throw new Error(`The collection ${definition.collectionName} is defined twice`);
    const found =
      existing?.model ??
      compileModel(connection, definition, { clock, maxTimeMs, onWrite: written, listeners: operationListeners });
    if (definition.traced) {
      traces.set(definition.collectionName, definition.traced);
      // for their indexes
      model(eventModel);
      model(logStateModel);
    }
    models.set(definition.collectionName, { definition, model: found as unknown as Model<BaseRecord> });
    return found as Model<R>;
  }

  function written(collectionName: string): void {
    for (const listener of listeners) listener(collectionName);
  }

  function keptIn(collectionName: string): Pick<ModelDefinition<BaseRecord>, 'searched' | 'traced'> {
    const { searched = [], traced } = models.get(collectionName)?.definition ?? {};
    return { searched, traced };
  }
  function searchedIn(collectionName: string): readonly string[] {
    return keptIn(collectionName).searched;
  }

  function definitions(): ModelDefinition<BaseRecord>[] {
    return [...models.values()].map(({ definition }) => {
      return { ...definition, indexes: [...definition.indexes, ...(added.get(definition.collectionName) ?? [])] };
    });
  }

  async function time(): Promise<Date> {
    const [row] = await database(connection)
      .aggregate<{ now: Date }>([{ $documents: [{ now: timeInStore(clock) }] }], { maxTimeMS: maxTimeMs })
      .toArray();
    return (row as { now: Date }).now;
  }

  async function relay(): Promise<void> {
    if (traces.size > 0) await events.relay();
  }

  async function sweep(): Promise<void> {
    const now = await time();
    await units.recover(now);
    for (const work of sweeping) await work();
    await relay();
    for (const { definition, model: swept } of models.values()) {
      if (definition.expires) await removeExpired(swept, definition.expires, now);
    }
  }
}
