import { validationError, type ApiError } from '@tandem/core';
import { namedId, type Storage, type ToldEvent } from '@tandem/storage';
import type { NotificationsService } from '../notifications/notifications.service.js';
import { existingIn } from '../shared/existing.js';
import type { Memberships } from './memberships.js';
import { messageModel, type MessageRecord } from './message.model.js';

interface MentionsOptions {
  storage: Storage;
  memberships: Pick<Memberships, 'membersAmong'>;
  notifications: Pick<NotificationsService, 'notifyOnce' | 'keepWith'>;
}

const KIND = 'mention';

/** Members that messages name (decisions C3). */
export function createMentions({ storage, memberships, notifications }: MentionsOptions) {
  function notificationsOf({ at, state }: ToldEvent) {
    const { _id: messageId, channelId, senderId, mentions = [] } = state as unknown as MessageRecord;
    const named = [...new Set(mentions)].filter((receiverId) => receiverId !== senderId);
    const fields = { kind: KIND, messageId, channelId, senderId };
    return named.map((receiverId) => ({ id: namedId(messageId, receiverId), receiverId, at, ...fields }));
  }
  // who appends the event of a message notifies, so that no crash comes between
  storage.events.beforeCleared(
    ['message.created', 'message.updated'],
    (events) => notifications.notifyOnce(events.flatMap(notificationsOf)),
    'mentions',
  );
  // else a change of the message would notify again who has deleted it
  notifications.keepWith(KIND, 'messageId', existingIn(storage.model(messageModel), { deleted: 'include' }));

  return {
    /** Why a message of a channel may not name these; undefined if it may. */
    async refusal(channelId: string, identityIds: readonly string[]): Promise<ApiError | undefined> {
      if (identityIds.length === 0) return undefined;
      const ids = new Set(identityIds);
      const members = (await memberships.membersAmong(new Map([[channelId, ids]]))).get(channelId);
      return members?.size === ids.size ? undefined : validationError(['request body/mentions must be members of the channel']);
    },
  };
}
export type Mentions = ReturnType<typeof createMentions>;
