import type { ChatMessage, StreamError } from './chat-types.js';
import { TandemError } from './failure.js';

/** Most messages in flight before the first is acknowledged; as many may have to be resent after a drop. */
const IN_FLIGHT_MAX = 16;
/** Milliseconds until a temporarily refused frame is sent again: the first delay, and the longest. */
export const REFUSED_MS = 1000;
const REFUSED_MAX_MS = 10_000;

/** A message on its way. */
export interface Outgoing {
  channelId: string;
  content: string;
  title?: string;
  clientId: string;
}
interface Waiting {
  message: Outgoing;
  isSent: boolean;
  resolve(message: ChatMessage): void;
  reject(error: Error): void;
}

/**
 * Unacknowledged messages, in order. After a drop they are resent with the same id, so that the server stores each
 * once.
 */
export function createOutbox(send: (frame: object) => boolean) {
  const waiting = new Map<string, Waiting>();
  let inFlight = 0;
  /** Refusals since the last stored message. */
  let refusals = 0;
  let pause: ReturnType<typeof setTimeout> | undefined;

  /** Sends unsent messages, as far as allowed. */
  function pump(): void {
    for (const entry of waiting.values()) {
      if (inFlight >= IN_FLIGHT_MAX || pause) return;
      if (entry.isSent) continue;
      if (!send({ type: 'message.create', ...entry.message })) return;
      entry.isSent = true;
      inFlight += 1;
    }
  }

  /** The server has reported the outcome of a message. */
  function settle(clientId: string): Waiting | undefined {
    const entry = waiting.get(clientId);
    if (!entry?.isSent) return undefined;
    entry.isSent = false;
    inFlight -= 1;
    return entry;
  }

  return {
    pump,
    add(message: Outgoing): Promise<ChatMessage> {
      const existing = waiting.get(message.clientId);
      if (existing) throw new TypeError('clientId: another message on its way has this one');
      return new Promise((resolve, reject) => {
        waiting.set(message.clientId, { message, isSent: false, resolve, reject });
        pump();
      });
    },
    acknowledge(clientId: string, message: ChatMessage): void {
      refusals = 0;
      settle(clientId)?.resolve(message);
      waiting.delete(clientId);
      pump();
    },
    /** Where a retry may succeed it is sent again until it does. */
    refuse(clientId: string, refusal: StreamError): void {
      const entry = settle(clientId);
      if (!refusal.retry) {
        entry?.reject(new TandemError(refusal));
        waiting.delete(clientId);
        return pump();
      }
      if (pause) return;
      const resume = () => {
        pause = undefined;
        pump();
      };
      pause = setTimeout(resume, Math.min(REFUSED_MS * 2 ** refusals, REFUSED_MAX_MS));
      refusals += 1;
    },
    /** The connection is down: it is unknown what arrived. */
    forget(): void {
      for (const entry of waiting.values()) entry.isSent = false;
      inFlight = 0;
    },
    close(error: Error): void {
      clearTimeout(pause);
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    },
  };
}
