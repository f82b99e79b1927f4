import type { Collection } from 'mongoose';
import {
  defineModel,
  openStorage,
  type BaseRecord,
  type Log,
  type Model,
  type Storage,
  type StorageOptions,
  type UnitSettings,
} from '../src/index.js';
import { openTestStorage, type TestClock } from './storage-fixture.js';

export interface Mark extends BaseRecord {
  key: string;
}
export const MarkModel = defineModel<Mark>('marks', { fields: { key: String }, softDelete: false, indexes: [] });

export interface Payload {
  key: string;
  at?: Date;
  records?: object[];
}
type Turn = (what: string, payload: Payload) => Promise<unknown> | undefined;

export const nothing = { marks: [], intents: 0 };
export const complete = { marks: ['k-1', 'k-2', 'k-3'], intents: 0 };

/** Never resolves, like a process that died here. */
export const gone = () => new Promise<never>(() => undefined);

export interface UnitsFixture extends AsyncDisposable {
  storage: Storage;
  /** Another process on the same database. */
  other: Storage;
  clock: TestClock;
  uri: string;
  marks: Model<Mark>;
  intents: Collection;
  /** One more process. */
  open(options?: Omit<StorageOptions, 'uri'>): Promise<Storage>;
  /** What is stored: the ids of the marks, and the number of intents. */
  state(): Promise<{ marks: string[]; intents: number }>;
  clear(): Promise<void>;
  /** Lets all intents' leases expire, and another process sweep. */
  sweepLater(): Promise<void>;
  /**
   * A unit of three steps that each create a record; `before` is called before each run and undo, with 'run 1' or 'undo
   * 1'. With 'finish' a sweep may finish the steps; with 'undo' it finds none done.
   */
  marking(recovery: 'finish' | 'undo', before?: Turn): UnitSettings<Payload>;
  /** Begins a unit whose process dies just before `what`. */
  dieBefore(what: string, recovery: 'finish' | 'undo', payload?: Payload): Promise<UnitSettings<Payload>>;
  /** A unit whose process stalls at `what` until resumed. */
  stall(what: string, settings: UnitSettings<Payload>, on?: Storage): Promise<{ run: Promise<void>; comeBack: () => void }>;
}

/** Two processes on a database of their own. */
export async function openUnitsFixture(): Promise<UnitsFixture> {
  const { storage, clock, uri } = await openTestStorage();
  const opened = [storage];
  async function open(options: Omit<StorageOptions, 'uri'> = {}): Promise<Storage> {
    const one = await openStorage({ uri, clock, ...options });
    opened.push(one);
    return one;
  }
  const other = await open();
  const marks = storage.model(MarkModel);
  const intents = marks.db.collection('units');
  let names = 0;

  function marking(recovery: 'finish' | 'undo', before: Turn = () => undefined): UnitSettings<Payload> {
    const step = (n: number) => ({
      name: `step ${n}`,
      async run(payload: Payload) {
        await before(`run ${n}`, payload);
        await marks.updateOne({ _id: `${payload.key}-${n}` }, { key: payload.key }, { upsert: true });
      },
      async undo(payload: Payload) {
        await before(`undo ${n}`, payload);
        await marks.deleteOne({ _id: `${payload.key}-${n}` });
      },
    });
    const steps = [1, 2, 3].map((n) => ({ ...step(n), ...(recovery === 'undo' && { isDone: async () => false }) }));
    return { name: `marking ${(names += 1)}`, steps };
  }

  return {
    storage,
    other,
    clock,
    uri,
    marks,
    intents,
    open,
    marking,
    async state() {
      return {
        marks: (await marks.find().sort({ _id: 1 }).lean()).map(({ _id }) => _id),
        intents: await intents.countDocuments(),
      };
    },
    async clear() {
      await Promise.all([marks.deleteMany(), intents.deleteMany()]);
    },
    async sweepLater() {
      clock.advance(60_001);
      await other.sweep();
    },
    async dieBefore(what, recovery, payload = { key: 'k' }) {
      const settings = marking(recovery);
      await new Promise<void>((died, failed) => {
        const before: Turn = (now) => (now === what ? (died(), gone()) : undefined);
        storage
          .defineUnit({ ...marking(recovery, before), name: settings.name })
          .run(payload)
          .catch(failed);
      });
      return settings;
    },
    async stall(what, settings, on = storage) {
      let comeBack = () => {};
      const away = new Promise<void>((resolve) => (comeBack = resolve));
      const stalled = await new Promise<{ run: Promise<void> }>((resolve) => {
        const before: Turn = (now) => (now === what ? (resolve({ run }), away) : undefined);
        const run = on.defineUnit({ ...marking('finish', before), name: settings.name }).run({ key: 'k' });
      });
      return { ...stalled, comeBack };
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((one) => one.close()));
    },
  };
}

/** A log that records level, details, text. */
export function keptLog(): Log & { lines: [level: string, details: object][] } {
  const lines: [string, object][] = [];
  const at = (level: string) => (details: object) => void lines.push([level, details]);
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}
