import type { Storage } from '@tandem/storage';
import { defineDeletion, type Children } from '../shared/deletion.js';
import { identityErrors } from './identities.errors.js';
import { withUniqueValues, type IdentityChanges } from './identity-changes.js';
import { identityModel, type IdentityRecord } from './identity.model.js';

/** Deletes and restores an identity with its children (decisions R2). */
export function createIdentityDeletion(storage: Storage, { tryChange }: IdentityChanges, children: Children) {
  const Identities = storage.model(identityModel);

  const deletion = defineDeletion(storage, {
    name: 'identities',
    model: Identities,
    children,
    notFound: identityErrors.notFound,
    mark: async (filter, mark) => (await tryChange(filter, mark, { endSessions: true, voidTokens: true })) !== undefined,
    reviving: withUniqueValues,
  });

  return {
    /** Soft-deletes an identity and ends all its sessions. @throws identityErrors.notFound */
    delete: deletion.delete,

    /**
     * @throws identityErrors.notFound when there is nothing to restore; emailTaken, providerTaken when another identity has them
     * now
     */
    async restore(identityId: string): Promise<IdentityRecord> {
      const found = await Identities.findById(identityId)
        .select('+deletionId')
        .setOptions({ deleted: 'only' })
        .lean<IdentityRecord>();
      if (!found) throw identityErrors.notFound();
      await deletion.restore(found);
      const restored = await Identities.findById(identityId).lean<IdentityRecord>();
      if (!restored) throw identityErrors.notFound();
      return restored;
    },
  };
}
