import type { Reader } from './feed.js';
import { WAITING_MAX, type StreamSocket } from './stream-socket.js';

/**
 * A socket's subscription to a feed. While it catches up from the store, new events are queued and sent afterwards, so
 * that the reader sees everything in order.
 */
export class SocketReader implements Reader {
  private waiting: Buffer[] | undefined = [];
  private waitingBytes = 0;

  constructor(
    readonly socket: StreamSocket,
    readonly identityId: string,
  ) {}

  take(_event: object, text: Buffer): void {
    if (!this.waiting) return this.socket.deliver(text);
    this.waiting.push(text);
    this.waitingBytes += text.length;
    if (this.waitingBytes > WAITING_MAX) this.socket.end('slow');
  }

  /** Sends the queued events; later ones go out at once. */
  goLive(): void {
    for (const text of this.waiting ?? []) this.socket.deliver(text);
    this.waiting = undefined;
  }
}
