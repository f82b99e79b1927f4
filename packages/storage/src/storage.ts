import { systemClock, timeInStore, type Clock } from './clock.js';
import { connect, database } from './connection.js';
import { createJointWrites, type JointWrite } from './joint-writes.js';
import { compareIndexes, createIndexes, type IndexCreation, type IndexReport } from './indexes.js';
import { noLog, type Log } from './log.js';
import { compileModel, type BaseRecord, type Model, type ModelDefinition } from './model.js';
import { timeOperations, type OperationListener } from './operations.js';
import type { PoolState } from './pool.js';
import { removeExpired, sweepNowAndThen } from './sweeper.js';
import { exportLines, importLines, type TransferProgress } from './transfer.js';
import { createUnits, IntentModel, type Unit, type UnitSettings } from './units.js';

export interface StorageOptions {
  /**
   * Address of a MongoDB 7.0 or later; its path names the database, `tandem` if there is none. It may not ask for less safety than
   * `primary` and `majority` give, nor for a size of the pool.
   */
  uri: string;
  clock?: Clock;
  log?: Log;
  /** The longest that one operation may run in the store, in ms. Default 10,000. */
  maxTimeMs?: number;
  /** Connections at most. Default 50; over a Unix socket 8, as many commands as the embedded engine works on at once. */
  poolSize?: number;
}

/** A connection, the models on it, and what keeps its records in order. */
export interface Storage {
  readonly clock: Clock;
  /** The Mongoose model of a definition on this connection; the same one each time. */
  model<R extends BaseRecord>(definition: ModelDefinition<R>): Model<R>;
  /** Calls `listener` whenever a write of this process to a collection has ended, well or badly: what is kept of it may be out of date. */
  onWrite(listener: (collectionName: string) => void): void;
  /**
   * Several writes that do not need each other, by one command where the server has one for them.
   * @throws what a write fails with that has no `settled`
   */
  writeJointly(writes: readonly JointWrite[]): Promise<void>;
  /** Calls `listener` with each operation of a model, or `writeJointly`, that ends from now on. It must be quick, and must not throw. */
  onOperation(listener: OperationListener): void;
  /** The connections of this process. */
  connections(): Readonly<PoolState>;
  /** Writes to several records that take effect together. Define each unit once, before `startSweeping`. */
  defineUnit<Payload extends object>(settings: UnitSettings<Payload>): Unit<Payload>;
  /** The names of the units that a sweep here knows. */
  unitNames(): string[];
  /**
   * Makes the indexes of every model that was asked for so far. Several instances may do so at once.
   * @throws Error that names collection and index, where one cannot be made (existing duplicates, other options)
   */
  ensureIndexes(): Promise<IndexCreation>;
  /** Declared indexes beside those in the store; changes nothing. */
  indexReport(): Promise<IndexReport[]>;
  /** One pass: removes expired records, finishes or takes back interrupted units. Several instances may do so at once. */
  sweep(): Promise<void>;
  /** Sweeps at once and then every 30 s, until the returned function is called or the storage is closed. */
  startSweeping(intervalMs?: number): () => Promise<void>;
  /** The time as the store measures it: its own, unless the clock was moved. */
  time(): Promise<Date>;
  /** Every document of the database as lines of text, not only of the models; no snapshot. */
  exportLines(onProgress: (progress: TransferProgress) => void): AsyncGenerator<string>;
  /**
   * Fills an empty database from the lines of an export: all of them or none.
   * @returns how many documents
   * @throws ImportError for a database with documents, and for lines that are no whole export
   */
  importLines(lines: AsyncIterable<string>, onProgress: (progress: TransferProgress) => void): Promise<number>;
  /** @throws when the store does not answer (`isStoreUnavailable`) */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects to the store.
 * @throws when it cannot be reached within five seconds (`isStoreUnavailable`)
 * @throws StoreSetupError when address or server would cost safety: a line for each reason (decision H13)
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
  const stops = new Set<() => Promise<void>>();
  const listeners: ((collectionName: string) => void)[] = [];
  const operationListeners: OperationListener[] = [];
  const timed = timeOperations(operationListeners);
  const writeJointly = createJointWrites(
    () => ({ client: connection.getClient(), database: database(connection), maxTimeMS: maxTimeMs }),
    written,
    servers.canWriteJointly,
  );
  const units = createUnits({ intents: model(IntentModel), clock, log, onWrite: written });

  return {
    clock,
    model,
    onWrite(listener) {
      listeners.push(listener);
    },
    writeJointly: (writes) => timed('writeJointly', () => writeJointly(writes)),
    onOperation(listener) {
      operationListeners.push(listener);
    },
    connections: () => pool,
    defineUnit: units.define,
    unitNames: units.names,
    ensureIndexes: () => createIndexes(database(connection), definitions()),
    indexReport: () => compareIndexes(database(connection), definitions()),
    sweep,
    startSweeping(intervalMs = 30_000) {
      const stop = sweepNowAndThen(sweep, intervalMs, log);
      stops.add(stop);
      return stop;
    },
    time,
    exportLines: (onProgress) => exportLines(database(connection), onProgress),
    importLines: (lines, onProgress) => importLines(database(connection), lines, onProgress),
    async ping() {
      await database(connection).command({ ping: 1, maxTimeMS: maxTimeMs });
    },
    async close() {
      await Promise.all([...stops].map((stop) => stop()));
      await connection.close();
    },
  };

  function model<R extends BaseRecord>(definition: ModelDefinition<R>): Model<R> {
    const known = models.get(definition.collectionName);
    if (known && known.definition !== definition) throw new Error(`The collection ${definition.collectionName} is defined twice`);
    const found =
      known?.model ?? compileModel(connection, definition, { clock, maxTimeMs, onWrite: written, listeners: operationListeners });
    models.set(definition.collectionName, { definition, model: found as unknown as Model<BaseRecord> });
    return found as Model<R>;
  }

  function written(collectionName: string): void {
    for (const listener of listeners) listener(collectionName);
  }

  function definitions(): ModelDefinition<BaseRecord>[] {
    return [...models.values()].map(({ definition }) => definition);
  }

  async function time(): Promise<Date> {
    const [row] = await database(connection)
      .aggregate<{ now: Date }>([{ $documents: [{ now: timeInStore(clock) }] }], { maxTimeMS: maxTimeMs })
      .toArray();
    return (row as { now: Date }).now;
  }

  async function sweep(): Promise<void> {
    const now = await time();
    await units.recover(now);
    for (const { definition, model: swept } of models.values()) {
      if (definition.expires) await removeExpired(swept, definition.expires, now);
    }
  }
}
