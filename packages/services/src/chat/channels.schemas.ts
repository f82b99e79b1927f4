import { defineListResource } from '@tandem/list-query';
import { z } from 'zod';
import { FileSchema } from '../files/files.schemas.js';
import { Id, Timestamp } from '../shared/schemas.js';

export const ChannelSchema = z
  .object({
    id: Id,
    name: z.string(),
    ownerId: z.string(),
    open: z.boolean().meta({ description: 'Whether anybody may join by oneself' }),
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
  hidden: ['deletionId'],
  defaultOrder: 'createdAt desc, id desc',
});
