import { afterAll, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { actingAs, defineModel, traceContext, type Live } from './index.js';

const thingModel = defineModel<Live & { name?: string }>('things', {
  fields: { name: String },
  traced: { kind: 'thing' },
  indexes: [],
});

const { storage } = await openTestStorage({ monitorCommands: true });
const Things = storage.model(thingModel);
/** What has followed events with a name, and the reads of the log for it. */
const [followed, reads]: [string[], unknown[]] = [[], []];
const actors = new Set<unknown>();
storage.events.beforeCleared(
  ['thing.created', 'thing.updated'],
  async (events) => {
    actors.add(traceContext().actor);
    followed.push(...events.map(({ type, state }) => `${type} ${String(state['name'])}`));
  },
  'name',
);
Things.db.getClient().on('commandStarted', ({ commandName, command }) => {
  if (commandName === 'find' && command['find'] === 'events') reads.push(command);
});
afterAll(() => storage.close());

describe('what follows events that have a field', () => {
  it('is run with each state that has it, whatever the record has by then', async () => {
    const [had, has] = [await Things.create({ name: 'had' }), await Things.create({})];
    await Things.updateOne({ _id: had._id }, { $unset: { name: '' } });
    await Things.updateOne({ _id: has._id }, { $set: { name: 'has' } });
    await Things.create({ name: 'new' });
    await storage.events.last();
    expect(followed.splice(0).toSorted()).toEqual(['thing.created had', 'thing.created new', 'thing.updated has']);
  });

  it('is run in the name of the system, whoever has called for it', async () => {
    await actingAs({ type: 'identity', id: 'ann' }, async () => {
      await Things.create({ name: 'hers' });
      await storage.events.last();
    });
    expect([...actors]).toEqual([{ type: 'system', id: null }]);
    followed.splice(0);
  });

  it('reads no events of records without it', async () => {
    await storage.events.last();
    reads.splice(0);
    await Things.create({});
    expect(await storage.events.last()).not.toBeNull();
    expect([followed, reads]).toEqual([[], []]);
  });
});
