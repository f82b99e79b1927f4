import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import { banRecord } from './bans.schemas.js';

/** Keeps an identity out of a channel; one record per pair. It decides: a membership beside it is removed. */
export interface BanRecord extends Live {
  channelId: string;
  identityId: string;
  until: Date | null;
  bannedBy: string;
}

export const banModel = defineModel<BanRecord>('bans', {
  traced: { kind: 'ban', removes: ['channelId', 'identityId'] },
  people: {
    // its events show ids and times alone
    identityId: { erased: 'remove', cleared: {}, exported: ['channelId', 'until', 'createdAt'] },
    bannedBy: { erased: 'replace', exported: ['channelId', 'createdAt'] },
  },
  goesWith: [{ with: 'channels', by: 'channelId' }],
  fields: banRecord.stored,
  indexes: [
    {
      keys: { channelId: 1, identityId: 1 },
      unique: true,
      deletedToo: true,
      serves: 'whether somebody may join: one for each pair',
    },
    ...listIndexes(banRecord.resource, { within: ['channelId'] }),
  ],
});
