import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { personKind } from '../people/people.schemas.js';
import { Id, Name } from '../shared/schemas.js';
import { ChannelSchema, channelRecord, standingFields } from './channels.schemas.js';
import { ChangeNumber, MessageSchema } from './messages.schemas.js';

const lastChange = ChangeNumber.describe('The number of the last change, 0 before the first: see streams.');

/** A channel as its own read shows it. */
export const ReadChannelSchema = ChannelSchema.extend({ lastChange }).meta({ id: 'ReadChannel' });
export type ReadChannel = z.infer<typeof ReadChannelSchema>;

/** A channel in a list. With `memberId` it shows how far that member has read. */
const ListedChannelSchema = ChannelSchema.extend({
  lastChange: lastChange.optional(),
  ...z.object(standingFields).partial().shape,
  lastMessage: MessageSchema.nullable().optional(),
}).meta({ id: 'ListedChannel' });
export type ListedChannel = z.infer<typeof ListedChannelSchema>;

export const channelList = defineList(channelRecord.resource, {
  row: ListedChannelSchema,
  reads: { unread: ['readSeq'] },
  relations: { owner: relatedOne(personKind, 'ownerId') },
  own: {
    memberId: Id.optional().meta({
      description: 'Channels of this member, with `lastSeq`, `readSeq`, `unread` and `lastMessage`.',
    }),
  },
  equal: { ownerId: Id, name: Name },
});
