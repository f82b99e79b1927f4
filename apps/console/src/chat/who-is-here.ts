import type { ChatEvent } from '@tandem/client';
import { useState } from 'react';

/** How long somebody is shown as typing, in milliseconds: typing is reported every two seconds. */
const TYPING_MS = 4000;

export interface WhoIsHere {
  /** Who is typing in a channel, except oneself. */
  typingIn(channelId: string): readonly string[];
  /** Whether somebody is known to be there: the server tells of who comes and goes, not of who was there before. */
  isOnline(identityId: string): boolean;
  hear(event: ChatEvent): void;
  /** Forgets who is there: while the stream is down nobody tells who leaves. */
  forget(): void;
}

/** Who is typing, and who is there. */
export function useWhoIsHere(self: string): WhoIsHere {
  const [typing, setTyping] = useState<readonly { channelId: string; identityId: string; until: number }[]>([]);
  /** The channels that somebody reads: each tells of its own readers. */
  const [reading, setReading] = useState<ReadonlyMap<string, ReadonlySet<string>>>(new Map());

  function stopTyping(channelId: string, identityId: string): void {
    setTyping((all) => all.filter((one) => one.channelId !== channelId || one.identityId !== identityId));
  }
  function startTyping(channelId: string, identityId: string): void {
    if (identityId === self) return;
    const until = Date.now() + TYPING_MS;
    setTyping((all) => [
      ...all.filter((one) => one.channelId !== channelId || one.identityId !== identityId),
      { channelId, identityId, until },
    ]);
    setTimeout(() => setTyping((all) => all.filter((one) => one.until > Date.now())), TYPING_MS + 1);
  }
  function say(channelId: string, identityId: string, isOnline: boolean): void {
    setReading((all) => {
      const channels = new Set(all.get(identityId));
      if (channels.has(channelId) === isOnline) return all;
      if (isOnline) channels.add(channelId);
      else channels.delete(channelId);
      return new Map(all).set(identityId, channels);
    });
  }

  return {
    typingIn: (channelId) => typing.filter((one) => one.channelId === channelId).map(({ identityId }) => identityId),
    isOnline: (identityId) => identityId === self || (reading.get(identityId)?.size ?? 0) > 0,
    hear(event) {
      const { channelId } = event;
      if (event.type === 'typing') startTyping(channelId, event.identityId);
      if (event.type === 'message.created') stopTyping(channelId, event.message.senderId);
      if (event.type === 'presence') say(channelId, event.identityId, event.status === 'online');
      // who does so is there
      if (event.type === 'typing' || event.type === 'read') say(channelId, event.identityId, true);
    },
    forget: () => setReading(new Map()),
  };
}
