import type { mongo } from 'mongoose';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import type { LoggedEvent } from './event-log.js';
import { idAfter } from './event-ids.js';
import { actingAs, defineModel, openStorage, type Live } from './index.js';

interface Thing extends Live {
  name: string;
  secret?: string;
  seen?: number;
}
const thingModel = defineModel<Thing>('things', {
  fields: { name: String, secret: String, seen: Number },
  traced: { kind: 'thing', hidden: ['secret'], untold: ['seen'] },
  indexes: [],
});

const { storage, clock, uri } = await openTestStorage({ monitorCommands: true });
const other = await openStorage({ uri, clock });
const Things = storage.model(thingModel);
other.model(thingModel);
const {
  db: { db },
} = Things as unknown as { db: { db: mongo.Db } };
/** Asks to be the one who appends. */
const attempts: unknown[] = [];
Things.db.getClient().on('commandStarted', ({ commandName, command }) => {
  if (commandName === 'findAndModify' && command['findAndModify'] === 'eventLog') attempts.push(command);
});
afterAll(async () => {
  await other.close();
  await storage.close();
});

const since = async () => (await storage.events.last()) ?? undefined;
async function after(at: string | undefined): Promise<LoggedEvent[]> {
  return (await storage.events.read({ since: at, limit: 200 })).events;
}
const told = async (at: string | undefined) =>
  (await after(at)).map(({ type, state }) => `${type.split('.')[1]} ${String(state['name'])}`);

/** The record as stored, with its trace. */
const stored = (id: string) => db.collection<{ _id: string; trace?: { version: number; events: object[] } }>('things').findOne({ _id: id }); // prettier-ignore

describe('a change of a traced record', () => {
  it('leaves its event with each state, whatever was written before anybody was told', async () => {
    const at = await since();
    const { _id } = await Things.create({ name: 'a', secret: 's' });
    await Things.updateOne({ _id }, { $set: { name: 'b' } });
    await Things.updateOne({ _id }, [{ $set: { name: { $concat: ['$name', 'c'] } } }], { updatePipeline: true });
    await Things.bulkWrite([{ updateOne: { filter: { _id }, update: { $unset: { secret: '' }, $set: { name: 'd' } } } }]);
    await Things.deleteOne({ _id });
    await Things.restore(_id);
    expect(await told(at)).toEqual(['created a', 'updated b', 'updated bc', 'updated d', 'deleted d', 'restored d']);
    expect(JSON.stringify(await after(at))).not.toMatch(/secret|trace/);
    expect((await stored(_id))?.trace).toEqual({ version: 6, events: [] });
  });

  it('that changes nothing to tell of, or a deleted record, makes none', async () => {
    const { _id } = await Things.create({ name: 'a' });
    const at = await since();
    await Things.updateOne({ _id }, { $set: { seen: 5 } }, { timestamps: false });
    expect((await stored(_id))?.trace).toMatchObject({ version: 1 });
    await Things.deleteOne({ _id });
    await Things.updateOne({ _id }, { $set: { name: 'b' } }).setOptions({ deleted: 'include' });
    expect(await told(at)).toEqual(['deleted a']);
    expect((await stored(_id))?.trace).toEqual({ version: 3, events: [] });
  });

  it('is told behind more records than a batch has that wait with nothing to tell', async () => {
    const at = await since();
    const now = clock.now();
    const times = { createdAt: now, updatedAt: now, deletedAt: now };
    const marked = Array.from({ length: 450 }, (_, n) => ({
      _id: `marked ${n}`,
      ...times,
      trace: { version: 1, since: now, events: [] },
    }));
    await db.collection<{ _id: string }>('things').insertMany(marked);
    await Things.create({ name: 'behind' });
    expect(await told(at)).toEqual(['created behind']);
    expect(await db.collection('things').countDocuments({ 'trace.since': { $exists: true } })).toBe(0);
  });

  it('is in the name of who makes it, also of several at once; outside of requests it is the system’s', async () => {
    const at = await since();
    const actor = (id: string) => ({ type: 'identity', id }) as const;
    await Promise.all(['a', 'b'].map((id) => actingAs(actor(id), () => Things.create({ name: id }))));
    await actingAs(null, () => Things.create({ name: 'nobody' }));
    await Things.create({ name: 'system' });
    const by = Object.fromEntries((await after(at)).map((event) => [event.state['name'], event.actor]));
    expect(by).toEqual({ a: actor('a'), b: actor('b'), nobody: null, system: { type: 'system', id: null } });
  });

  it('is hidden from reads, but its version from those of one record', async () => {
    const { _id } = await Things.create({ name: 'a' });
    const after = { returnDocument: 'after' } as const;
    const reads = [
      await Things.findById(_id).lean(),
      await Things.findByIdAndUpdate(_id, { $set: { name: 'b' } }, after).lean(),
      await Things.collection.findOne({ _id } as object),
      await Things.findById(_id, { secret: 0 }).lean(),
    ];
    const [found, changed, ...others] = reads.map((read) => (read as { trace?: unknown } | null)?.trace);
    expect([found, changed]).toEqual([{ version: 1 }, { version: 2 }]);
    expect(others).toEqual([{ version: 2 }, { version: 2 }]);
    expect(await Things.find({ _id }).lean()).toEqual([expect.not.objectContaining({ trace: expect.anything() })]);
  });
});

