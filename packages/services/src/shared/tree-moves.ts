import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { newId, timeInStore, type Live, type Model, type Storage } from '@tandem/storage';

/** A move that waits for others begins anew so often at most, some milliseconds apart. */
const ATTEMPTS = 300;
const PAUSE_MS = 10;
/** An announcement of this age is of a dead process: requests end sooner. */
const STALE_MS = 30_000;

/** A move that is announced and not yet made; when, by the store's time. */
export interface AnnouncedMove {
  to: string;
  token: string;
  at: Date;
}

/** A record of a tree; a host may have left the move out. */
export interface TreeRecord extends Live {
  moving?: AnnouncedMove | null;
}
export const movingField = { type: { to: String, token: String, at: Date, _id: false }, default: null };

/** An announced move on the way up from a record. */
interface Rival extends AnnouncedMove {
  id: string;
}

interface TreeMovesOptions<R extends TreeRecord> {
  storage: Storage;
  model: Model<R>;
  /** Where a record has the id of the one above it; null at the top. */
  parentField: keyof R & string;
  /** Thrown where a record would come to lie below itself. */
  cycle(): Error;
  /** Thrown where there is no such record. */
  missing(): Error;
}

/**
 * Moves records in their tree, which never gets a cycle, whatever moves at once on other instances.
 *
 * Two moves can make a cycle together that neither makes alone, and no single write sees both. So a move is announced in its record
 * first, then it looks at the way up from its new parent, over all edges that are there or announced, and then it becomes true by a write
 * that needs its announcement still there. Of the moves that make a cycle, the one that was announced last sees all the others. Who is in
 * the way of an older move is pushed aside, and begins anew; so one always goes on, and nothing is left to wait for when a process dies.
 */
export function createTreeMoves<R extends TreeRecord>({ storage, model, parentField, cycle, missing }: TreeMovesOptions<R>) {
  // filters and updates of fields that every tree has
  const Records = model as unknown as Model<TreeRecord>;

  /** Who gives way to a move of this token: those that began later, and those of dead processes. */
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
   * The way up from one record to another, level by level; deleted ones count, since they may come back.
   * @returns the announced moves on it; undefined when there is no way
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
   * Whether a move that has been announced may become true; pushes aside what has to give way.
   * @returns false when it has to give way itself
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
     * Puts a record below another, with the rest of a change in the same write.
     * @throws cycle, missing; requestErrors.unavailable when others move for too long
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
