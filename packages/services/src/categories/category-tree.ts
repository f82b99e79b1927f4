import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { newId, type Storage } from '@tandem/storage';
import { categoryErrors as errors } from './categories.errors.js';
import { categoryModel, type AnnouncedMove, type CategoryRecord } from './category.model.js';

/** A move that waits for others begins anew so often at most, some milliseconds apart. */
const ATTEMPTS = 300;
const PAUSE_MS = 10;
/** An announcement of this age is of a dead process: requests end sooner. */
const STALE_MS = 30_000;

/** An announced move on the way up from a category. */
interface Rival extends AnnouncedMove {
  categoryId: string;
}

/**
 * Moves categories in their tree, which never gets a cycle, whatever moves at once on other instances.
 *
 * Two moves can make a cycle together that neither makes alone, and no single write sees both. So a move is announced in its category
 * first, then it looks at the way up from its new parent, over all edges that are there or announced, and then it becomes true by a write
 * that needs its announcement still there. Of the moves that make a cycle, the one that was announced last sees all the others. Who is in
 * the way of an older move is pushed aside, and begins anew; so one always goes on, and nothing is left to wait for when a process dies.
 */
export function createCategoryTree(storage: Storage) {
  const Categories = storage.model(categoryModel);

  /** Who gives way to a move of this token: those that began later, and those of dead processes. */
  function yieldsTo(token: string, { token: other, at }: AnnouncedMove): boolean {
    return other > token || at.getTime() <= storage.clock.now().getTime() - STALE_MS;
  }

  /** @returns false while an older move of the same category is under way. @throws errors.doesNotExist */
  async function announce(categoryId: string, move: AnnouncedMove): Promise<boolean> {
    const stale = { 'moving.at': { $lte: new Date(move.at.getTime() - STALE_MS) } };
    const isFree = { $or: [{ moving: null }, { 'moving.token': { $gte: move.token } }, stale] };
    const options = { timestamps: false };
    const { matchedCount } = await Categories.updateOne({ _id: categoryId, ...isFree }, { $set: { moving: move } }, options);
    if (matchedCount === 0 && !(await Categories.exists({ _id: categoryId }))) throw errors.doesNotExist();
    return matchedCount > 0;
  }

  async function withdraw(categoryId: string, token: string): Promise<void> {
    const own = { _id: categoryId, 'moving.token': token };
    await Categories.updateOne(own, { $set: { moving: null } }, { timestamps: false }).setOptions({ deleted: 'include' });
  }

  /**
   * The way up from one category to another, level by level; deleted ones count, since they may come back.
   * @returns the announced moves on it; undefined when there is no way
   */
  async function wayUp(from: string, target: string, withAnnounced: boolean): Promise<Rival[] | undefined> {
    const known = new Map<string, Rival[]>([[from, []]]);
    let level = [from];
    while (level.length > 0 && !known.has(target)) {
      const records = await Categories.find({ _id: { $in: level } }, { parent: 1, moving: 1 })
        .setOptions({ deleted: 'include' })
        .lean<Pick<CategoryRecord, '_id' | 'parent' | 'moving'>[]>();
      level = [];
      for (const { _id, parent, moving } of records) {
        const before = known.get(_id) ?? [];
        const edges: [string, Rival[]][] = parent === null ? [] : [[parent, before]];
        if (withAnnounced && moving) edges.push([moving.to, [...before, { ...moving, categoryId: _id }]]);
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
   * @throws errors.cycle
   */
  async function mayMove(categoryId: string, { to, token }: AnnouncedMove): Promise<boolean> {
    for (;;) {
      const rivals = await wayUp(to, categoryId, true);
      if (!rivals) return true;
      if (rivals.length === 0 || (await wayUp(to, categoryId, false))) throw errors.cycle();
      const weaker = rivals.find((rival) => yieldsTo(token, rival));
      if (!weaker) return false;
      await withdraw(weaker.categoryId, weaker.token);
    }
  }

  return {
    /**
     * Puts a category below another, with the rest of a change in the same write.
     * @throws errors.cycle, doesNotExist (of the category); requestErrors.unavailable when others move for too long
     */
    async move(categoryId: string, to: string, set: Partial<CategoryRecord>): Promise<CategoryRecord> {
      const token = newId(storage.clock);
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (attempt > 0) await setTimeout(PAUSE_MS * Math.random());
        const announced = { to, token, at: storage.clock.now() };
        if (!(await announce(categoryId, announced))) continue;
        try {
          if (!(await mayMove(categoryId, announced))) continue;
          const own = { _id: categoryId, 'moving.token': token };
          const moved = await Categories.findOneAndUpdate(
            own,
            { $set: { ...set, parent: to, moving: null } },
            { returnDocument: 'after' },
          ).lean<CategoryRecord>();
          if (moved) return moved;
        } finally {
          await withdraw(categoryId, token);
        }
      }
      throw requestErrors.unavailable({ retryAfter: 1 });
    },
  };
}
