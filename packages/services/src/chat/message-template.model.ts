import { listIndexes } from '@tandem/lists';
import { defineModel, type Deletable } from '@tandem/storage';
import type { StoredFields } from '../shared/record.js';
import { messageTemplateRecord } from './message-templates.schemas.js';

export interface MessageTemplateRecord extends Deletable, StoredFields<typeof messageTemplateRecord> {}

export const messageTemplateModel = defineModel<MessageTemplateRecord>('messageTemplates', {
  traced: { kind: 'messageTemplate', organization: 'organizationId' },
  fields: messageTemplateRecord.stored,
  searched: messageTemplateRecord.resource.searched,
  cascades: [{ with: 'organizations', by: 'organizationId' }],
  indexes: [
    ...listIndexes(messageTemplateRecord.resource, { by: ['organizationId'] }),
    {
      keys: { organizationId: 1, deletionId: 1 },
      deletedToo: true,
      replaces: 'organizationId_1_deletionId_1_where_deletionId',
      serves: 'the templates that come back, or go for good, with their organization',
    },
  ],
});
