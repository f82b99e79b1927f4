import { ErrorFrame, PingFrame, PongFrame } from '@tandem/core';
import { z } from 'zod';
import { ChatEventSchema } from '../chat/chat-events.js';
import { ChangeNumber, ClientId, MessageSchema, createMessageInput } from '../chat/messages.schemas.js';
import { Id } from '../shared/schemas.js';
import { OwnEventSchema, OwnSubscribed, OwnUnsubscribed } from './own-frames.js';

/** The number of a message in its channel; 0 stands before the first. */
export const Seq = z.number().int().min(0);

/** Where a reader begins: after a change, or after a message. */
export const since = { sinceSeq: Seq.optional(), sinceChange: ChangeNumber.optional() };
export const sinceOne = {
  check: ({ sinceSeq, sinceChange }: { sinceSeq?: number | undefined; sinceChange?: number | undefined }) =>
    sinceSeq === undefined || sinceChange === undefined,
  message: { message: 'cannot be used with sinceSeq', path: ['sinceChange'] },
};

/** What frames of a channel show besides: the cards of those who sent the messages. */
export const Expand = z.array(z.enum(['sender'])).max(1);

/** A subscription is to a channel, or to all of one's own (decisions C2). */
const subject = { channelId: Id.optional(), self: z.literal(true).optional() };
const ONE_SUBJECT = { oneOf: [{ required: ['channelId'] }, { required: ['self'] }] };
function checkSubject(check: z.core.ParsePayload<{ channelId?: string | undefined; self?: true | undefined }>): void {
  const { channelId, self, ...others } = check.value;
  const add = (message: string, path: string[] = []) =>
    void check.issues.push({ code: 'custom', message, path, input: check.value });
  if (channelId === undefined && self === undefined) add("must have required property 'channelId'");
  const [first] = [...(channelId === undefined ? [] : ['channelId']), ...Object.keys(others).filter((key) => key !== 'type')];
  if (self && first !== undefined) add(`cannot be used with ${first}`, ['self']);
}

/** Frames that clients of the message stream may send (decisions S2). */
export const ChatClientFrame = z.discriminatedUnion('type', [
  z
    .strictObject({ type: z.literal('subscribe'), ...subject, ...since, expand: Expand.optional() })
    .refine(sinceOne.check, sinceOne.message)
    .check(checkSubject)
    .meta({
      ...ONE_SUBJECT,
      description:
        'Reads the changes after `sinceChange`, or the messages after `sinceSeq`, else what comes after the last one; with ' +
        '`expand`, each message with its sender. With `self`, tells of all one’s own channels.',
    }),
  z
    .strictObject({ type: z.literal('unsubscribe'), ...subject })
    .check(checkSubject)
    .meta({ ...ONE_SUBJECT, description: 'Stops reading a channel, or one’s own.' }),
  createMessageInput
    .omit({ senderId: true })
    .extend({ type: z.literal('message.create'), clientId: ClientId })
    .describe('Sends a message; a repeated `clientId` is answered by the stored message.'),
  z
    .strictObject({ type: z.literal('typing'), channelId: Id })
    .describe('Tells the others that one is typing, every two seconds at most.'),
  z
    .strictObject({ type: z.literal('read'), channelId: Id, messageId: Id })
    .describe('Marks as read, up to and including this message.'),
  PingFrame,
]);
export type ChatClientFrame = z.infer<typeof ChatClientFrame>;

/** Frames that the server sends, besides channel events. */
export const ChatServerFrame = z.union([
  ...ChatEventSchema.options,
  ...OwnEventSchema.options,
  OwnSubscribed,
  OwnUnsubscribed,
  z.object({ type: z.literal('ready') }).describe('The stream is open.'),
  z
    .object({
      type: z.literal('subscribed'),
      channelId: Id,
      lastSeq: Seq,
      lastChange: ChangeNumber,
      unread: z.number().int().min(0),
    })
    .describe('A channel is read. With `sinceSeq`, the messages up to `lastSeq` follow; with `sinceChange`, the changes.'),
  z
    .object({ type: z.literal('replayed'), channelId: Id, change: ChangeNumber })
    .describe('All changes after `sinceChange`, up to this one, have been sent; what follows is live.'),
  z
    .object({ type: z.literal('unsubscribed'), channelId: Id })
    .describe('A channel is no longer read: by request, or the member or the channel was removed.'),
  z.object({ type: z.literal('ack'), clientId: ClientId, message: MessageSchema }).describe('The message is stored.'),
  ErrorFrame,
  PongFrame,
]);
export type ChatServerFrame = z.infer<typeof ChatServerFrame>;
