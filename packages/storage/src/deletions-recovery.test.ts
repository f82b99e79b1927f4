import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ofRed, openTeamsFixture } from '../test/teams-fixture.js';

const { first, second, clock, log, deleted, stored, write, reset, intents, sweepLater, ...fixture } = await openTeamsFixture();
beforeEach(reset);
afterAll(() => fixture[Symbol.asyncDispose]());

const removeRed = () => first.teams.delete(['red']);
const restoreRed = () => first.teams.restore('red');
/** What the sweep did with the unit: it warns of what it undoes. */
const outcome = () => (log.lines.some(([level]) => level === 'warn') ? 'undone' : 'completed');

async function expectNoIntents(): Promise<void> {
  expect(await intents.countDocuments()).toBe(0);
  expect(log.lines.filter(([level]) => level === 'error')).toEqual([]);
}

describe('a deletion whose process dies', () => {
  it('before its first write is undone: a sweep deletes nothing', async () => {
    await first.dieAt('run teams.delete records', removeRed);
    await sweepLater();
    expect(await deleted()).toEqual([]);
    expect(outcome()).toBe('undone');
    await expectNoIntents();
  });

  it.each(['ran people.delete records', 'run people.delete children'])(
    'between its writes is completed by a sweep, and told: %s',
    async (what) => {
      await first.dieAt(what, () => first.people.delete(['ann', 'zoe']));
      expect(await deleted()).toEqual(['ann', 'zoe']);
      await sweepLater();
      expect(await deleted()).toEqual(['ann', 'badge of ann', 'badge of zoe', 'seat of ann', 'zoe']);
      expect([first.told, second.told]).toEqual([[], ['ann', 'zoe']]);
      expect(outcome()).toBe('completed');
      await expectNoIntents();
    },
  );

  it('when only some of many were marked is undone for all', async () => {
    await first.dieAt('run people.delete records', () => first.people.delete(['ann', 'bob']));
    const { deletion } = await fixture.pending<{ deletion: { id: string; at: Date } }>();
    await write('people', 'ann', { deletionId: deletion.id, deletedAt: deletion.at });
    await sweepLater();
    expect(await deleted()).toEqual([]);
    expect(outcome()).toBe('undone');
  });

  it('is undone for what it has deleted, never for what others have', async () => {
    await first.dieAt('run people.delete records', () => first.people.delete(['ann', 'bob']));
    await second.people.delete(['bob']);
    await sweepLater();
    expect(await deleted()).toEqual(['badge of bob', 'bob', 'seat of bob']);
  });

  it('does not delete a record again that was restored since', async () => {
    await first.dieAt('ran people.delete records', () => first.people.delete(['ann']));
    await second.people.restore('ann');
    await sweepLater();
    expect(await deleted()).toEqual([]);
    expect(second.told).toEqual([]);
    expect(outcome()).toBe('completed');
    await expectNoIntents();
  });

  it('completes even if the record was restored and deleted again since, which keeps that deletion', async () => {
    await first.dieAt('ran teams.delete records', removeRed);
    await second.teams.restore('red');
    await second.teams.delete(['red']);
    const { deletionId } = await stored('red');
    await sweepLater();
    expect(await deleted()).toEqual(ofRed);
    expect(await stored('ann')).toMatchObject({ deletionId });
    expect(outcome()).toBe('completed');
  });
});

describe('a restoration whose process dies', () => {
  beforeEach(async () => {
    await first.teams.delete(['red']);
    clock.advance(1000);
  });

  it('before its first write is undone: a sweep restores nothing', async () => {
    await first.dieAt('run teams.restore record', restoreRed);
    await sweepLater();
    expect(await deleted()).toEqual(ofRed);
    expect(outcome()).toBe('undone');
    await expectNoIntents();
  });

  it.each(['ran teams.restore record', 'run teams.restore children', 'run teams.restore parents'])(
    'after its first write is completed by a sweep: %s',
    async (what) => {
      await first.dieAt(what, restoreRed);
      await sweepLater();
      expect(await deleted()).toEqual([]);
      expect(outcome()).toBe('completed');
      await expectNoIntents();
    },
  );

  it('does not restore a record again that was deleted since', async () => {
    await first.dieAt('ran teams.restore record', restoreRed);
    await second.teams.delete(['red']);
    await sweepLater();
    expect(await deleted()).toEqual(ofRed);
    await second.teams.restore('red');
    expect(await deleted()).toEqual([]);
  });

  it('leaves the record deleted with a parent that was deleted since', async () => {
    await second.teams.restore('red');
    await first.people.delete(['ann']);
    await first.dieAt('run people.restore parents', () => first.people.restore('ann'));
    await write('teams', 'red', { deletionId: 'deletion', deletedAt: clock.now() });
    await sweepLater();
    expect(await stored('ann')).toMatchObject({ deletionId: 'deletion' });
    expect(await stored('badge of ann')).toMatchObject({ deletionId: 'deletion' });
  });
});
