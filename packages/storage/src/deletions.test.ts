import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { TeamModel, ofAnn, ofRed, openTeamsFixture } from '../test/teams-fixture.js';
import { isDuplicateKey, isStoreUnavailable } from './index.js';

const { first, second, clock, collection, deleted, stored, write, reset, intents, ...fixture } = await openTeamsFixture();
beforeEach(reset);
afterAll(() => fixture[Symbol.asyncDispose]());

describe('a deletion', () => {
  it('marks the record with the time and its own id, and leaves updatedAt', async () => {
    const { updatedAt } = await stored('cup');
    clock.advance(1000);
    await first.tools.delete(['cup']);
    expect(await deleted()).toEqual(['cup']);
    const { deletionId } = await stored('cup');
    expect(await stored('cup')).toMatchObject({ deletedAt: clock.now(), updatedAt });
    await first.tools.delete(['axe']);
    expect((await stored('axe')).deletionId).not.toBe(deletionId);
    expect(await intents.countDocuments()).toBe(0);
  });

  it('of many has one id and one time', async () => {
    await first.people.delete(['ann', 'bob']);
    const { deletionId, deletedAt } = await stored('ann');
    expect(await stored('bob')).toMatchObject({ deletionId, deletedAt });
    expect(await deleted()).toEqual([...ofAnn, 'badge of bob', 'bob', 'seat of bob'].toSorted());
  });

  it.each([
    ['there is not', ['ann', 'nobody']],
    ['is deleted', ['ann', 'zoe']],
  ])('of many of which one %s is refused, before anything is written', async (_, ids) => {
    await first.people.delete(['zoe']);
    const writes: string[] = [];
    first.storage.onWrite((written) => writes.push(written));
    await expect(first.people.delete(ids)).rejects.toThrow('no such person');
    expect(await deleted()).toEqual(['badge of zoe', 'zoe']);
    expect(writes).toEqual([]);
  });

  it('is refused, in the caller’s words, for a record outside of its scope', async () => {
    const missing = () => new Error('not of this team');
    await expect(first.people.delete(['ann', 'bob'], missing, { teamId: 'red' })).rejects.toThrow('not of this team');
    expect(await deleted()).toEqual([]);
    await first.people.delete(['ann'], missing, { teamId: 'red' });
    expect(await deleted()).toEqual(ofAnn);
  });

  it('of many deletes none, when another process deletes one of them meanwhile', async () => {
    first.at('run people.delete records', () => second.people.delete(['bob']));
    await expect(first.people.delete(['ann', 'bob'])).rejects.toThrow('no such person');
    expect(await deleted()).toEqual(['badge of bob', 'bob', 'seat of bob']);
    expect(await stored('ann')).toMatchObject({ deletedAt: null, deletionId: null });
    expect(first.told).toEqual([]);
    expect(second.told).toEqual(['bob']);
    expect(await intents.countDocuments()).toBe(0);
  });

  it('of one record by two processes at once succeeds once', async () => {
    const requests = [first, second, first, second].map(({ teams }) => teams.delete(['red']));
    const outcomes = await Promise.allSettled(requests);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await deleted()).toEqual(ofRed);
    await first.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it('can write more than its mark', async () => {
    await first.rooms.delete(['attic']);
    expect(await stored('attic')).toMatchObject({ isClosed: true, deletedAt: clock.now() });
    expect(await deleted()).toEqual(['attic', 'seat of ann']);
  });

  it('is told once for each record, when all below it are deleted', async () => {
    const seen: string[][] = [];
    first.at('deleted ann', async () => seen.push(await deleted()));
    await first.people.delete(['ann', 'zoe']);
    expect(first.told).toEqual(['ann', 'zoe']);
    expect(seen).toEqual([[...ofAnn, 'badge of zoe', 'zoe'].toSorted()]);
  });

  it('is not told for a record that is restored before it has ended, whose records below live', async () => {
    first.at('run people.delete children', () => second.people.restore('ann'));
    await first.people.delete(['ann', 'zoe']);
    expect(first.told).toEqual(['zoe']);
    expect(await deleted()).toEqual(['badge of zoe', 'zoe']);
  });

  it('whose last step fails deletes nothing, and throws that error', async () => {
    first.at('deleted ann', () => Promise.reject(new Error('cannot tell')));
    await expect(first.people.delete(['ann'])).rejects.toThrow('cannot tell');
    expect(await deleted()).toEqual([]);
    expect(await stored('ann')).toMatchObject({ deletionId: null });
  });

  it('that is undone leaves the record deleted with its parent, when that was deleted meanwhile', async () => {
    first.at('deleted ann', async () => {
      await second.teams.delete(['red']);
      throw new Error('cannot tell');
    });
    await expect(first.people.delete(['ann'])).rejects.toThrow('cannot tell');
    expect(await deleted()).toEqual(ofRed);
    await first.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it('that stalls for longer than its lease deletes nothing, and its outcome is unknown', async () => {
    first.stallAt('run teams.delete records');
    await expect(first.teams.delete(['red'])).rejects.toSatisfy(isStoreUnavailable);
    await fixture.sweepLater();
    expect(await deleted()).toEqual([]);
    expect(await intents.countDocuments()).toBe(0);
  });
});

describe('a restoration', () => {
  it('makes the record live and sets updatedAt', async () => {
    await first.tools.delete(['cup']);
    clock.advance(1000);
    await second.tools.restore('cup');
    expect(await stored('cup')).toMatchObject({ deletedAt: null, updatedAt: clock.now() });
    expect(await intents.countDocuments()).toBe(0);
  });

  it('of a live record, or one that there is not, or one outside of its scope, finds nothing', async () => {
    await expect(first.teams.restore('red')).rejects.toThrow('no such team');
    await expect(first.teams.restore('no such id')).rejects.toThrow('no such team');
    await first.people.delete(['ann']);
    await expect(first.people.restore('ann', { teamId: 'blue' })).rejects.toThrow('no such person');
    await first.people.restore('ann', { teamId: 'red' });
    expect(await deleted()).toEqual([]);
  });

  it('is refused while the parent is deleted', async () => {
    await first.people.delete(['ann']);
    await first.teams.delete(['red']);
    await expect(first.people.restore('ann')).rejects.toThrow('no team of the person');
    expect(await deleted()).toEqual(ofRed);
  });

  it('says that there is no such record, where a model has no error for its parent', async () => {
    await first.tools.delete(['axe']);
    await first.teams.delete(['red']);
    await expect(first.tools.restore('axe')).rejects.toThrow('no such tool');
  });

  it('of what a host deleted restores that record alone', async () => {
    await write('teams', 'red', { deletedAt: clock.now() });
    await write('people', 'ann', { deletedAt: clock.now() });
    await first.teams.restore('red');
    expect(await deleted()).toEqual(['ann']);
    await first.people.restore('ann');
    expect(await deleted()).toEqual([]);
  });

  it('is refused while a live record has its unique value', async () => {
    await first.teams.delete(['red']);
    await write('teams', 'blue', { name: 'red' });
    const failure: unknown = await first.teams.restore('red').catch((error: unknown) => error);
    expect(isDuplicateKey(failure)).toMatchObject({ fields: ['name'] });
    expect(await deleted()).toEqual(ofRed);
    expect(await intents.countDocuments()).toBe(0);
  });

  it('by two processes at once succeeds once', async () => {
    await first.teams.delete(['red']);
    first.at('run teams.restore record', () => second.teams.restore('red'));
    await expect(first.teams.restore('red')).rejects.toThrow('no such team');
    expect(await deleted()).toEqual([]);
  });

  it('does not restore a record that was deleted again meanwhile', async () => {
    await first.teams.delete(['red']);
    first.at('run teams.restore record', async () => {
      await second.teams.restore('red');
      clock.advance(1000);
      await second.teams.delete(['red']);
    });
    await expect(first.teams.restore('red')).rejects.toThrow('no such team');
    expect(await deleted()).toEqual(ofRed);
  });

  it('whose record is deleted again before it has ended leaves all below it deleted', async () => {
    await first.teams.delete(['red']);
    first.at('run teams.restore children', () => second.teams.delete(['red']));
    await first.teams.restore('red');
    expect(await deleted()).toEqual(ofRed);
    await first.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it.each(['record', 'children'])(
    'is refused when the parent is deleted just before the step %s, and follows it',
    async (step) => {
      await first.people.delete(['ann']);
      first.at(`run people.restore ${step}`, () => second.teams.delete(['red']));
      await expect(first.people.restore('ann')).rejects.toThrow('no team of the person');
      expect(await deleted()).toEqual(ofRed);
      await first.teams.restore('red');
      expect(await deleted()).toEqual([]);
    },
  );

  it('whose last step fails leaves everything deleted as it was', async () => {
    await first.teams.delete(['red']);
    const before = await stored('red');
    clock.advance(1000);
    first.at('run teams.restore parents', () => Promise.reject(new Error('no')));
    await expect(first.teams.restore('red')).rejects.toThrow('no');
    expect(await deleted()).toEqual(ofRed);
    const { deletionId, deletedAt } = before;
    expect(await stored('red')).toMatchObject({ deletionId, deletedAt, restoration: null });
    expect(await stored('ann')).toMatchObject({ deletionId, deletedAt });
  });

  it('that is undone leaves a record live that another has restored since', async () => {
    await first.teams.delete(['red']);
    first.at('run teams.restore parents', async () => {
      await second.teams.delete(['red']);
      await second.teams.restore('red');
      throw new Error('no');
    });
    await expect(first.teams.restore('red')).rejects.toThrow('no');
    expect(await deleted()).toEqual([]);
  });

  it('that stalls for longer than its lease restores nothing, and its outcome is unknown', async () => {
    await first.teams.delete(['red']);
    first.stallAt('run teams.restore record');
    await expect(first.teams.restore('red')).rejects.toSatisfy(isStoreUnavailable);
    await fixture.sweepLater();
    expect(await deleted()).toEqual(ofRed);
    expect(await intents.countDocuments()).toBe(0);
  });
});

describe('the id of a deletion', () => {
  it('is shown to nobody who does not ask for it', async () => {
    await first.teams.delete(['red']);
    await first.teams.restore('red');
    const shown = await first.storage.model(TeamModel).findById('red').lean();
    expect(Object.keys(shown ?? {})).not.toContain('deletionId');
    expect(Object.keys(shown ?? {})).not.toContain('restoration');
    expect(await collection('teams').countDocuments({ _id: 'red', deletionId: { $type: 'string' } })).toBe(1);
  });
});
