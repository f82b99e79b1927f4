import { requestErrors } from '../errors.js';
import type { Reader } from './feed.js';
import { WAITING_MAX, hold, type HeldSocket } from './stream-socket.js';

/** What a reader needs of the socket that it reads for. */
export interface ReaderSocket extends HeldSocket {
  drained(): Promise<void>;
  replayTurn(): Promise<() => void>;
}

/** Reads a feed by iteration, for a tRPC subscription. */
export class IteratorReader implements Reader {
  private readonly waiting: { event: object; bytes: number }[] = [];
  private waitingBytes = 0;
  private isLive = false;
  protected isOver = false;
  private failure: unknown;
  private wake: () => void = () => {};
  private stopWaiting: () => void = () => {};

  /** @param socket absent for server-sent events, of which the caller takes one after the other */
  constructor(
    readonly identityId: string,
    private readonly socket?: ReaderSocket,
  ) {}

  take(event: object, { length: bytes }: Buffer): void {
    // whoever does not read does not leave either
    if (this.isOver) return;
    this.waiting.push({ event, bytes });
    this.waitingBytes += bytes;
    if (this.socket && !this.isLive) hold(this.socket, bytes);
    if (this.waitingBytes > WAITING_MAX) this.end(requestErrors.unavailable());
    this.wake();
  }

  /** Ends the iteration after what has been taken. @param failure thrown to the caller at once instead of the rest */
  end(failure?: unknown): void {
    this.isOver = true;
    this.failure ??= failure;
    if (this.failure !== undefined) this.waiting.length = 0;
    this.wake();
    this.stopWaiting();
  }

  /** Whether nothing more may be told. @throws the failure it was ended with */
  hasEnded(): boolean {
    if (this.failure !== undefined) throw this.failure;
    return this.isOver;
  }

  /** Waits for the socket, but not beyond its own end: who has left keeps no place. */
  private waitFor(socketIsReady: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      this.stopWaiting = resolve;
      if (this.isOver) resolve();
      void socketIsReady.then(() => resolve());
    });
  }

  /** Passes on what was read from the store, no faster than the socket takes it. */
  async *paced<Event>(read: Iterable<Event> | AsyncIterable<Event>): AsyncGenerator<Event> {
    for await (const event of read) {
      yield event;
      if (this.socket) await this.waitFor(this.socket.drained());
      if (this.isOver) return;
    }
  }

  /** The same for what is read in pages: one page after those of the socket's other readers. */
  async *replayed<Event>(missed: AsyncIterable<Event>): AsyncGenerator<Event> {
    const turn = this.socket?.replayTurn();
    try {
      if (turn) await this.waitFor(turn);
      if (this.socket) await this.waitFor(this.socket.drained());
      if (!this.isOver) yield* this.paced(missed);
    } finally {
      // whoever left before its turn passes it on when it comes
      void turn?.then((end) => end());
    }
  }

  /** What it takes counts no more for what the socket holds: from now on that sends it at once, or nobody reads it. */
  goLive(): void {
    if (this.socket && !this.isLive) hold(this.socket, -this.waitingBytes);
    this.isLive = true;
  }

  /** @throws the failure it was ended with */
  async *events(): AsyncGenerator<object> {
    this.goLive();
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
