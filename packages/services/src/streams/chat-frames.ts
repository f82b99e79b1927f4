import { ErrorFrame, PingFrame } from '@tandem/core';
import { z } from 'zod';
import { ChatEventSchema } from '../chat/chat-events.js';
import { ClientId, MessageSchema, createMessageInput } from '../chat/messages.schemas.js';
import { Id } from '../shared/schemas.js';

/** The number of a message in its channel; 0 stands before the first. */
export const Seq = z.number().int().min(0);

/** Frames that clients of the message stream may send (decisions S2). */
export const ChatClientFrame = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('subscribe'), channelId: Id, sinceSeq: Seq.optional() }),
  z.strictObject({ type: z.literal('unsubscribe'), channelId: Id }),
  createMessageInput.omit({ senderId: true }).extend({ type: z.literal('message.create'), clientId: ClientId }),
  z.strictObject({ type: z.literal('typing'), channelId: Id }),
  z.strictObject({ type: z.literal('read'), channelId: Id, messageId: Id }),
  PingFrame,
]);
export type ChatClientFrame = z.infer<typeof ChatClientFrame>;

/** Frames that the server sends, besides channel events. */
export const ChatServerFrame = z.discriminatedUnion('type', [
  ...ChatEventSchema.options,
  z.object({ type: z.literal('ready') }),
  /** Messages up to `lastSeq` are replayed on request; later ones arrive live. */
  z.object({ type: z.literal('subscribed'), channelId: Id, lastSeq: Seq, unread: z.number().int().min(0) }),
  z.object({ type: z.literal('unsubscribed'), channelId: Id }),
  z.object({ type: z.literal('ack'), clientId: ClientId, message: MessageSchema }),
  ErrorFrame,
  z.object({ type: z.literal('pong') }),
]);
export type ChatServerFrame = z.infer<typeof ChatServerFrame>;
