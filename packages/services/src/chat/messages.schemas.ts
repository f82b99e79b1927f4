import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { FileSchema, GivenFileSchema, attachmentUploadParameters } from '../files/files.schemas.js';
import { personKind } from '../people/people.schemas.js';
import { metadataField } from '../shared/metadata.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, LINE_MAX } from '../shared/schemas.js';
import { channelKind } from './channels.schemas.js';
import { ReactionSchema } from './reactions.schemas.js';

/** Maximum lengths, in characters. */
const CONTENT_MAX = 10_000;
const CLIENT_ID_MAX = 100;
/** Maximum number of files that a message is posted with. */
const POSTED_FILES_MAX = 10;

export const Content = z.string().min(1).max(CONTENT_MAX);
const Title = z.string().max(LINE_MAX);

/** The number of a change in its channel, from 1; 0 for what is older than these numbers (decisions C1). */
export const ChangeNumber = z.number().int().min(0);

/** A client's own name for a message, so that a repeated send is stored once. */
export const ClientId = z.string().min(1).max(CLIENT_ID_MAX);

/** Maximum number of members that a message names; repeated ones count once. */
const MENTIONS_MAX = 50;
const Mentions = z
  .array(Id)
  .check(z.overwrite((ids) => [...new Set(ids)]))
  .max(MENTIONS_MAX);

export const messageRecord = defineRecord('messages', {
  fields: {
    channelId: field(Id, { fixed: true, shown: Id }),
    /** Counts from 1 without gaps: see `message-log.ts`. */
    seq: serverField(z.number().int().min(1).meta({ description: 'The number of the message in its channel, from 1' }), {
      stored: { type: Number, required: true },
      list: 'number',
    }),
    senderId: field(Id.describe('The identity that sends the message.'), { fixed: true, list: 'string' }),
    content: field(Content.describe('The text of the message.'), { list: { type: 'string', sort: false, group: false } }),
    title: field(Title.nullable().describe('A title above the text.'), { list: { type: 'string', sort: false } }),
    clientId: field(ClientId.nullable().describe('Your own id of the message: one that is sent again is stored once.'), {
      fixed: true,
      list: { type: 'string', sort: false, group: false },
    }),
    /** Stored only in replies. */
    replyToId: field(Id.nullable().describe('The message of the channel that this one replies to.'), {
      fixed: true,
      stored: { type: String },
      list: { type: 'string', sort: false, group: false },
    }),
    replyCount: serverField(z.number().int().min(0).describe('The number of replies to the message.')),
    /** Stored only where there are any. */
    mentions: field(Mentions.describe('Members of the channel that the message names, who are notified of it.'), {
      optional: true,
      shown: z.array(z.string()),
      stored: { type: [String], default: undefined },
    }),
    /** Stored only where there is any, which costs a message without it nothing. */
    metadata: { ...metadataField, settings: { ...metadataField.settings, stored: { type: Object } } },
    attachments: serverField(z.array(FileSchema)),
    reactions: serverField(z.array(ReactionSchema).describe('What people react with, in the order of first use.')),
  },
  searched: ['title', 'content'],
  internal: {
    change: { type: Number },
    versions: { type: [Object], default: undefined, select: false },
    textAt: { type: Date },
  },
  defaultOrder: 'seq desc, id desc',
});
export const MessageSchema = messageRecord.schema.meta({ id: 'Message' });
export type Message = z.infer<typeof MessageSchema>;

const ofChannel = { channelId: Id };
/** How lists show messages. */
export const shownMessages = {
  row: MessageSchema,
  reads: { replyCount: ['replies'] } as const,
  relations: { sender: relatedOne(personKind, 'senderId'), channel: relatedOne(channelKind, 'channelId') },
};
export const messageList = defineList(messageRecord.resource, {
  ...shownMessages,
  own: { channelId: Id.optional().meta({ description: 'The channel; with `$search`, all channels of the caller without it.' }) },
  equal: { senderId: Id, title: Title, content: Content },
});
export const channelMessageList = defineList(messageRecord.resource, { ...shownMessages, own: ofChannel });

export const replyList = defineList(messageRecord.resource, { ...shownMessages, own: { messageId: Id } });

export const messageInput = z.strictObject({ messageId: Id });
export const createMessageInput = z.strictObject({
  ...messageRecord.given,
  attachments: z
    .array(GivenFileSchema)
    .max(POSTED_FILES_MAX)
    .optional()
    .describe('Uploaded files, which the message arrives with. Needs a `clientId`, so that it can be sent again.'),
});
export type NewMessage = z.infer<typeof createMessageInput>;

/** The fields that the sender, and nobody else, may change (decisions R3). */
export const messagePatchInput = z.strictObject({ messageId: Id, ...messageRecord.patch });
export type MessagePatch = Omit<z.infer<typeof messagePatchInput>, 'messageId'>;

export const postedFileUploadInput = z.strictObject({ channelId: Id, ...attachmentUploadParameters });
export const attachmentUploadInput = z.strictObject({ messageId: Id, ...attachmentUploadParameters });
export const attachInput = z.strictObject({ messageId: Id, ...GivenFileSchema.shape });
export const attachmentInput = z.strictObject({ messageId: Id, attachmentId: Id });
