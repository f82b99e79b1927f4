import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { newId, timeInStore, type Live, type Model, type Storage } from '@tandem/storage';

/** Retries of a move that waits for others, and the longest pause between them. */
const ATTEMPTS = 300;
const PAUSE_MS = 10;
/** Age at which an announcement must belong to a dead process, because requests end sooner. */
const STALE_MS = 30_000;

/** A move that is announced but not yet made. `at` is in the store's time. */
export interface AnnouncedMove {
  to: string;
  token: string;
  at: Date;
}

/** A record of a tree. A host may have left out `moving`. */
export interface TreeRecord extends Live {
  moving?: AnnouncedMove | null;
}
export const movingField = { type: { to: String, token: String, at: Date, _id: false }, default: null };

/** An announced move on the path to the root. */
interface Rival extends AnnouncedMove {
  id: string;
}

interface TreeMovesOptions<R extends TreeRecord> {
  storage: Storage;
  model: Model<R>;
  /** The field with the parent's id; null at the root. */
  parentField: keyof R & string;
  /** Thrown when a move would place a record below itself. */
  cycle(): Error;
  /** Thrown when the record does not exist. */
  missing(): Error;
}

/**
 * Moves records in their tree and never creates a cycle, even when other instances move records at the same time.
 *
 * Two concurrent moves can form a cycle that neither forms alone, and no single write sees both. So a move is first announced in
 * its record. The process then walks up from the new parent over all edges that exist or are announced. Finally it makes the
 * move, by a write that requires its announcement to be still there. Of the moves that would form a cycle, the last one announced
 * sees all the others. A move that blocks an older one is withdrawn and starts again; so one move always proceeds, and a dead
 * process blocks nobody.
 */
export function createTreeMoves<R extends TreeRecord>({ storage, model, parentField, cycle, missing }: TreeMovesOptions<R>) {
  // typed for the fields that every tree has
  const Records = model as unknown as Model<TreeRecord>;

  /** Whether a move gives way to the move with this token: if it began later, or its process is dead. */
  function yieldsTo(token: string, { token: other, at }: AnnouncedMove, now: Date): boolean {
    return other > token || at.getTime() <= now.getTime() - STALE_MS;
  }

  /** @returns false while an older move of the same record is under way. @throws missing */
  async function announce(id: string, { to, token }: Omit<AnnouncedMove, 'at'>): Promise<boolean> {
    const now = timeInStore(storage.clock);
    const stale = { $expr: { $lte: ['$moving.at', { $subtract: [now, STALE_MS] }] } };
    const isFree = { $or: [{ moving: null }, { 'moving.token': { $gte: token } }, stale] };
    const moving = { to: { $literal: to }, token: { $literal: token }, at: now };
    const options = { timestamps: false, updatePipeline: true } as const;
    const { matchedCount } = await Records.updateOne({ _id: id, ...isFree }, [{ $set: { moving } }], options);
    if (matchedCount === 0 && !(await Records.exists({ _id: id }))) throw missing();
    return matchedCount > 0;
  }

  async function withdraw(id: string, token: string): Promise<void> {
    const own = { _id: id, 'moving.token': token };
    await Records.updateOne(own, { $set: { moving: null } }, { timestamps: false }).setOptions({ deleted: 'include' });
  }

  /**
   * Walks from a record up to another, level by level, through deleted records too, since they may be restored.
   * @returns the announced moves on the path; undefined when there is no path
   */
  async function wayUp(from: string, target: string, withAnnounced: boolean): Promise<Rival[] | undefined> {
    const known = new Map<string, Rival[]>([[from, []]]);
    let level = [from];
    while (level.length > 0 && !known.has(target)) {
      const records = await Records.find({ _id: { $in: level } }, { [parentField]: 1, moving: 1 })
        .setOptions({ deleted: 'include' })
        .lean<TreeRecord[]>();
      level = [];
      for (const record of records) {
        const { _id, moving } = record;
        const parent: unknown = Reflect.get(record, parentField);
        const before = known.get(_id) ?? [];
        const edges: [string, Rival[]][] = typeof parent === 'string' ? [[parent, before]] : [];
        if (withAnnounced && moving) edges.push([moving.to, [...before, { ...moving, id: _id }]]);
        for (const [to, rivals] of edges) {
          if (known.has(to)) continue;
          known.set(to, rivals);
          level.push(to);
        }
      }
    }
    return known.get(target);
  }

  /**
   * Whether an announced move may be made. Withdraws younger moves that block it.
   * @returns false when this move has to give way
   * @throws cycle
   */
  async function mayMove(id: string, { to, token }: Omit<AnnouncedMove, 'at'>): Promise<boolean> {
    for (;;) {
      const rivals = await wayUp(to, id, true);
      if (!rivals) return true;
      if (rivals.length === 0 || (await wayUp(to, id, false))) throw cycle();
      const now = await storage.time();
      const weaker = rivals.find((rival) => yieldsTo(token, rival, now));
      if (!weaker) return false;
      await withdraw(weaker.id, weaker.token);
    }
  }

  return {
    /**
     * Moves a record below another, and makes the other changes in the same write.
     * @throws cycle, missing; requestErrors.unavailable when other moves block it for too long
     */
    async move(id: string, to: string, set: Partial<R>): Promise<R> {
      const token = newId(storage.clock);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (attempt > 0) await setTimeout(PAUSE_MS * Math.random());
        const announced = { to, token };
        if (!(await announce(id, announced))) continue;
        try {
          if (!(await mayMove(id, announced))) continue;
          const own = { _id: id, 'moving.token': token };
          const moved = await Records.findOneAndUpdate(
            own,
            { $set: { ...set, [parentField]: to, moving: null } },
            { returnDocument: 'after' },
          ).lean<R>();
          if (moved) return moved;
        } finally {
          await withdraw(id, token);
        }
      }
      throw requestErrors.unavailable({ retryAfter: 1 });
    },
  };
}
