import type { Storage } from '@tandem/storage';
import { newDeletion, markOf, type Children, type Deletion } from '../shared/deletion.js';
import { identityErrors } from './identities.errors.js';
import { withUniqueValues, type IdentityChanges } from './identity-changes.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

interface Taken {
  identityId: string;
  deletion: Deletion;
}

/**
 * Deletion of an identity with its children, and the way back (decisions R2). Units of work, which the next sweep finishes where a process
 * died in between.
 */
export function createIdentityDeletion(storage: Storage, { tryChange }: IdentityChanges, children: Children) {
  const Identities = storage.model(identityModel);

  const ownMark = ({ identityId, deletion }: Taken) => ({ _id: identityId, deletionId: deletion.id });
  async function mark(taken: Taken): Promise<void> {
    const { identityId, deletion } = taken;
    if (await tryChange({ _id: identityId }, markOf(deletion), { endSessions: true, voidTokens: true })) return;
    const done = await Identities.countDocuments(ownMark(taken)).setOptions({ deleted: 'include' });
    if (done === 0) throw identityErrors.notFound();
  }
  const unmark = (taken: Taken) =>
    withUniqueValues(() => Identities.updateOne(ownMark(taken), { $set: { deletedAt: null } }).setOptions({ deleted: 'only' }));
  const take = ({ identityId, deletion }: Taken) => children.take(identityId, deletion);
  const bringBack = ({ identityId, deletion }: Taken) => children.bringBack(identityId, deletion.id);

  const deletions = storage.defineUnit<Taken>({
    name: 'identities.delete',
    recovery: 'finish',
    steps: [
      { name: 'identity', run: mark, undo: unmark },
      { name: 'children', run: take, undo: bringBack },
    ],
  });
  const restorations = storage.defineUnit<Taken>({
    name: 'identities.restore',
    recovery: 'finish',
    steps: [
      // only what this deletion has taken: one that lives again, or was deleted anew, is left as it is
      {
        name: 'identity',
        run: unmark,
        undo: (taken) => tryChange(ownMark(taken), markOf(taken.deletion), { endSessions: true, voidTokens: true }),
      },
      { name: 'children', run: bringBack, undo: take },
    ],
  });

  return {
    /** Deletes softly and ends all sessions. @throws identityErrors.notFound */
    delete: (identityId: string) => deletions.run({ identityId, deletion: newDeletion(storage.clock) }),

    /** @throws identityErrors.notFound when there is nothing to restore; emailTaken, providerTaken when they have been given away */
    async restore(identityId: string): Promise<IdentityRecord> {
      const found = await Identities.findById(identityId)
        .select('+deletionId')
        .setOptions({ deleted: 'only' })
        .lean<IdentityRecord>();
      if (!found?.deletedAt) throw identityErrors.notFound();
      const { deletionId, deletedAt } = found;
      if (deletionId) await restorations.run({ identityId, deletion: { id: deletionId, at: deletedAt } });
      else await withUniqueValues(() => Identities.restore(identityId));
      const restored = await Identities.findById(identityId).lean<IdentityRecord>();
      if (!restored) throw identityErrors.notFound();
      return restored;
    },
  };
}