describe('a unit of work', () => {
  const define = (name: string, fail: () => Promise<void>) =>
    storage.defineUnit<{ record: object; id: string }>({
      name,
      steps: [
        {
          name: 'insert',
          run: (_, fence) => fence.insert('things', 'record'),
          isDone: async ({ id }) => (await Things.countDocuments({ _id: id })) > 0,
          undo: ({ id }) => Things.deleteOne({ _id: id }).setOptions({ hard: true }),
        },
        {
          name: 'change',
          run: ({ id }) => Things.updateOne({ _id: id }, { $set: { name: 'changed' } }),
          undo: () => Promise.resolve(),
        },
        { name: 'fail', run: fail, undo: () => Promise.resolve() },
      ],
    });
  const payload = (id: string) => {
    const now = clock.now();
    return { id, record: { _id: id, name: 'made', createdAt: now, updatedAt: now, deletedAt: null } };
  };

  it('is told of when it has ended, and not while it may be undone', async () => {
    const at = await since();
    let seen: string[] = ['?'];
    const unit = define('things.succeed', async () => {
      seen = await told(at);
    });
    await unit.run(payload('u1'));
    expect(seen).toEqual([]);
    expect(await told(at)).toEqual(['created made', 'updated changed']);
  });

  it('that is undone leaves no event', async () => {
    const at = await since();
    const unit = define('things.fail', () => Promise.reject(new Error('no')));
    await expect(unit.run(payload('u2'))).rejects.toThrow('no');
    expect(await told(at)).toEqual([]);
  });

  it('of which a change is undone leaves the record’s other events', async () => {
    const { _id } = await Things.create({ name: 'a' });
    const at = await since();
    const unit = storage.defineUnit<{ id: string }>({
      name: 'things.undo change',
      steps: [
        {
          name: 'change',
          run: ({ id }) => Things.updateOne({ _id: id }, { $set: { name: 'by the unit' } }),
          undo: ({ id }) => Things.updateOne({ _id: id, name: 'by the unit' }, { $set: { name: 'a' } }),
        },
        { name: 'fail', run: () => Promise.reject(new Error('no')), undo: () => Promise.resolve() },
      ],
    });
    await Things.updateOne({ _id }, { $set: { name: 'a' } });
    await expect(unit.run({ id: _id })).rejects.toThrow('no');
    await Things.updateOne({ _id }, { $set: { name: 'c' } });
    expect(await told(at)).toEqual(['updated a', 'updated c']);
  });
});

