import { relatedKind } from '@tandem/lists';
import { deletionFields } from '@tandem/storage';
import { z } from 'zod';
import { IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { metadataField } from '../shared/metadata.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, Name } from '../shared/schemas.js';
import { notesField } from '../shared/unit-notes.js';

export const channelRecord = defineRecord('channels', {
  fields: {
    name: field(Name.describe('The name of the channel.'), { list: 'string' }),
    ownerId: field(Id.describe('The identity that manages the channel.'), { fixed: true, list: 'string' }),
    open: field(z.boolean().describe('Whether any identity may join by itself.'), {
      optional: true,
      shown: z.boolean(),
      list: { type: 'boolean', absent: false, sort: false },
    }),
    direct: serverField(z.boolean().describe('Whether it is the channel of two people, who both own it.'), {
      stored: { type: Boolean },
      list: { type: 'boolean', absent: false, sort: false },
    }),
    metadata: metadataField,
    icon: field(GivenFileSchema.nullable().describe('The picture of the channel.'), {
      shown: FileSchema.nullable(),
      stored: false,
    }),
  },
  searched: ['name'],
  /** The ids of the two people, in order. */
  internal: { pair: { type: String }, notes: notesField, ...deletionFields },
});
export const ChannelSchema = channelRecord.schema.meta({ id: 'Channel' });
export interface Channel extends z.infer<typeof ChannelSchema> {}
/** Shown to its members and its owner, as its own read. */
export const channelKind = relatedKind<Channel>('channel', ChannelSchema, { isPrivate: true });

/** How far a member has read in a channel, as message numbers (decisions S3). */
export const standingFields = {
  lastSeq: z.number().int().min(0).meta({ description: 'The number of the last message, 0 before the first' }),
  readSeq: z.number().int().min(0).meta({ description: 'The number of the last message that has been read' }),
  unread: z.number().int().min(0),
};

export const channelInput = z.strictObject({ channelId: Id });
export const iconUploadInput = z.strictObject({ channelId: Id, ...uploadParameters(IMAGE_TYPES) });

export const createChannelInput = z.strictObject(channelRecord.given);
export type NewChannel = z.infer<typeof createChannelInput>;

export const channelPatchInput = z.strictObject({ channelId: Id, ...channelRecord.patch });
export type ChannelPatch = Omit<z.infer<typeof channelPatchInput>, 'channelId'>;
