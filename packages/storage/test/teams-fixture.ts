import type { Collection } from 'mongoose';
import {
  bulkFields,
  defineBulkWrites,
  defineDeletion,
  defineModel,
  deletionFields,
  openStorage,
  type BulkRecord,
  type Deletable,
  type Live,
  type Storage,
} from '../src/index.js';
import { testClock, testDatabase, type TestClock } from './storage-fixture.js';
import { gone, keptLog } from './units-fixture.js';

interface Named extends BulkRecord {
  name: string;
}
interface Member extends Named {
  teamId?: string | null;
}
interface Badge extends Deletable {
  personId: string;
}
interface Seat extends Live {
  roomId: string;
  personId: string;
  hiddenBy?: string[];
}

const named = { name: String, ...bulkFields };
const nameIndex = { keys: { name: 1 }, unique: true, serves: 'one by its name' } as const;
export const TeamModel = defineModel<Named>('teams', { fields: named, indexes: [nameIndex] });
export const PersonModel = defineModel<Member>('people', {
  fields: { teamId: String, ...named },
  cascades: [{ with: 'teams', by: 'teamId' }],
  indexes: [],
});
export const BadgeModel = defineModel<Badge>('badges', {
  fields: { personId: String, ...deletionFields },
  cascades: [{ with: 'people', by: 'personId' }],
  indexes: [],
});
export const ToolModel = defineModel<Member>('tools', {
  fields: { teamId: String, ...named },
  cascades: [{ with: 'teams', by: 'teamId', moves: true }],
  indexes: [nameIndex],
});
export const RoomModel = defineModel<Deletable & { isClosed?: boolean }>('rooms', {
  fields: { isClosed: Boolean, ...deletionFields },
  indexes: [],
});
export const SeatModel = defineModel<Seat>('seats', {
  fields: { roomId: String, personId: String, hiddenBy: [String] },
  cascades: [
    { with: 'rooms', by: 'roomId' },
    { with: 'people', by: 'personId' },
  ],
  indexes: [],
});

/** What each test starts with: two teams, with their people, badges and tools, and seats in two rooms. */
const world: Record<string, { _id: string; [field: string]: unknown }[]> = {
  teams: [{ _id: 'red' }, { _id: 'blue' }],
  people: [{ _id: 'ann', teamId: 'red' }, { _id: 'ada', teamId: 'red' }, { _id: 'bob', teamId: 'blue' }, { _id: 'zoe' }],
  badges: ['ann', 'ada', 'bob', 'zoe'].map((personId) => ({ _id: `badge of ${personId}`, personId })),
  tools: [{ _id: 'axe', teamId: 'red' }, { _id: 'bow', teamId: 'blue' }, { _id: 'cup' }],
  rooms: [{ _id: 'attic' }, { _id: 'cellar' }],
  seats: [
    { _id: 'seat of ann', personId: 'ann', roomId: 'attic' },
    { _id: 'seat of bob', personId: 'bob', roomId: 'cellar', hiddenBy: [] },
  ],
};
export const ofAnn = ['ann', 'badge of ann', 'seat of ann'];
export const ofRed = ['ada', 'ann', 'axe', 'badge of ada', 'badge of ann', 'red', 'seat of ann'];

/** A stored record, with all its fields. */
export interface Stored {
  _id: string;
  deletedAt: Date | null;
  updatedAt: Date;
  deletionId?: string | null;
  [field: string]: unknown;
}

export type Process = ReturnType<typeof startProcess>;

