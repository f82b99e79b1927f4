import { requestErrors } from '../errors.js';
import type { Reader } from './feed.js';
import { WAITING_MAX } from './stream-socket.js';

/** Reads a feed by iteration, for a tRPC subscription. */
export class IteratorReader implements Reader {
  private readonly waiting: { event: object; bytes: number }[] = [];
  private waitingBytes = 0;
  protected isOver = false;
  private failure: unknown;
  private wake: () => void = () => {};

  constructor(readonly identityId: string) {}

  take(event: object, { length: bytes }: Buffer): void {
    // whoever does not read does not leave either
    if (this.isOver) return;
    this.waiting.push({ event, bytes });
    this.waitingBytes += bytes;
    if (this.waitingBytes > WAITING_MAX) this.end(requestErrors.unavailable());
    this.wake();
  }

  /** Ends the iteration after what has been taken. @param failure thrown to the caller at once instead of the rest */
  end(failure?: unknown): void {
    this.isOver = true;
    this.failure ??= failure;
    if (this.failure !== undefined) this.waiting.length = 0;
    this.wake();
  }

  /** Whether nothing more may be told. @throws the failure it was ended with */
  hasEnded(): boolean {
    if (this.failure !== undefined) throw this.failure;
    return this.isOver;
  }

  /** @throws the failure it was ended with */
  async *events(): AsyncGenerator<object> {
    for (;;) {
      const isOver = this.hasEnded();
      const next = this.waiting.shift();
      if (next) {
        this.waitingBytes -= next.bytes;
        yield next.event;
      } else if (isOver) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}
