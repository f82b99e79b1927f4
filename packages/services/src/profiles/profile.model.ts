import { listIndexes } from '@tandem/lists';
import { defineModel, type Deletable } from '@tandem/storage';
import type { Metadata } from '../shared/metadata.js';
import type { NotedRecord } from '../shared/unit-notes.js';
import type { StoredFields } from '../shared/record.js';
import { profileRecord } from './profiles.schemas.js';

/** A public profile of an identity, which may have several. */
export interface ProfileRecord extends Deletable, NotedRecord, StoredFields<typeof profileRecord> {
  metadata?: Metadata;
}

export const profileModel = defineModel<ProfileRecord>('profiles', {
  traced: { kind: 'profile' },
  people: {
    identityId: { erased: 'remove', cleared: { name: '', metadata: undefined, hostFields: undefined } },
  },
  files: ['profile-avatar'],
  fields: profileRecord.stored,
  searched: profileRecord.resource.searched,
  cascades: [{ with: 'identities', by: 'identityId' }],
  indexes: [
    { keys: { identityId: 1 }, deletedToo: true, serves: 'all profiles of a person' },
    // includes the index of an identity's profiles, newest first
    ...listIndexes(profileRecord.resource, { by: ['identityId'] }),
    {
      keys: { deletionId: 1 },
      where: { deletionId: { $gt: '' } },
      deletedToo: true,
      serves: 'what a deletion of an identity has taken',
    },
  ],
});
