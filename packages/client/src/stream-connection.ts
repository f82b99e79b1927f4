import { isRefusal } from './failure.js';

/** What streams need of a WebSocket: the platform's, or that of `ws` in Node before 22. */
export interface SocketLike {
  send(text: string): void;
  close(): void;
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: { type?: string; data?: unknown }) => void,
  ): void;
}
export type SocketConstructor = new (address: string) => SocketLike;

/** Between two tries to connect, in milliseconds: the shortest, and the longest. */
const RETRY_MS = [200, 10_000] as const;
/** A connection that has lasted so long works: after it the waits begin with the first again. In milliseconds. */
const LASTED_MS = 10_000;
/** After so long a try to connect that has no answer is given up, from asking for the ticket to the open socket, in milliseconds. */
const CONNECT_MS = 15_000;
/** Frames that are sent in any second at most: the server takes fifty. */
const FRAMES_A_SECOND = 40;
/** After so long a silence the server is asked for a sign of life, and after twice as long the connection is given up, in milliseconds. */
const SILENCE_MS = 20_000;

interface ConnectionOptions {
  /** Where the server is. */
  url: string;
  /** Path and query of the stream, with a ticket, each time another one, until the signal comes. @throws when there is none */
  path(signal: AbortSignal): Promise<string>;
  /** Default: the platform's. */
  WebSocket: SocketConstructor | undefined;
  onOpen(): void;
  onFrame(frame: object): void;
  onDown(): void;
  /** The server refuses a path for good: the session has ended. */
  onSignedOut(): void;
}

/** @throws TypeError where the platform has none and none is given */
function socketOf(given: SocketConstructor | undefined): SocketConstructor {
  const found = given ?? (globalThis as { WebSocket?: SocketConstructor }).WebSocket;
  if (!found) throw new TypeError('WebSocket: this platform has none, so that one has to be given');
  return found;
}

/**
 * A connection that comes back by itself, until it is closed.
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
  let attempt: AbortController | undefined;
  let deadline: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let watch: ReturnType<typeof setInterval> | undefined;
  /** What waits until it may be sent, and when the last ones were. */
  let queue: string[] = [];
  let sentAt: number[] = [];
  let pacing: ReturnType<typeof setTimeout> | undefined;

  /** Many clients lose a server at once: they come back spread over time. */
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
      // a platform may go on waiting for an answer that is not wanted any more
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
      watch = setInterval(checkLife, SILENCE_MS);
      onOpen();
    });
    made.addEventListener('message', ({ data }) => {
      heardAt = Date.now();
      onFrame(JSON.parse(String(data)) as object);
    });
    // it is closed as well, which is what counts
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

  function checkLife(): void {
    const silence = Date.now() - heardAt;
    const silent = socket;
    if (!silent || silence < SILENCE_MS) return;
    if (silence < 2 * SILENCE_MS) return void send({ type: 'ping' });
    giveUp(silent);
  }

  /** A dead network never says that a socket is closed. */
  function giveUp(silent: SocketLike): void {
    silent.close();
    down(silent);
  }

  function flush(): void {
    clearTimeout(pacing);
    while (queue.length > 0) {
      const now = performance.now();
      sentAt = sentAt.filter((at) => now - at < 1000);
      const [first] = sentAt;
      if (first !== undefined && sentAt.length >= FRAMES_A_SECOND) {
        pacing = setTimeout(flush, first + 1000 - now);
        return;
      }
      sentAt.push(now);
      socket?.send(queue.shift() as string);
    }
  }

  /** Sends a frame, soon. @returns whether there is a connection; with it goes what has not been sent */
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
      if (isOpen) socket?.close();
      else attempt?.abort();
    },
  };
}
export type Connection = ReturnType<typeof createConnection>;
