import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { FileSchema, GivenFileSchema, attachmentUploadParameters } from '../files/files.schemas.js';
import { Id, LINE_MAX, Timestamp } from '../shared/schemas.js';

/** Maximum lengths, in characters. */
const CONTENT_MAX = 10_000;
const CLIENT_ID_MAX = 100;

export const Content = z.string().min(1).max(CONTENT_MAX);
const Title = z.string().max(LINE_MAX);

/** A client's own name for a message, so that a repeated send is stored once. */
export const ClientId = z.string().min(1).max(CLIENT_ID_MAX);

export const MessageSchema = z
  .object({
    id: Id,
    channelId: Id,
    seq: z.number().int().min(1).meta({ description: 'The number of the message in its channel, from 1' }),
    senderId: z.string(),
    content: z.string(),
    title: z.string().nullable(),
    clientId: z.string().nullable(),
    attachments: z.array(FileSchema),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Message' });
export type Message = z.infer<typeof MessageSchema>;

export const messageResource = defineListResource({
  name: 'messages',
  fields: {
    seq: 'number',
    senderId: 'string',
    content: { type: 'string', sort: false, group: false },
    title: { type: 'string', sort: false },
    clientId: { type: 'string', sort: false, group: false },
    createdAt: 'date',
    updatedAt: 'date',
  },
  defaultOrder: 'seq desc, id desc',
});
const ofChannel = { channelId: Id };
export const messageList = defineList(messageResource, {
  row: MessageSchema,
  own: ofChannel,
  equal: { senderId: Id, title: Title, content: Content },
});
export const channelMessageList = defineList(messageResource, { row: MessageSchema, own: ofChannel });

export const messageInput = z.strictObject({ messageId: Id });
export const createMessageInput = z.strictObject({
  channelId: Id,
  senderId: Id,
  content: Content,
  title: Title.nullable().optional(),
  clientId: ClientId.nullable().optional(),
});
export type NewMessage = z.infer<typeof createMessageInput>;

/** The fields that the sender, and nobody else, may change (decisions R3). */
export const messagePatchInput = z.strictObject({
  messageId: Id,
  content: Content.optional(),
  title: Title.nullable().optional(),
});
export type MessagePatch = Omit<z.infer<typeof messagePatchInput>, 'messageId'>;

export const attachmentUploadInput = z.strictObject({ messageId: Id, ...attachmentUploadParameters });
export const attachInput = z.strictObject({ messageId: Id, ...GivenFileSchema.shape });
export const attachmentInput = z.strictObject({ messageId: Id, attachmentId: Id });
