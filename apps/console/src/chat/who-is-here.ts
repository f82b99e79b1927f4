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
}

/** Who is typing, and who is there. */
export function useWhoIsHere(self: string): WhoIsHere {
  const [typing, setTyping] = useState<readonly { channelId: string; identityId: string; until: number }[]>([]);
  const [online, setOnline] = useState<ReadonlySet<string>>(new Set([self]));

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
  function say(identityId: string, isOnline: boolean): void {
    setOnline((all) => {
      if (all.has(identityId) === isOnline) return all;
      return isOnline ? new Set([...all, identityId]) : new Set([...all].filter((one) => one !== identityId));
    });
  }

  return {
    typingIn: (channelId) => typing.filter((one) => one.channelId === channelId).map(({ identityId }) => identityId),
    isOnline: (identityId) => online.has(identityId),
    hear(event) {
      const { channelId } = event;
      if (event.type === 'typing') startTyping(channelId, event.identityId);
      if (event.type === 'message.created') stopTyping(channelId, event.message.senderId);
      if (event.type === 'presence') say(event.identityId, event.status === 'online' || event.identityId === self);
      // who does so is there
      if (event.type === 'typing' || event.type === 'read') say(event.identityId, true);
    },
  };
}
