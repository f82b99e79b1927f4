import type { ChatMessage } from './chat-types.js';

/** Messages that are sent before the first of them is acknowledged: so many at most are sent again after a drop. */
const IN_FLIGHT_MAX = 16;
/** What the server says of a frame too many, and after how many milliseconds it is sent again. */
export const TOO_MANY = 'Too many requests';
export const TOO_MANY_MS = 1000;

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

/** Messages that the server has not acknowledged, in their order. What was sent before a drop is sent again under the same name. */
export function createOutbox(send: (frame: object) => boolean) {
  const waiting = new Map<string, Waiting>();
  let inFlight = 0;
  let pause: ReturnType<typeof setTimeout> | undefined;

  /** Sends what has not been sent, as much as may be. */
  function pump(): void {
    for (const entry of waiting.values()) {
      if (inFlight >= IN_FLIGHT_MAX || pause) return;
      if (entry.isSent) continue;
      if (!send({ type: 'message.create', ...entry.message })) return;
      entry.isSent = true;
      inFlight += 1;
    }
  }

  /** The server has said what became of a message. */
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
      const known = waiting.get(message.clientId);
      if (known) throw new TypeError('clientId: another message on its way has this one');
      return new Promise((resolve, reject) => {
        waiting.set(message.clientId, { message, isSent: false, resolve, reject });
        pump();
      });
    },
    acknowledge(clientId: string, message: ChatMessage): void {
      settle(clientId)?.resolve(message);
      waiting.delete(clientId);
      pump();
    },
    refuse(clientId: string, reason: string): void {
      const entry = settle(clientId);
      if (reason === TOO_MANY) {
        pause ??= setTimeout(() => {
          pause = undefined;
          pump();
        }, TOO_MANY_MS);
        return;
      }
      entry?.reject(new Error(reason));
      waiting.delete(clientId);
      pump();
    },
    /** The connection is down: it is not known what arrived. */
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
