import { isDuplicateKey, type Storage } from '@tandem/storage';
import { createBulkDeletion } from '../shared/bulk-deletion.js';
import type { ChildrenOfMany } from '../shared/deletion.js';
import { organizationModel, type OrganizationRecord } from './organization.model.js';
import { organizationErrors as errors } from './organizations.errors.js';

/** Deletes and restores organizations with their children, all or none (decisions R2). */
export function createOrganizationDeletion(storage: Storage, children: readonly ChildrenOfMany[]) {
  const Organizations = storage.model(organizationModel);
  const bulk = createBulkDeletion({
    storage,
    model: Organizations,
    name: 'organization',
    manyMissing: errors.notFound,
    oneMissing: errors.notFound,
    children: {
      async take(organizationIds, deletion) {
        for (const child of children) await child.take(organizationIds, deletion);
      },
      async bringBack(organizationIds, deletionId) {
        for (const child of children) await child.bringBack(organizationIds, deletionId);
      },
    },
  });

  return {
    /** @throws errors.notFound */
    delete: (organizationId: string) => bulk.remove([organizationId]),

    /** @throws errors.notFound when there is nothing to restore, nameTakenMeanwhile */
    async restore(organizationId: string): Promise<void> {
      try {
        await bulk.restore(organizationId);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const deleted = Organizations.findById(organizationId, { name: 1 }).setOptions({ deleted: 'include' });
        throw errors.nameTakenMeanwhile({ name: (await deleted.lean<OrganizationRecord>())?.name ?? '' });
      }
    },

    /** The deletions of those given organizations that are deleted, by id. */
    deletionsOf: bulk.deletionsOf,
  };
}
