import { isError, versionOf } from '@tandem/client';
import type { Operation } from '../reference/reference.js';
import { ToldFailure } from '../ui/failure-text.js';
import { knownVersion, rowsIn, useCall, type Input, type Row } from './call.js';
import type { Change } from './changes.js';
import { useDefinitions, type Kind } from './definitions.js';
import type { Becoming } from './under-way.js';
import { OWN } from './values.js';
import { t } from '../texts/texts.js';

/** What a change makes of records, and what takes it back. */
export type Effect = Pick<Change, 'becomes' | 'undo'>;

/** What some operations make of a record, and which takes that back. */
const MOVES: Readonly<Record<string, { to: Row; back: string }>> = {
  'identities.lock': { to: { locked: true }, back: 'identities.unlock' },
  'identities.unlock': { to: { locked: false }, back: 'identities.lock' },
  'categories.enable': { to: { status: 'active' }, back: 'categories.disable' },
  'categories.disable': { to: { status: 'inactive' }, back: 'categories.enable' },
};

const idOf = (row: Row) => String(row['id']);
const part = (row: Row, names: readonly string[]): Row => Object.fromEntries(names.map((name) => [name, row[name]]));
const allTo = (rows: readonly Row[], to: Row | null): Becoming => new Map(rows.map((row) => [idOf(row), to]));
const allBack = (rows: readonly Row[], names: readonly string[]): Becoming =>
  new Map(rows.map((row) => [idOf(row), part(row, names)]));

/**
 * What changes make of records, for `useChange`.
 * @param isOn whether an operation is offered, as `useOffered` says
 */
export function useEffects(isOn: (operation: Operation, given: Input) => boolean) {
  const call = useCall();
  const { operations } = useDefinitions();
  const done = () => t('records.act.undone');

  /** Records are removed: what restores them takes it back. */
  function removal({ restore, param }: Kind, above: Input, rows: readonly Row[]): Effect {
    const inputs = rows.map((row) => ({ ...above, [param]: row['id'] }));
    if (!restore || !inputs.every((input) => isOn(restore, input))) return { becomes: allTo(rows, null) };
    const run = () => Promise.all(inputs.map((input) => call(restore, input)));
    return { becomes: allTo(rows, null), undo: () => ({ becomes: new Map(), run, done: done() }) };
  }

  /** A record is moved by one of the operations whose results are known; undefined for others. */
  function move({ id }: Operation, given: Input, row: Row): Effect | undefined {
    const { to, back } = MOVES[id] ?? {};
    if (!to) return undefined;
    const opposite = operations.get(back ?? '');
    const undo =
      opposite && (() => ({ becomes: allBack([row], Object.keys(to)), run: () => call(opposite, given), done: done() }));
    return { becomes: allTo([row], to), undo };
  }

  /** Records are edited alike: their former values take it back, in the versions that the edit has left. */
  function edit({ patch, get, param }: Kind, above: Input, before: readonly Row[], to: Row): Effect {
    const becomes = allTo(before, to);
    const names = Object.keys(to);
    // a host's data is merged: what was added would stay
    const isKnown = names.every((name) => !OWN.test(name) && before.every((row) => row[name] !== undefined));
    if (!patch || !isKnown) return { becomes };

    /** The version that the edit has left; undefined where another edit has followed. */
    async function versionLeft(after: Row | undefined): Promise<string | undefined> {
      const known = after && knownVersion(after);
      if (known !== undefined || !after) return known;
      const now = (await call(get, { ...above, [param]: after['id'] }, { versioned: true })) as Row;
      return now['updatedAt'] === after['updatedAt'] ? versionOf(now) : undefined;
    }
    /** Returns whether it has its former values: what somebody else has changed since stays. */
    async function giveBack(operation: Operation, row: Row, after: Row | undefined): Promise<boolean> {
      const ifMatch = await versionLeft(after);
      if (ifMatch === undefined) return false;
      try {
        await call(operation, { ...above, [param]: row['id'], ...part(row, names) }, { ifMatch });
        return true;
      } catch (error) {
        if (isError(error, 'request.preconditionFailed')) return false;
        throw error;
      }
    }
    const undo = (answer: unknown): Change => ({
      becomes: allBack(before, names),
      async run() {
        const left = new Map(rowsIn(answer).map((row) => [row['id'], row]));
        const all = await Promise.all(before.map((row) => giveBack(patch, row, left.get(row['id']))));
        const kept = all.filter((isBack) => !isBack).length;
        if (kept > 0) throw new ToldFailure(t('records.act.changedSince', { count: kept }));
      },
      done: done(),
    });
    return { becomes, undo };
  }

  return { removal, move, edit };
}
