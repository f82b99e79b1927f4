import type { Outcome, Person, TestServer } from '@tandem/testing';
import { expect } from 'vitest';
import type { Channel } from '../src/chat/channels.schemas.js';
import { ChatEventSchema, channelTopic, type ChatEvent, type LastingEvent, type StoredUpTo } from '../src/chat/chat-events.js';
import type { Message } from '../src/chat/messages.schemas.js';
import type { Subscription } from '../src/chat/subscriptions.schemas.js';

/** A channel of this owner, who is its first member, with these members. */
export async function openChannel(owner: Person, members: readonly Person[] = [], fields: object = {}): Promise<Channel> {
  const channel = await owner.rest('POST', '/channels', { name: 'Tea', ownerId: owner.id, ...fields }).expect<Channel>(201);
  for (const member of members) await subscribe(owner, channel.id, member.id);
  return channel;
}

export function subscribe(person: Person, channelId: string, subscribedId: string): Promise<Subscription> {
  return person.rest('POST', '/subscriptions', { channelId, subscribedId }).expect<Subscription>(201);
}

export function say(sender: Person, channelId: string, content = 'Hello', fields: object = {}): Promise<Message> {
  return sender.rest('POST', '/messages', { channelId, senderId: sender.id, content, ...fields }).expect<Message>(201);
}

/** What a call answered that was to succeed. */
export function valueOf(outcome: Outcome): unknown {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome.value;
}

/** An event as a test names it: without its number among the changes of its channel. */
export type Told<Event = ChatEvent> = Event extends ChatEvent ? Omit<Event, 'change'> : never;

/** What the readers of a channel are told from now on: nothing but what streams may carry. */
export function listenTo({ tandem }: TestServer, channelId: string): Told[] {
  const events: Told[] = [];
  tandem.bus.subscribe(channelTopic(channelId), (event) => {
    if ((event as ChatEvent | StoredUpTo).type === 'stored') return;
    expect(ChatEventSchema.parse(event)).toEqual(event);
    const { change: _, ...told } = event as LastingEvent;
    events.push(told);
  });
  return events;
}
