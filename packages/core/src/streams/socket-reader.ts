import type { Reader } from './feed.js';
import { hold, type StreamSocket } from './stream-socket.js';

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
    hold(this.socket, text.length);
  }

  /** Forgets the queued events. */
  drop(): void {
    hold(this.socket, -this.waitingBytes);
    this.waitingBytes = 0;
    this.waiting &&= [];
  }

  /** Sends the queued events; later ones go out at once. */
  goLive(): void {
    const queued = this.waiting ?? [];
    this.drop();
    this.waiting = undefined;
    for (const text of queued) this.socket.deliver(text);
  }
}
