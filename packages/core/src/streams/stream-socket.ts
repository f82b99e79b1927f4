import { WebSocket } from 'ws';
import type { z } from 'zod';
import type { VerifiedAccess } from '../context.js';
import { CLOSE, type CloseReason } from './close-codes.js';
import type { StreamConnection } from './stream-places.js';

/**
 * Most bytes that may be buffered for a reader; above it the reader is too slow and is closed, because the buffer is
 * this process's memory (decisions S5).
 */
export const WAITING_MAX = 1024 * 1024;
/** Buffered bytes below which more may be read from the store for a reader. */
const WAITING_LOW = 256 * 1024;
/** Interval of the checks on a reader that catches up, in milliseconds. */
const DRAIN_POLL_MS = 20;

type Sent = Parameters<WebSocket['send']>[0];
type Sending = Parameters<WebSocket['send']>[1];
type Done = (error?: Error) => void;

const TEXT: Sending = { binary: false };

/** Totals of a server's streams. */
export interface StreamCounts {
  received: number;
  sent: number;
  /** Closed streams by code; 0 stands for every uncounted code. */
  closed: Map<number, number>;
}

/** A client's frame: `ping`, which every stream answers, or one of its handler's. */
export interface ClientFrame {
  type: string;
}

/** What one kind of stream does with its clients' frames. */
export interface StreamHandler<Frame extends ClientFrame = ClientFrame> {
  frames: z.ZodType<Frame>;
  /** Handles a frame; the socket's next frame waits for it. Thrown errors become an `error` frame. */
  handle(socket: StreamSocket, frame: Frame): Promise<void>;
  /** The only text shown for an unexpected failure. */
  failureOf(frame: Frame): string;
  /** The socket has closed. */
  closed(socket: StreamSocket): void;
}

/** A socket, as far as it holds what waits for its readers. */
export interface HeldSocket {
  waitingBytes: number;
  readonly bufferedAmount: number;
  end(reason: CloseReason): void;
}

/**
 * Counts bytes that wait for readers of a socket: what it may hold is for all of them together. Closes it beyond.
 * @param bytes negative for those that wait no more
 */
export function hold(socket: HeldSocket, bytes: number): void {
  socket.waitingBytes += bytes;
  if (bytes > 0 && socket.waitingBytes + socket.bufferedAmount > WAITING_MAX) socket.end('slow');
}

/** A stream's socket. Thousands of them are idle, so it has few fields and no closures. */
export class StreamSocket extends WebSocket implements StreamConnection {
  /** The caller's access; undefined where each call brings its own credentials. */
  access: VerifiedAccess | undefined = undefined;
  handler: StreamHandler | undefined = undefined;
  /** Of its server. */
  counts: StreamCounts | undefined = undefined;
  /** State of the handler. */
  state: unknown = undefined;
  holder = '';
  subscriptions = 0;
  /** Bytes that wait for readers that catch up. */
  waitingBytes = 0;
  /** Whether an identity has signed in on it or it has subscriptions; otherwise it must be used to stay open. */
  isKept = false;
  /** Whether a call has succeeded on it since the last heartbeat. */
  isUsed = true;
  /** Whether the client has sent anything since the last heartbeat. */
  isAlive = true;
  /** Frames, or calls, in the current second, and that second. */
  frames = 0;
  second = 0;
  /** Whether its last frame was within the rates. */
  isWithinRate = true;
  /** Frames of the current second that only stopped subscriptions, and were not counted. */
  stops = 0;
  /** Frames, or calls, being handled; frames are handled one after the other. */
  pending = 0;
  work: Promise<void> | undefined = undefined;
  /** Ends when the buffer is small. */
  private draining: Promise<void> | undefined = undefined;
  /** Ends with the last of the replays that wait for each other. */
  private replays: Promise<void> | undefined = undefined;

  /** Sends a frame; closes the socket instead when too much is already buffered. */
  override send(data: Sent, options?: Sending | Done, done?: Done): void {
    if (this.readyState !== WebSocket.OPEN) return;
    if (this.bufferedAmount > WAITING_MAX) return this.end('slow');
    if (this.counts) this.counts.sent += 1;
    if (typeof options === 'function') super.send(data, options);
    else super.send(data, options ?? {}, done);
  }

  /** Sends text serialized once for all readers. */
  deliver(text: Buffer): void {
    this.send(text, TEXT);
  }

  /** Sends a frame to this socket alone. */
  say(frame: object): void {
    this.send(JSON.stringify(frame));
  }

  end(reason: CloseReason): void {
    const [code, text] = CLOSE[reason];
    this.close(code, text);
  }

  /** Closes the socket because its access has ended. */
  ended(reason: 'expired' | 'revoked'): void {
    this.end(reason);
  }

  /** Resolves when the buffer is small or the socket has closed: for waiting before reading more from the store. */
  drained(): Promise<void> {
    if (!this.isBehind()) return Promise.resolve();
    // one wait for all readers, however many have left
    this.draining ??= this.drain();
    return this.draining;
  }

  private async drain(): Promise<void> {
    while (this.isBehind()) await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
    this.draining = undefined;
  }

  private isBehind(): boolean {
    return this.readyState === WebSocket.OPEN && this.bufferedAmount > WAITING_LOW;
  }

  /**
   * Waits until the replays before this one are over, so that a socket that takes nothing holds a single page in memory.
   * @returns ends this one
   */
  async replayTurn(): Promise<() => void> {
    const before = this.replays;
    let end = () => {};
    this.replays = new Promise((resolve) => (end = resolve));
    await before;
    return end;
  }
}
