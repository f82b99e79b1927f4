import type { ApiError } from '@tandem/core';
import { insertBelow, present, type ModelDefinition, type Presented, type Storage } from '@tandem/storage';
import type { FollowerCounts } from './follower-counts.js';
import { profileModel } from './profile.model.js';
import { profileErrors } from './profiles.errors.js';
import type { RelationRecord } from './relation.model.js';

interface RelationSettings<Key extends string> {
  storage: Storage;
  definition: ModelDefinition<RelationRecord<Key>>;
  /** The field with the id of the followed or liked record. */
  key: Key;
  counts: FollowerCounts;
  targetExists(targetId: string): Promise<boolean>;
  errors: { noTarget(): ApiError; present(): ApiError; missing(): ApiError };
}

export type ShownRelation<Key extends string> = Presented<RelationRecord<Key>>;

export function showRelation<Key extends string>(record: RelationRecord<Key>): ShownRelation<Key> {
  return present(record);
}

/** Writes follows or likes of one kind. */
export function createRelation<Key extends string>(settings: RelationSettings<Key>) {
  const { storage, definition, key, counts, targetExists, errors } = settings;
  const Relations = storage.model(definition);
  const Profiles = storage.model(profileModel);
  storage.cascades.onChange(definition.collectionName, counts.dropAll);

  const pair = (profileId: string, targetId: string) => ({ profileId, [key]: targetId }) as Partial<RelationRecord<Key>>;

  /** @throws profileErrors.notFound, errors.noTarget */
  async function expectBoth(profileId: string, targetId: string): Promise<void> {
    const [profile, hasTarget] = await Promise.all([Profiles.exists({ _id: profileId }), targetExists(targetId)]);
    if (profile === null) throw profileErrors.notFound();
    if (!hasTarget) throw errors.noTarget();
  }

  return {
    model: Relations,
    targetExists,

    /**
     * Stores the relation. Profile and target are checked after the insert, because a later deletion of either finds the
     * relation.
     * @throws profileErrors.notFound, errors.noTarget, errors.present
     */
    async add(profileId: string, targetId: string): Promise<ShownRelation<Key>> {
      const check = () => expectBoth(profileId, targetId);
      const record = await insertBelow(Relations, pair(profileId, targetId), check).finally(() => counts.drop(targetId));
      if (!record) throw errors.present();
      return showRelation(record);
    },

    /**
     * Removes the relation, even if its target is gone and the answer is therefore an error.
     * @throws profileErrors.notFound, errors.noTarget, errors.missing
     */
    async remove(profileId: string, targetId: string): Promise<void> {
      const { deletedCount } = await Relations.deleteOne(pair(profileId, targetId) as object).setOptions({ hard: true });
      counts.drop(targetId);
      await expectBoth(profileId, targetId);
      if (deletedCount === 0) throw errors.missing();
    },
  };
}
