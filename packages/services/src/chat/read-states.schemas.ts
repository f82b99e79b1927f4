import { relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { personKind } from '../people/people.schemas.js';
import { Id, Timestamp } from '../shared/schemas.js';
import { standingFields } from './channels.schemas.js';

/** How far a member has read. */
export const ReadStateSchema = z
  .object({
    channelId: Id,
    identityId: z.string(),
    lastReadMessageId: z.string().nullable(),
    readAt: Timestamp.nullable(),
    ...standingFields,
  })
  .meta({ id: 'ReadState' });
export type ReadState = z.infer<typeof ReadStateSchema>;
export const readStateRelations = { reader: relatedOne(personKind, 'identityId') };

export const readStateInput = z.strictObject({ channelId: Id });
export const markReadInput = z.strictObject({
  channelId: Id,
  identityId: Id.describe('The member who has read: yourself.'),
  lastReadMessageId: Id.describe('The last message that was read.'),
});
