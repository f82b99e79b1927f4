import type { Storage } from '@tandem/storage';
import type { Children } from '../shared/deletion.js';
import { subscriptionModel } from './subscription.model.js';

/** The field in an update pipeline. A host may have left it out. */
const HIDDEN_BY = { $ifNull: ['$hiddenBy', []] };

/**
 * Hides the subscriptions of a deleted channel or identity, and shows each again once nothing else hides it. Hiding is tracked by
 * deletion id, so the result does not depend on the order in which channel and identity are deleted and restored.
 */
export function createSubscriptionHiding(storage: Storage) {
  const Subscriptions = storage.model(subscriptionModel);
  const everyone = { deleted: 'include', timestamps: false, updatePipeline: true } as const;

  const hidingOf = (key: 'channelId' | 'subscribedId'): Children => ({
    async take(id, { id: deletionId, at }) {
      const hiddenBy = { $setUnion: [HIDDEN_BY, [deletionId]] };
      await Subscriptions.updateMany(
        { [key]: id },
        [{ $set: { hiddenBy, deletedAt: { $ifNull: ['$deletedAt', at] } } }],
        everyone,
      );
    },
    async bringBack(id, deletionId) {
      const deletedAt = { $cond: [{ $eq: ['$hiddenBy', []] }, null, '$deletedAt'] };
      const stages = [{ $set: { hiddenBy: { $setDifference: [HIDDEN_BY, [deletionId]] } } }, { $set: { deletedAt } }];
      await Subscriptions.updateMany({ [key]: id }, stages, everyone);
    },
  });

  return { withChannel: hidingOf('channelId'), withIdentity: hidingOf('subscribedId') };
}
