import { listIndexes } from '@tandem/lists';
import { defineModel } from '@tandem/storage';
import type { TreeRecord } from '../shared/trees.js';
import type { StoredFields } from '../shared/record.js';
import { locationRecord } from './locations.schemas.js';

export interface LocationRecord extends TreeRecord, StoredFields<typeof locationRecord> {}

export const locationModel = defineModel<LocationRecord>('locations', {
  traced: { kind: 'location' },
  fields: locationRecord.stored,
  searched: locationRecord.resource.searched,
  // the index on `parentId` also serves queries for children
  indexes: listIndexes(locationRecord.resource),
});
