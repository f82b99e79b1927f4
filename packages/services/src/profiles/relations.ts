import type { ApiError } from '@tandem/core';
import { isDuplicateKey, newId, present, type ModelDefinition, type Presented, type Storage } from '@tandem/storage';
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

  const pair = (profileId: string, targetId: string) => ({ profileId, [key]: targetId });

  /** @throws profileErrors.notFound, errors.noTarget */
  async function expectBoth(profileId: string, targetId: string): Promise<void> {
    const [profile, hasTarget] = await Promise.all([Profiles.exists({ _id: profileId }), targetExists(targetId)]);
    if (profile === null) throw profileErrors.notFound();
    if (!hasTarget) throw errors.noTarget();
  }

  /** @returns undefined when the pair exists already */
  async function insert(profileId: string, targetId: string): Promise<RelationRecord<Key> | undefined> {
    try {
      const created: unknown = await Relations.create({ _id: newId(storage.clock), ...pair(profileId, targetId) } as object);
      return (created as { toObject(): RelationRecord<Key> }).toObject();
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return undefined;
    } finally {
      counts.drop(targetId);
    }
  }

  async function erase(filter: Record<string, string>, targetId: string): Promise<boolean> {
    const { deletedCount } = await Relations.deleteOne(filter as object).setOptions({ hard: true });
    counts.drop(targetId);
    return deletedCount > 0;
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
      const record = await insert(profileId, targetId);
      try {
        await expectBoth(profileId, targetId);
      } catch (error) {
        if (record) await erase({ _id: record._id }, targetId);
        throw error;
      }
      if (!record) throw errors.present();
      return showRelation(record);
    },

    /**
     * Removes the relation, even if its target is gone and the answer is therefore an error.
     * @throws profileErrors.notFound, errors.noTarget, errors.missing
     */
    async remove(profileId: string, targetId: string): Promise<void> {
      const isRemoved = await erase(pair(profileId, targetId), targetId);
      await expectBoth(profileId, targetId);
      if (!isRemoved) throw errors.missing();
    },
  };
}
