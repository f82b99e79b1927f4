import { defineModel, type Live } from '@tandem/storage';

/** What a person shows of itself. An identity may have several. */
export interface ProfileRecord extends Live {
  identityId: string;
  name: string;
  /** Of the deletion that took it last; null while there was none. */
  deletionId: string | null;
}

export const profileModel = defineModel<ProfileRecord>('profiles', {
  fields: {
    identityId: { type: String, required: true },
    name: { type: String, required: true },
    deletionId: { type: String, default: null },
  },
  indexes: [
    { keys: { createdAt: -1, _id: -1 }, serves: "the admin's list, newest first, and its total" },
    { keys: { identityId: 1, createdAt: -1, _id: -1 }, serves: 'the profiles of an identity, newest first; their deletion' },
    {
      keys: { deletionId: 1 },
      where: { deletionId: { $gt: '' } },
      deletedToo: true,
      serves: 'what a deletion of an identity has taken',
    },
  ],
});
