import { describeFailure, isError } from '@tandem/client';
import { hashKey } from '@tanstack/react-query';
import type { Operation } from '../reference/reference.js';
import { ToldFailure } from '../ui/failure-text.js';
import { knownVersion, rowsIn, useCall, type CallContext, type Input, type Row } from './call.js';
import type { Change } from './changes.js';
import { useDefinitions, type Kind } from './definitions.js';
import { problemsOf } from './form-values.js';
import { patchBack, patched } from './own-data.js';
import type { Becoming } from './under-way.js';
import { isFile } from './values.js';
import { t } from '../texts/texts.js';

/** What a change makes of records, and what takes it back. */
export type Effect = Pick<Change, 'becomes' | 'undo'>;

/** What some operations make of a record, and which takes that back. */
const MOVES: Readonly<Record<string, { to: Row; back?: string }>> = {
  'identities.lock': { to: { locked: true }, back: 'identities.unlock' },
  'identities.unlock': { to: { locked: false }, back: 'identities.lock' },
  'categories.enable': { to: { status: 'active' }, back: 'categories.disable' },
  'categories.disable': { to: { status: 'inactive' }, back: 'categories.enable' },
  'orders.cancel': { to: { status: 'cancelled' } },
};

/** Fields whose changes nothing takes back: an order goes on from state to state. */
const ONE_WAY: Readonly<Record<string, string>> = { 'orders.patch': 'status' };

/** What an edit changes besides: another address is not verified. */
const BESIDE: Readonly<Record<string, (to: Row) => Row>> = {
  'identities.patch': (to) => ('email' in to ? { emailVerified: false } : {}),
};

const idOf = (row: Row) => String(row['id']);
const part = (row: Row, names: readonly string[]): Row => Object.fromEntries(names.map((name) => [name, row[name]]));
const isSame = (one: Row, other: Row) => hashKey([one]) === hashKey([other]);
const allTo = (rows: readonly Row[], to: Row | null): Becoming => new Map(rows.map((row) => [idOf(row), to]));
const allBack = (rows: readonly Row[], names: readonly string[]): Becoming =>
  new Map(rows.map((row) => [idOf(row), part(row, names)]));

/**
 * What changes make of records, for `useChange`.
 * @param isOn whether an operation is offered, as `useOffered` says
 */
export function useEffects(isOn: (operation: Operation, given: Input) => boolean) {
  const call = useCall();
  const { operations, reference } = useDefinitions();
  const done = () => t('records.act.undone');

  /** Records are removed: what restores them takes it back. */
  function removal({ restore, get, param }: Kind, above: Input, rows: readonly Row[]): Effect {
    const inputs = rows.map((row) => ({ ...above, [param]: row['id'] }));
    if (!restore || !inputs.every((input) => isOn(restore, input))) return { becomes: allTo(rows, null) };
    /** Another tab may have restored it, or the answer of an attempt before has got lost. */
    const giveBack = (input: Input) =>
      call(restore, input).catch(async (error: unknown) => {
        if (describeFailure(error).status !== 404) throw error;
        await call(get, input);
      });
    const run = () => Promise.all(inputs.map(giveBack));
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
  function edit({ patch, get, param }: Kind, above: Input, before: readonly Row[], given: Row): Effect {
    const to = { ...BESIDE[patch?.id ?? '']?.(given), ...given };
    const becomes: Becoming = new Map(before.map((row) => [idOf(row), patched(row, to)]));
    const names = Object.keys(to);
    // of a file only its address is known
    const isKnown = names.every((name) => before.every((row) => row[name] !== undefined && !isFile(row[name])));
    if (!patch || !isKnown || names.includes(ONE_WAY[patch.id] ?? '')) return { becomes };
    // some values are the server's alone, such as when it has switched a webhook off
    const isTaken = before.every((row) => problemsOf(patch, patchBack(row, to), [], reference.resolve).size === 0);
    if (!isTaken) return { becomes };

    const readNow = async (row: Row) => (await call(get, { ...above, [param]: row['id'] }, { versioned: true })) as Row;
    /** Names the version that the edit has left, where the server keeps one; undefined where another edit has followed. */
    async function versionLeft(after: Row | undefined): Promise<CallContext | undefined> {
      if (!after) return undefined;
      const known = knownVersion(after);
      if (known !== undefined) return { ifMatch: known };
      const now = await readNow(after);
      if (now['updatedAt'] !== after['updatedAt']) return undefined;
      const ifMatch = knownVersion(now);
      return ifMatch === undefined ? {} : { ifMatch };
    }
    /** Whether it has its former values all the same: another tab gave them, or an attempt whose answer has got lost. */
    const isBack = async (row: Row) => isSame(part(await readNow(row), names), part(row, names));
    /** Returns whether it has its former values: what somebody else has changed since stays. */
    async function giveBack(operation: Operation, row: Row, after: Row | undefined): Promise<boolean> {
      const context = await versionLeft(after);
      if (!context) return isBack(row);
      try {
        await call(operation, { ...above, [param]: row['id'], ...patchBack(row, to) }, context);
        return true;
      } catch (error) {
        if (isError(error, 'request.preconditionFailed')) return isBack(row);
        throw error;
      }
    }
    const undo = (answer: unknown): Change => ({
      becomes: allBack(before, names),
      async run() {
        const left = new Map(rowsIn(answer).map((row) => [row['id'], row]));
        const all = await Promise.all(before.map((row) => giveBack(patch, row, left.get(row['id']))));
        const kept = all.filter((one) => !one).length;
        if (kept > 0) throw new ToldFailure(t('records.act.changedSince', { count: kept }));
      },
      done: done(),
    });
    return { becomes, undo };
  }

  return { removal, move, edit };
}
