import { WebSocket } from 'ws';
import type { VerifiedAccess } from '../context.js';
import { CLOSE, type CloseReason } from './close-codes.js';
import type { StreamHandler } from './stream-handler.js';
import type { StreamConnection } from './stream-places.js';

/** Bytes that may wait for a reader; beyond it the reader is too slow (decisions S5). */
export const WAITING_MAX = 1024 * 1024;
/** Bytes that wait for a reader, below which more may be read from the store for it. */
const WAITING_LOW = 256 * 1024;
/** Until a reader that has to catch up is looked at again, in milliseconds. */
const DRAIN_POLL_MS = 20;

type Sent = Parameters<WebSocket['send']>[0];
type Sending = Parameters<WebSocket['send']>[1];
type Done = (error?: Error) => void;

const TEXT: Sending = { binary: false };

/** What has gone through the streams of a server. */
export interface StreamCounts {
  received: number;
  sent: number;
  /** Closed streams by code; what is no code of ours is 0. */
  closed: Map<number, number>;
}

/**
 * A socket of a stream. There are thousands that say nothing: it has few fields, and no function of its own.
 */
export class StreamSocket extends WebSocket implements StreamConnection {
  /** Who is at the other end; undefined where each call brings its own credentials. */
  access: VerifiedAccess | undefined = undefined;
  handler: StreamHandler | undefined = undefined;
  /** Of its server. */
  counts: StreamCounts | undefined = undefined;
  /** What the handler keeps of it. */
  state: unknown = undefined;
  holder = '';
  subscriptions = 0;
  /** Whether somebody has signed in on it, or reads by it; else it has to be used to stay. */
  isKept = false;
  /** Whether a call has succeeded on it since the last heartbeat. */
  isUsed = true;
  /** Whether anything has come from the other end since the last heartbeat. */
  isAlive = true;
  /** Frames, or calls, of the present second, and which it is. */
  frames = 0;
  second = 0;
  /** Frames, or calls, that are being worked on; frames one after the other. */
  pending = 0;
  work: Promise<void> | undefined = undefined;

  /** Sends a frame. A reader for whom too much waits already is closed instead. */
  override send(data: Sent, options?: Sending | Done, done?: Done): void {
    if (this.readyState !== WebSocket.OPEN) return;
    if (this.bufferedAmount > WAITING_MAX) return this.end('slow');
    if (this.counts) this.counts.sent += 1;
    if (typeof options === 'function') super.send(data, options);
    else super.send(data, options ?? {}, done);
  }

  /** Sends a text that was made once for all its readers. */
  deliver(text: Buffer): void {
    this.send(text, TEXT);
  }

  /** Sends a frame that is for this socket alone. */
  say(frame: object): void {
    this.send(JSON.stringify(frame));
  }

  end(reason: CloseReason): void {
    const [code, text] = CLOSE[reason];
    this.close(code, text);
  }

  /** Closes it, as its access has ended. */
  ended(reason: 'expired' | 'revoked'): void {
    this.end(reason);
  }

  /** Resolves when little waits for the reader, or it has gone: before more is read for it from the store. */
  async drained(): Promise<void> {
    while (this.readyState === WebSocket.OPEN && this.bufferedAmount > WAITING_LOW)
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS));
  }
}
