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
  /** Forgets who is there, in one channel or in all: where the stream does not reach nobody tells who leaves. */
  forget(channelId?: string): void;
}

/** Who is typing, and who is there. */
export function useWhoIsHere(self: string): WhoIsHere {
  const [typing, setTyping] = useState<readonly { channelId: string; identityId: string; until: number }[]>([]);
  /** The readers of each channel: it tells of its own. */
  const [readers, setReaders] = useState<ReadonlyMap<string, ReadonlySet<string>>>(new Map());

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
    setReaders((all) => {
      const its = new Set(all.get(channelId));
      if (its.has(identityId) === isOnline) return all;
      if (isOnline) its.add(identityId);
      else its.delete(identityId);
      return new Map(all).set(channelId, its);
    });
  }

  return {
    typingIn: (channelId) => typing.filter((one) => one.channelId === channelId).map(({ identityId }) => identityId),
    isOnline: (identityId) => identityId === self || [...readers.values()].some((its) => its.has(identityId)),
    hear(event) {
      const { channelId } = event;
      if (event.type === 'typing') startTyping(channelId, event.identityId);
      if (event.type === 'message.created') stopTyping(channelId, event.message.senderId);
      if (event.type === 'presence') say(channelId, event.identityId, event.status === 'online');
      // who types has the channel open; one may read elsewhere, as by REST, and nobody would tell that it has ended
      if (event.type === 'typing') say(channelId, event.identityId, true);
    },
    forget: (channelId) =>
      setReaders((all) => new Map(channelId === undefined ? [] : [...all].filter(([one]) => one !== channelId))),
  };
}