/** What one process defines. */
function startProcess(storage: Storage, clock: TestClock) {
  const actions = new Map<string, () => unknown>();
  const told: string[] = [];
  async function reach(what: string): Promise<void> {
    const action = actions.get(what);
    actions.delete(what);
    await action?.();
  }
  const observed: Storage = {
    ...storage,
    defineUnit: ({ name, steps }) =>
      storage.defineUnit({
        name,
        steps: steps.map((step) => ({
          ...step,
          async run(payload, fence) {
            await reach(`run ${name} ${step.name}`);
            await step.run(payload, fence);
            await reach(`ran ${name} ${step.name}`);
          },
          async undo(payload) {
            await reach(`undo ${name} ${step.name}`);
            await step.undo(payload);
          },
        })),
      }),
  };
  const rooms = storage.model(RoomModel);
  const tooLarge = () => new Error('too large');
  return {
    storage,
    /** The people whose deletion was told. */
    told,
    /**
     * Does something once at a moment: before a step ('run teams.delete children'), after it ('ran …'), before it is
     * undone ('undo …'), or before a person's deletion is told ('deleted ann').
     */
    at(what: string, action: () => unknown): void {
      actions.set(what, action);
    },
    /** Begins a request, whose process dies at that moment. */
    async dieAt(what: string, request: () => Promise<unknown>): Promise<void> {
      await new Promise<void>((died, failed) => {
        actions.set(what, () => (died(), gone()));
        request().then(() => failed(new Error(`There was no ${what}`)), failed);
      });
    },
    /** The process stalls at that moment, for longer than a lease. */
    stallAt: (what: string) => void actions.set(what, () => clock.advance(60_001)),
    teams: defineDeletion(observed, TeamModel, { notFound: () => new Error('no such team') }),
    people: defineDeletion(observed, PersonModel, {
      notFound: () => new Error('no such person'),
      parentNotFound: () => new Error('no team of the person'),
      async deleted(id) {
        await reach(`deleted ${id}`);
        told.push(id);
      },
    }),
    tools: defineDeletion(observed, ToolModel, { notFound: () => new Error('no such tool') }),
    rooms: defineDeletion(observed, RoomModel, {
      notFound: () => new Error('no such room'),
      async mark(ids, condition, mark) {
        const live = { _id: { $in: ids }, deletedAt: null, ...condition } as object;
        return (await rooms.collection.updateMany(live, { $set: { ...mark, isClosed: true } })).matchedCount;
      },
    }),
    bulkPeople: defineBulkWrites(observed, PersonModel, { tooLarge }),
    bulkTools: defineBulkWrites(observed, ToolModel, { tooLarge }),
  };
}

/** Two processes on a database of their own. */
export async function openTeamsFixture() {
  const clock = testClock();
  const log = keptLog();
  const uri = testDatabase().href;
  const [one, other] = await Promise.all([openStorage({ uri, clock, log }), openStorage({ uri, clock, log })]);
  const first = startProcess(one, clock);
  const second = startProcess(other, clock);
  for (const storage of [one, other]) {
    storage.model(BadgeModel);
    storage.model(SeatModel);
  }
  await one.ensureIndexes();
  const collection = (name: string) => one.model(TeamModel).db.collection(name) as unknown as Collection<Stored>;

  async function all(): Promise<Stored[]> {
    return (await Promise.all(Object.keys(world).map((name) => collection(name).find().toArray()))).flat();
  }
  return {
    clock,
    log,
    first,
    second,
    collection,
    all,
    intents: collection('units'),
    async reset(): Promise<void> {
      log.lines.splice(0);
      first.told.splice(0);
      second.told.splice(0);
      await collection('units').deleteMany();
      for (const [name, records] of Object.entries(world)) {
        await collection(name).deleteMany();
        const base = { createdAt: clock.now(), updatedAt: clock.now(), deletedAt: null };
        await collection(name).insertMany(records.map((record) => ({ name: record._id, ...base, ...record })));
      }
    },
    /** The ids of the deleted records of all collections. */
    async deleted(): Promise<string[]> {
      const found = await all();
      return found.flatMap(({ _id, deletedAt }) => (deletedAt ? [_id] : [])).toSorted();
    },
    async stored(id: string): Promise<Stored> {
      const found = (await all()).find(({ _id }) => _id === id);
      if (!found) throw new Error(`${id} is not stored`);
      return found;
    },
    /** Sets fields as a host does. */
    async write(name: string, id: string, fields: Partial<Stored>): Promise<void> {
      await collection(name).updateOne({ _id: id }, { $set: fields });
    },
    /** What the unit in progress is to write. */
    async pending<Payload>(): Promise<Payload> {
      const [intent] = await collection('units').find().toArray();
      return intent?.['payload'] as Payload;
    },
    /** Lets the leases of all intents expire, and the second process sweep. */
    async sweepLater(): Promise<void> {
      clock.advance(60_001);
      await second.storage.sweep();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([one.close(), other.close()]);
    },
  };
}
