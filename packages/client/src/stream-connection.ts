import { isRefusal } from './failure.js';

/** The part of a WebSocket that streams use: the platform's, or that of `ws` in Node before 22. */
export interface SocketLike {
  send(text: string): void;
  close(): void;
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: { type?: string; data?: unknown }) => void,
  ): void;
}
export type SocketConstructor = new (address: string) => SocketLike;

/** Shortest and longest wait between attempts to connect, in milliseconds. */
const RETRY_MS = [200, 10_000] as const;
/** A connection that has lasted this long works: the next wait is the shortest again. In milliseconds. */
const LASTED_MS = 10_000;
/** Timeout of an attempt to connect, from asking for the ticket to the open socket, in milliseconds. */
const CONNECT_MS = 15_000;
/** Most frames sent per second: the server accepts fifty, and counts one for each part of this many bytes. */
const FRAMES_A_SECOND = 40;
const PART_BYTES = 4096;
/** After this silence the client pings the server, and drops the connection if that is not answered for as long, in milliseconds. */
const SILENCE_MS = 20_000;

interface ConnectionOptions {
  /** The server's URL. */
  url: string;
  /** Path and query of the stream, with a new ticket each time; the signal cancels it. @throws when there is none */
  path(signal: AbortSignal): Promise<string>;
  /** Default: the platform's. */
  WebSocket: SocketConstructor | undefined;
  onOpen(): void;
  onFrame(frame: object): void;
  onDown(): void;
  /** The server refuses a path for good: the session has ended, or the API key does not allow the stream. */
  onSignedOut(): void;
}

/** @throws TypeError where the platform has none and none is given */
function socketOf(given: SocketConstructor | undefined): SocketConstructor {
  const found = given ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket;
  if (!found) throw new TypeError('WebSocket: this platform has none; pass one');
  return found;
}

/**
 * A connection that reconnects by itself, until it is closed.
 * @throws TypeError where the platform has no WebSocket and none is given
 */
export function createConnection(options: ConnectionOptions) {
  const { path, onOpen, onFrame, onDown, onSignedOut } = options;
  const base = options.url.replace(/^http/, 'ws').replace(/\/+$/, '');
  const WebSocket = socketOf(options.WebSocket);
  let socket: SocketLike | undefined;
  let isOpen = false;
  let isClosed = false;
  let failures = 0;
  let openedAt = 0;
  let heardAt = 0;
  let pingedAt = 0;
  let attempt: AbortController | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let watch: ReturnType<typeof setInterval> | undefined;
  /** Frames waiting to be sent, and the times of the last ones, once for each part. */
  let queue: string[] = [];
  let sentAt: number[] = [];
  let pacing: ReturnType<typeof setTimeout> | undefined;

  /** Adds jitter: when a server goes down, its clients must not all come back at once. */
  function connectLater(): void {
    if (isClosed) return;
    const shortest = Math.min(RETRY_MS[0] * 2 ** failures, RETRY_MS[1] / 2);
    failures += 1;
    retry = setTimeout(() => void connect(), shortest * (1 + Math.random()));
  }

  async function connect(): Promise<void> {
    const { signal } = (attempt = new AbortController());
    deadline = setTimeout(() => attempt?.abort(), CONNECT_MS);
    const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    try {
      // the platform may keep waiting for an answer that is no longer wanted
      const target = await Promise.race([path(signal), aborted]);
      if (!isClosed) open(`${base}${target}`, signal);
    } catch (error) {
      clearTimeout(deadline);
      if (isClosed) return;
      if (!isRefusal(error)) return connectLater();
      isClosed = true;
      onSignedOut();
    }
  }

  function open(address: string, signal: AbortSignal): void {
    const made = new WebSocket(address);
    socket = made;
    signal.addEventListener('abort', () => giveUp(made));
    made.addEventListener('open', () => {
      clearTimeout(deadline);
      isOpen = true;
      openedAt = heardAt = Date.now();
      watch = setInterval(() => checkLife(made), SILENCE_MS);
      onOpen();
    });
    made.addEventListener('message', ({ data }) => {
      // `ws` tells of frames that come while it closes, too
      if (socket !== made) return;
      heardAt = Date.now();
      onFrame(JSON.parse(String(data)) as object);
    });
    // close follows, and is handled
    made.addEventListener('error', () => {});
    made.addEventListener('close', () => down(made));
  }

  function down(gone: SocketLike): void {
    if (socket !== gone) return;
    clearTimeout(deadline);
    clearInterval(watch);
    if (isOpen && Date.now() - openedAt >= LASTED_MS) failures = 0;
    socket = undefined;
    isOpen = false;
    queue = [];
    onDown();
    connectLater();
  }

  function checkLife(silent: SocketLike): void {
    const now = Date.now();
    if (now - heardAt < SILENCE_MS) return;
    // timers of a hidden page come late: silence alone proves nothing
    if (pingedAt <= heardAt) {
      pingedAt = now;
      send({ type: 'ping' });
    } else if (now - pingedAt >= SILENCE_MS) giveUp(silent);
  }

  /** Drops a silent connection: a dead network never reports that a socket is closed. */
  function giveUp(silent: SocketLike): void {
    silent.close();
    down(silent);
  }

  function flush(): void {
    clearTimeout(pacing);
    for (let text = queue[0]; text !== undefined; text = queue[0]) {
      const parts = Math.ceil(new TextEncoder().encode(text).length / PART_BYTES);
      const now = performance.now();
      sentAt = sentAt.filter((at) => now - at < 1000);
      const [first] = sentAt;
      if (first !== undefined && sentAt.length + parts > FRAMES_A_SECOND) {
        pacing = setTimeout(flush, first + 1000 - now);
        return;
      }
      sentAt.push(...Array<number>(parts).fill(now));
      queue.shift();
      socket?.send(text);
    }
  }

  /** Queues a frame. @returns whether there is a connection; unsent frames are lost with it */
  function send(frame: object): boolean {
    if (!isOpen) return false;
    queue.push(JSON.stringify(frame));
    flush();
    return true;
  }

  void connect();
  return {
    send,
    close(): void {
      isClosed = true;
      clearTimeout(retry);
      clearTimeout(pacing);
      clearInterval(watch);
      // a close that the server confirms late would tell the state of a stream that follows
      if (isOpen && socket) giveUp(socket);
      else attempt?.abort();
    },
  };
}
export type Connection = ReturnType<typeof createConnection>;
