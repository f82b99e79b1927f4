import { defineListResource } from '@tandem/list-query';
import { defineList, viewOf, type ListAnswer, type ListQuery, type Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { z } from 'zod';
import { Id, Timestamp } from '../shared/schemas.js';
import { chatErrors as errors } from './chat.errors.js';
import { messageModel } from './message.model.js';
import type { MessagePatch } from './messages.schemas.js';

/** A text that a message had. Its time, of which a message has no two alike, stands for its id in queries. */
const MessageVersionSchema = z
  .object({ content: z.string(), title: z.string().nullable(), at: Timestamp.describe('When the message got this text.') })
  .meta({ id: 'MessageVersion' });
type MessageVersion = z.infer<typeof MessageVersionSchema>;

export const messageVersionList = defineList(
  defineListResource({
    name: 'messageVersions',
    fields: {
      content: { type: 'string', sort: false, group: false },
      title: { type: 'string', sort: false },
      at: 'date',
    },
    defaultOrder: 'at asc, id asc',
    softDelete: false,
  }),
  { row: MessageVersionSchema, own: { messageId: Id } },
);

/** The last so many texts before the present one are kept: all of them lie in the record of the message. */
export const VERSIONS_MAX = 50;

/** The stages before those of a change of a message that keep its text, if that becomes another. */
export function keepingText({ content, title }: MessagePatch, now: Date): object[] {
  const given = Object.entries({ content, title }).filter(([, value]) => value !== undefined);
  if (given.length === 0) return [];
  const isAnother = { $or: given.map(([field, $literal]) => ({ $ne: [{ $ifNull: [`$${field}`, null] }, { $literal }] })) };
  // a host may have stored what is no time
  const at = { $convert: { input: { $ifNull: ['$textAt', '$createdAt'] }, to: 'date', onError: now, onNull: now } };
  const text = { content: '$content', title: { $ifNull: ['$title', null] }, at };
  const all = { $concatArrays: [{ $ifNull: ['$versions', []] }, [text]] };
  const or = (field: string) => ({ $ifNull: [`$${field}`, '$$REMOVE'] });
  return [
    {
      $set: {
        versions: { $cond: [isAnother, { $slice: [all, -VERSIONS_MAX] }, or('versions')] },
        textAt: { $cond: [isAnother, { $max: [now, { $add: [at, 1] }] }, or('textAt')] },
      },
    },
  ];
}

/** The texts that messages had (decisions C3). */
export function createMessageVersions({ storage, lists }: { storage: Storage; lists: Lists }) {
  const Messages = storage.model(messageModel);
  // without the time where another property is selected
  const show = ({ _id, at, ...text }: MessageVersion & { _id: string; at?: Date | string }) =>
    ({ ...text, ...(at !== undefined && { at: new Date(at).toISOString() }) }) as MessageVersion;

  return {
    /** Oldest first, without the present one. @throws errors.messageNotFound */
    async list(messageId: string, query: ListQuery): Promise<ListAnswer<MessageVersion>> {
      if (!(await Messages.exists({ _id: messageId }))) throw errors.messageNotFound();
      const { content, title, at } = { content: '$versions.content', title: '$versions.title', at: '$versions.at' };
      const versions = viewOf(Messages, [
        { $match: { _id: messageId, deletedAt: null } },
        { $project: { versions: 1 } },
        { $unwind: '$versions' },
        { $replaceWith: { _id: { $toString: at }, content, title, at } },
      ]);
      return lists.answer(messageVersionList, versions, { cursorScope: { messageId }, show }, query);
    },
  };
}
export type MessageVersionsService = ReturnType<typeof createMessageVersions>;
