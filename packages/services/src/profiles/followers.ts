import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { present, type Model, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { FollowerCounts } from './follower-counts.js';
import type { organizationFollowerList, profileFollowerList } from './follows.schemas.js';
import type { productLikerList } from './likes.schemas.js';
import { profileModel, type ProfileRecord } from './profile.model.js';
import type { RelationRecord } from './relation.model.js';
import type { Follower } from './relations.schemas.js';

interface FollowersOf<Key extends string> {
  list: typeof profileFollowerList | typeof organizationFollowerList | typeof productLikerList;
  model: Model<RelationRecord<Key>>;
  key: Key;
  targetId: string;
}

interface FollowersOptions {
  storage: Storage;
  lists: Lists;
  counts: FollowerCounts;
  avatars: Attachments;
}

/** Lists profiles that follow or like something. */
export function createFollowers({ storage, lists, counts, avatars }: FollowersOptions) {
  const Profiles = storage.model(profileModel);

  async function addNames(rows: readonly Follower[]): Promise<void> {
    // skips names of another type, which a host may have written, so that the row still fits its schema (decisions H20)
    const named = { _id: { $in: rows.map(({ id }) => id) }, name: { $type: 'string' } } as const;
    const found = await Profiles.find(named, { name: 1 }).lean<Pick<ProfileRecord, '_id' | 'name'>[]>();
    const names = new Map(found.map(({ _id, name }) => [_id, name]));
    for (const row of rows) row.name = names.get(row.id) ?? '';
  }

  async function addAvatars(rows: readonly Follower[]): Promise<void> {
    const files = await avatars.oneOf(rows.map(({ id }) => id));
    for (const row of rows) row.avatar = files.get(row.id) ?? null;
  }

  const complete = { name: addNames, avatar: addAvatars };

  return {
    /** A page of profiles, latest first. */
    list<Key extends string>({ list, model, key, targetId }: FollowersOf<Key>, query: ListQuery): Promise<ListAnswer<Follower>> {
      const show = (record: RelationRecord<Key>): Follower => {
        const { profileId: id, createdAt } = present(record) as { profileId: string; createdAt: string };
        return { id, name: '', avatar: null, createdAt };
      };
      const source = { scope: { [key]: targetId }, show, complete, countCache: counts.of(targetId) };
      return lists.answer<RelationRecord<Key>, Follower>(list, model, source, query);
    },
  };
}
