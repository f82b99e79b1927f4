import { defineListResource } from '@tandem/list-query';
import { defineList, viewOf, type ListAnswer, type ListQuery, type Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import type { z } from 'zod';
import { Id, Timestamp } from '../shared/schemas.js';
import { messageModel, type MessageRecord } from './message.model.js';
import { MessageSchema, messageRecord, shownMessages } from './messages.schemas.js';
import type { MessagesService } from './messages.service.js';
import { pinModel } from './pin.model.js';

const PinnedMessageSchema = MessageSchema.extend({
  pinnedAt: Timestamp,
  pinnedBy: Id.describe('The identity that pinned it.'),
}).meta({ id: 'PinnedMessage' });
type PinnedMessage = z.infer<typeof PinnedMessageSchema>;

const { declared, hidden } = messageRecord.resource;
export const pinList = defineList(
  defineListResource({
    name: 'pinnedMessages',
    fields: { ...declared, pinnedAt: 'date', pinnedBy: 'string' },
    hidden,
    defaultOrder: 'pinnedAt desc, id desc',
  }),
  { ...shownMessages, row: PinnedMessageSchema, own: { channelId: Id } },
);

interface PinnedMessagesOptions {
  storage: Storage;
  lists: Lists;
  messages: Pick<MessagesService, 'sourceFor'>;
}
/** The time may not be selected. */
type PinnedRecord = MessageRecord & { pinnedAt?: Date; pinnedBy: string };

/** Lists the pinned messages of channels, of which there are few. */
export function createPinnedMessages({ storage, lists, messages }: PinnedMessagesOptions) {
  const { collectionName: from } = storage.model(messageModel).collection;
  const Pins = storage.model(pinModel);
  return {
    list(channelId: string, query: ListQuery): Promise<ListAnswer<PinnedMessage>> {
      const { show, complete } = messages.sourceFor(query);
      const showPinned = ({ pinnedAt, pinnedBy, ...record }: PinnedRecord) =>
        ({ ...show(record), ...(pinnedAt && { pinnedAt: pinnedAt.toISOString() }), pinnedBy }) as PinnedMessage;
      const living = [{ $match: { deletedAt: null } }, { $unset: hidden }];
      const pinned = viewOf(Pins, [
        { $match: { channelId, deletedAt: null } },
        { $lookup: { from, localField: 'messageId', foreignField: '_id', as: 'message', pipeline: living } },
        { $unwind: '$message' },
        { $replaceWith: { $mergeObjects: ['$message', { pinnedAt: '$createdAt', pinnedBy: '$identityId' }] } },
      ]);
      return lists.answer(pinList, pinned, { cursorScope: { channelId }, show: showPinned, complete }, query);
    },
  };
}
export type PinnedMessages = ReturnType<typeof createPinnedMessages>;
