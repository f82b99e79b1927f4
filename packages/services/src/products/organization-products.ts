import type { Storage } from '@tandem/storage';
import { markOf, type ChildrenOfMany, type Deletion } from '../shared/deletion.js';
import { productModel } from './product.model.js';

interface OrganizationProductsOptions {
  storage: Storage;
  /** The variants, which are deleted and restored with their product. */
  variants: ChildrenOfMany;
  /** The deletions of those given organizations that are deleted, by id. */
  deletionsOf(organizationIds: readonly string[]): Promise<Map<string, Deletion>>;
}

/** Deletes and restores products, with their variants, together with their organizations (decisions R2). */
export function createOrganizationProducts({ storage, variants, deletionsOf }: OrganizationProductsOptions) {
  const Products = storage.model(productModel);

  /** The products that a deletion took, restored or not. */
  async function takenBy(deletionId: string, among: object): Promise<string[]> {
    const found = Products.find({ deletionId, ...among }, { _id: 1 }).setOptions({ deleted: 'include' });
    return (await found.lean<{ _id: string }[]>()).map(({ _id }) => _id);
  }

  async function take(which: object, deletion: Deletion): Promise<void> {
    await Products.updateMany(which, { $set: markOf(deletion) }, { timestamps: false });
    await variants.take(await takenBy(deletion.id, which), deletion);
  }

  async function bringBack(which: object, deletionId: string): Promise<void> {
    const filter = { ...which, deletionId };
    await Products.updateMany(filter, { $set: { deletedAt: null } }).setOptions({ deleted: 'only', timestamps: false });
    await variants.bringBack(await takenBy(deletionId, which), deletionId);
  }

  return {
    withOrganizations: {
      take: (organizationIds, deletion) => take({ organizationId: { $in: organizationIds } }, deletion),
      bringBack: (_, deletionId) => bringBack({}, deletionId),
    } satisfies ChildrenOfMany,

    /**
     * Deletes just-written products whose organization was deleted before its deletion could see them. Idempotent.
     * @param productIds at most 100
     */
    async follow(productIds: readonly string[]): Promise<void> {
      const own = { _id: { $in: productIds } };
      const named = await Products.distinct('organizationId', { ...own, organizationId: { $ne: null } });
      const organizationIds = named.filter((id) => typeof id === 'string');
      if (organizationIds.length === 0) return;
      const deletions = await deletionsOf(organizationIds);
      for (const [organizationId, first] of deletions) {
        const ofIt = { ...own, organizationId };
        for (let deletion: Deletion | undefined = first; deletion;) {
          await take(ofIt, deletion);
          const current: Deletion | undefined = (await deletionsOf([organizationId])).get(organizationId);
          if (current?.id === deletion.id) break;
          // the organization was restored meanwhile, perhaps before the restore could see these products
          await bringBack(ofIt, deletion.id);
          deletion = current;
        }
      }
    },
  };
}
