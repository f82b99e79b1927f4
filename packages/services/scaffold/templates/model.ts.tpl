import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import { {{one}}Resource } from './{{files}}.schemas.js';

export interface {{One}}Record extends Live {
  identityId: string;
  title: string;
}

export const {{one}}Model = defineModel<{{One}}Record>('{{many}}', {
  fields: {
    identityId: { type: String, required: true },
    title: { type: String, required: true },
  },
  indexes: listIndexes({{one}}Resource),
});
