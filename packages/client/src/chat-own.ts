import { REFUSED_MS } from './chat-outbox.js';
import type { OwnEvent, StreamError } from './chat-types.js';
import { TandemError } from './failure.js';

/** Callbacks for all one's own channels. Must not throw. */
export interface OwnHandlers {
  /** A channel has come or gone, or what is unread in one has changed. */
  onEvent?(event: OwnEvent): void;
  /**
   * At the beginning and after each reconnect: an `unread` follows for each channel that has any. Load the list again,
   * which may have changed before.
   */
  onSubscribed?(): void;
  /** The server has refused it. */
  onEnd?(refusal: TandemError): void;
}

/** Follows all channels of the signed-in identity. */
export function createOwn(send: (frame: object) => boolean) {
  let current: OwnHandlers | undefined;
  let isConfirmed = false;

  function subscribe(): void {
    isConfirmed = false;
    send({ type: 'subscribe', self: true });
  }

  return {
    /** @returns a function that stops following */
    follow(handlers: OwnHandlers): () => void {
      if (current) throw new TypeError('the own channels are followed already');
      current = handlers;
      subscribe();
      return () => {
        if (current !== handlers) return;
        current = undefined;
        send({ type: 'unsubscribe', self: true });
      };
    },
    /** The connection is up again. */
    resume(): void {
      if (current) subscribe();
    },
    confirm(): void {
      isConfirmed = true;
      current?.onSubscribed?.();
    },
    take: (event: OwnEvent) => current?.onEvent?.(event),
    refuse(refusal: StreamError): void {
      const refused = current;
      if (!refused || isConfirmed) return;
      if (refusal.retry) setTimeout(() => current === refused && !isConfirmed && subscribe(), REFUSED_MS);
      else {
        current = undefined;
        refused.onEnd?.(new TandemError(refusal));
      }
    },
  };
}
