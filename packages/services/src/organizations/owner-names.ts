import { textIn, type Storage } from '@tandem/storage';
import { organizationModel, ownerNameOf } from './organization.model.js';
import { organizationErrors as errors } from './organizations.errors.js';

/** Looks for a taken name before anything else is written; the index decides of simultaneous writes. */
export function createNameCheck(storage: Storage) {
  const Organizations = storage.model(organizationModel);

  /** @throws errors.nameTaken when one of these owners owns another organization of this name */
  return async function expectFreeName(organizationId: string, name: string, owners: readonly string[]): Promise<void> {
    const ownerNames = textIn(owners.map((identityId) => ownerNameOf(identityId, name)));
    if (await Organizations.exists({ ownerNames, _id: { $ne: organizationId } })) throw errors.nameTaken({ name });
  };
}
