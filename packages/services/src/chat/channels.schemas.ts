import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { DELETION_FIELDS } from '@tandem/storage';
import { z } from 'zod';
import { IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { Id, Name, Timestamp } from '../shared/schemas.js';
import { MessageSchema } from './messages.schemas.js';

export const ChannelSchema = z
  .object({
    id: Id,
    name: z.string(),
    ownerId: z.string(),
    open: z.boolean().meta({ description: 'Whether any identity may join by itself' }),
    icon: FileSchema.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Channel' });
export type Channel = z.infer<typeof ChannelSchema>;

export const channelResource = defineListResource({
  name: 'channels',
  fields: {
    name: 'string',
    ownerId: 'string',
    open: { type: 'boolean', absent: false, sort: false },
    createdAt: 'date',
    updatedAt: 'date',
  },
  hidden: ['notes', ...DELETION_FIELDS],
  defaultOrder: 'createdAt desc, id desc',
});

/** How far a member has read in a channel, as message numbers (decisions S3). */
export const standingFields = {
  lastSeq: z.number().int().min(0).meta({ description: 'The number of the last message, 0 before the first' }),
  readSeq: z.number().int().min(0).meta({ description: 'The number of the last message that has been read' }),
  unread: z.number().int().min(0),
};

/** A channel in a list. With `memberId` it shows how far that member has read. */
const ListedChannelSchema = ChannelSchema.extend({
  ...z.object(standingFields).partial().shape,
  lastMessage: MessageSchema.nullable().optional(),
}).meta({ id: 'ListedChannel' });
export type ListedChannel = z.infer<typeof ListedChannelSchema>;

export const channelList = defineList(channelResource, {
  row: ListedChannelSchema,
  own: {
    memberId: Id.optional().meta({
      description: 'Channels of this member, with `lastSeq`, `readSeq`, `unread` and `lastMessage`.',
    }),
  },
  equal: { ownerId: Id, name: Name },
});

export const channelInput = z.strictObject({ channelId: Id });
export const iconUploadInput = z.strictObject({ channelId: Id, ...uploadParameters(IMAGE_TYPES) });

const Icon = GivenFileSchema.nullable().optional();
export const createChannelInput = z.strictObject({ name: Name, ownerId: Id, open: z.boolean().optional(), icon: Icon });
export type NewChannel = z.infer<typeof createChannelInput>;

/** The fields that may change; the owner may not (decisions R3). */
export const channelPatchInput = z.strictObject({
  channelId: Id,
  name: Name.optional(),
  open: z.boolean().optional(),
  icon: Icon,
});
export type ChannelPatch = Omit<z.infer<typeof channelPatchInput>, 'channelId'>;
