import { defineList, relatedOne } from '@tandem/lists';
import { deletionFields } from '@tandem/storage';
import { z } from 'zod';
import { organizationKind } from '../organizations/organizations.schemas.js';
import { defineRecord, field } from '../shared/record.js';
import { Id, Name } from '../shared/schemas.js';
import { Content } from './messages.schemas.js';

/** A reusable message text. Nothing renders its content. */
export const messageTemplateRecord = defineRecord('messageTemplates', {
  fields: {
    title: field(Name.describe('The title of the template.'), { list: 'string' }),
    content: field(Content.describe('The text of the template; nothing is filled in.'), {
      list: { type: 'string', sort: false, group: false },
    }),
    organizationId: field(
      Id.describe('The owning organization; without one the template is for all, and only admins manage it.'),
      {
        optional: true,
        fixed: true,
        shown: z.string().nullable(),
        list: 'string',
      },
    ),
  },
  searched: ['title', 'content'],
  internal: deletionFields,
});
export const MessageTemplateSchema = messageTemplateRecord.schema.meta({ id: 'MessageTemplate' });
export type MessageTemplate = z.infer<typeof MessageTemplateSchema>;

const shown = { row: MessageTemplateSchema, relations: { organization: relatedOne(organizationKind, 'organizationId') } };
export const messageTemplateList = defineList(messageTemplateRecord.resource, {
  ...shown,
  equal: { title: Name, organizationId: Id },
});
export const organizationTemplateList = defineList(messageTemplateRecord.resource, {
  ...shown,
  own: { organizationId: Id },
});

export const messageTemplateInput = z.strictObject({ messageTemplateId: Id });
export const createMessageTemplateInput = z.strictObject(messageTemplateRecord.given);
export type NewMessageTemplate = z.infer<typeof createMessageTemplateInput>;

export const messageTemplatePatchInput = z.strictObject({ messageTemplateId: Id, ...messageTemplateRecord.patch });
export type MessageTemplatePatch = Omit<z.infer<typeof messageTemplatePatchInput>, 'messageTemplateId'>;
