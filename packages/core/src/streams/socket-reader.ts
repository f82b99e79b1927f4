import type { Reader } from './feed.js';
import { WAITING_MAX, type StreamSocket } from './stream-socket.js';

/**
 * A socket's reading of a feed. It begins by catching up: what comes meanwhile waits, and is sent after it, so that a reader sees everything
 * in order.
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

  /** Sends what has waited, and from now on everything at once. */
  goLive(): void {
    for (const text of this.waiting ?? []) this.socket.deliver(text);
    this.waiting = undefined;
  }
}
