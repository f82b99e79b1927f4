import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import type { StoredFields } from '../shared/record.js';
import { {{one}}Record } from './{{files}}.schemas.js';

export interface {{One}}Record extends Live, StoredFields<typeof {{one}}Record> {
  identityId: string;
}

export const {{one}}Model = defineModel<{{One}}Record>('{{many}}', {
  // gives each a version, its answers an ETag, and its changes to the log of events
  traced: { kind: '{{one}}' },
  // goes with the person who created it; `cleared` is what its events lose
  people: { identityId: { erased: 'remove', cleared: { title: '' } } },
  fields: {{one}}Record.stored,
  indexes: [
    ...listIndexes({{one}}Record.resource),
    { keys: { identityId: 1 }, deletedToo: true, serves: 'all {{plural}} of a person' },
  ],
});
