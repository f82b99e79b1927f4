import { listIndexes } from '@tandem/lists';
import { defineModel, deletionFields, type Deletable } from '@tandem/storage';
import { messageTemplateResource } from './message-templates.schemas.js';

export interface MessageTemplateRecord extends Deletable {
  title: string;
  content: string;
  /** The owning organization. Null, or missing where a host wrote the record, for a global template. */
  organizationId?: string | null;
}

export const messageTemplateModel = defineModel<MessageTemplateRecord>('messageTemplates', {
  fields: {
    title: { type: String, required: true },
    content: { type: String, required: true },
    organizationId: { type: String, default: null },
    ...deletionFields,
  },
  cascades: [{ with: 'organizations', by: 'organizationId' }],
  indexes: [
    ...listIndexes(messageTemplateResource, { by: ['organizationId'] }),
    {
      keys: { organizationId: 1, deletionId: 1 },
      where: { deletionId: { $type: 'string' } },
      deletedToo: true,
      serves: 'the templates that come back with their organization',
    },
  ],
});
