import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { DELETION_FIELDS } from '@tandem/storage';
import { z } from 'zod';
import { Id, Name, Timestamp } from '../shared/schemas.js';
import { Content } from './messages.schemas.js';

/** A reusable message text. Nothing renders its content. */
export const MessageTemplateSchema = z
  .object({
    id: Id,
    title: z.string(),
    content: z.string(),
    organizationId: z
      .string()
      .nullable()
      .meta({ description: 'The owning organization; null for a global template, which only admins manage' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'MessageTemplate' });
export type MessageTemplate = z.infer<typeof MessageTemplateSchema>;

export const messageTemplateResource = defineListResource({
  name: 'messageTemplates',
  fields: {
    title: 'string',
    content: { type: 'string', sort: false, group: false },
    organizationId: 'string',
    createdAt: 'date',
    updatedAt: 'date',
  },
  hidden: DELETION_FIELDS,
  defaultOrder: 'createdAt desc, id desc',
});
export const messageTemplateList = defineList(messageTemplateResource, {
  row: MessageTemplateSchema,
  equal: { title: Name, organizationId: Id },
});
export const organizationTemplateList = defineList(messageTemplateResource, {
  row: MessageTemplateSchema,
  own: { organizationId: Id },
});

export const messageTemplateInput = z.strictObject({ messageTemplateId: Id });
export const createMessageTemplateInput = z.strictObject({ title: Name, content: Content, organizationId: Id.optional() });
export type NewMessageTemplate = z.infer<typeof createMessageTemplateInput>;

/** The fields that may change; the organization may not (decisions R3). */
export const messageTemplatePatchInput = z.strictObject({
  messageTemplateId: Id,
  title: Name.optional(),
  content: Content.optional(),
});
export type MessageTemplatePatch = Omit<z.infer<typeof messageTemplatePatchInput>, 'messageTemplateId'>;