describe('the process that appends', () => {
  const state = () => db.collection('eventLog').findOne({});
  const newer = () => vi.waitFor(async () => expect(await other.events.relay()).toBe('appended'), { timeout: 30_000 });

  /** Nobody appends until it is over. */
  async function whileHeld(act: () => Promise<unknown>): Promise<void> {
    const later = new Date(clock.now().getTime() + 60_000);
    await db.collection('eventLog').updateOne({}, { $set: { owner: 'the dead', leaseUntil: later } });
    await act();
    await db.collection('eventLog').updateOne({}, { $set: { leaseUntil: clock.now() } });
  }

  it.each(['stored', 'appended', 'shown', 'cleared in part', 'shown, and its record erased'])(
    'is one at a time; another finishes what it left when it died after a batch was %s',
    async (died) => {
      const [at, isErased] = [await since(), died.endsWith('erased')];
      const { _id } = await Things.create({ name: died });
      await Things.updateOne({ _id }, { $set: { name: `${died} b` } });
      let before = await stored(_id);
      const events = await after(at);
      expect(events.map(({ state: { name } }) => name)).toEqual([died, `${died} b`]);
      before ??= await stored(_id);
      await whileHeld(async () => {
        const isShown = !['stored', 'appended'].includes(died);
        const [first, last] = [events[0]?._id ?? '', events.at(-1)?._id ?? ''];
        const cleared = [{ collection: 'things', id: _id, version: 2 }];
        const batch = events.map(({ state: _, ...event }, place) => ({ ...event, version: place + 1 }));
        await db.collection('eventLog').updateOne({}, { $set: { batch, cleared, lastId: last, head: isShown ? last : at } });
        if (died === 'stored') await db.collection<LoggedEvent>('events').deleteMany({ _id: { $gte: first } });
        if (died !== 'cleared in part')
          await db.collection<{ _id: string }>('things').replaceOne({ _id }, isErased ? {} : (before as { _id: string }));
      });
      await newer();
      expect(await after(at)).toEqual(events);
      const { version, events: left } = (await stored(_id))?.trace ?? {};
      expect([version, left]).toEqual(isErased ? [undefined, undefined] : [2, []]);
      // what is cleared needs nobody; whoever appends next takes the batch away
      await Things.create({ name: 'next' });
      await vi.waitFor(async () => expect(await state()).not.toHaveProperty('batch'), { timeout: 30_000 });
    },
  );

  it('gives the lease back when it cannot append, as one without the model of a record cannot', async () => {
    const stranger = await openStorage({ uri, clock });
    const at = (await since()) ?? '';
    await whileHeld(async () => {
      const { _id } = await Things.create({ name: 'known here' });
      const lastId = idAfter(at, clock);
      const event = { _id: lastId, type: 'thing.created', subject: { type: 'thing', id: _id }, version: 1 };
      const cleared = [{ collection: 'things', id: _id, version: 1 }];
      const shown = { at: clock.now(), organizationId: null, actor: null, ...event };
      await db.collection('eventLog').updateOne({}, { $set: { batch: [shown], lastId, cleared } });
    });
    expect(await stranger.events.relay()).toBe('failed');
    await stranger.close();
    await newer();
    expect(await told(at)).toEqual(['created known here']);
  });

  it('that has lost its lease appends nothing', async () => {
    const at = await since();
    await whileHeld(async () => {
      await Things.create({ name: 'late' });
      await storage.events.relay();
      expect(await db.collection('events').countDocuments({ 'state.name': 'late' })).toBe(0);
    });
    await newer();
    expect(await told(at)).toEqual(['created late']);
  });

  it('asks to be the one only after another has been', async () => {
    const at = await since();
    await Things.create({ name: 'a' });
    expect(await told(at)).toEqual(['created a']);
    const before = attempts.length;
    await Things.create({ name: 'b' });
    expect(await told(at)).toEqual(['created a', 'created b']);
    expect(attempts).toHaveLength(before);
    await whileHeld(() => Things.create({ name: 'c' }));
    await newer();
    await Things.create({ name: 'd' });
    expect(await told(at)).toEqual(['created a', 'created b', 'created c', 'created d']);
    expect(attempts.length).toBeGreaterThan(before);
  });

  it('is waited for by every read of another that has written', async () => {
    const [at, before] = [await since(), attempts.length];
    let reads: Promise<string[][]> | undefined;
    await whileHeld(async () => {
      await Things.create({ name: 'mine' });
      reads = Promise.all([told(at), told(at)]);
      await vi.waitFor(() => expect(attempts.length).toBeGreaterThan(before + 40), { timeout: 10_000 });
    });
    expect(await reads).toEqual([['created mine'], ['created mine']]);
  });

  it('gives ids that grow, also when its clock is set back', () => {
    const last = 'ffff0000-0000-7000-8000-0000000000ff';
    expect(idAfter(last, clock)).toBe('ffff0000-0000-7000-8000-000000000100');
    expect(idAfter('', clock) < idAfter(last, clock)).toBe(true);
  });
});

it('what a process wrote that died before it told anybody is told within seconds by those that sweep', async () => {
  await storage.events.last();
  const seen: string[] = [];
  // whichever appends calls its own
  for (const one of [storage, other]) one.events.idsBeforeCleared(['thing.created'], async (ids) => void seen.push(...ids));
  /** Writes in a process that ends before it can append. */
  async function writeAndDie(name: string): Promise<string> {
    const gone = await openStorage({ uri, clock });
    const lease = (owner: string, leaseUntil: Date) => db.collection('eventLog').updateOne({}, { $set: { owner, leaseUntil } });
    await lease('somebody else', new Date(clock.now().getTime() + 60_000));
    const { _id } = await gone.model(thingModel).create({ name });
    await gone.close();
    await lease('somebody else', clock.now());
    return _id;
  }
  const first = await writeAndDie('left');
  const stop = other.startSweeping();
  await expect.poll(() => seen, { timeout: 10_000 }).toEqual([first]);
  // the first pass may have come before
  const next = await writeAndDie('left too');
  await expect.poll(() => seen, { timeout: 10_000 }).toEqual([first, next]);
  await stop();
});
