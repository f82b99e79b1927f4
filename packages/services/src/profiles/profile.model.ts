import { listIndexes } from '@tandem/lists';
import { defineModel, deletionFields, type Deletable } from '@tandem/storage';
import { notesField, type NotedRecord } from '../shared/unit-notes.js';
import { profileResource } from './profiles.schemas.js';

/** A public profile of an identity, which may have several. */
export interface ProfileRecord extends Deletable, NotedRecord {
  identityId: string;
  name: string;
}

export const profileModel = defineModel<ProfileRecord>('profiles', {
  fields: {
    identityId: { type: String, required: true },
    name: { type: String, required: true },
    notes: notesField,
    ...deletionFields,
  },
  cascades: [{ with: 'identities', by: 'identityId' }],
  indexes: [
    // includes the index of an identity's profiles, newest first
    ...listIndexes(profileResource, { by: ['identityId'] }),
    {
      keys: { deletionId: 1 },
      where: { deletionId: { $gt: '' } },
      deletedToo: true,
      serves: 'what a deletion of an identity has taken',
    },
  ],
});
