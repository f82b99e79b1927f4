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

/** Between two tries to connect, in milliseconds: the first, and the longest. */
const RETRY_MS = [200, 10_000] as const;
/** Frames that are sent in any second at most: the server takes fifty. */
const FRAMES_A_SECOND = 40;
/** After so long a silence the server is asked for a sign of life, and after twice as long the connection is given up, in milliseconds. */
const SILENCE_MS = 20_000;

interface ConnectionOptions {
  /** Where the server is. */
  url: string;
  /** Path and query of the stream, with a ticket, each time another one. @throws when there is none */
  path(): Promise<string>;
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
  let heardAt = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let watch: ReturnType<typeof setInterval> | undefined;
  /** What waits until it may be sent, and when the last ones were. */
  let queue: string[] = [];
  let sentAt: number[] = [];
  let pacing: ReturnType<typeof setTimeout> | undefined;

  /** Many clients lose a server at once: they come back spread over time. */
  function connectLater(): void {
    if (isClosed) return;
    const longest = Math.min(RETRY_MS[0] * 2 ** failures, RETRY_MS[1]);
    failures += 1;
    retry = setTimeout(() => void connect(), longest * (0.5 + Math.random() / 2));
  }

  async function connect(): Promise<void> {
    try {
      const target = await path();
      if (!isClosed) open(`${base}${target}`);
    } catch (error) {
      if (isClosed) return;
      if (!isRefusal(error)) return connectLater();
      isClosed = true;
      onSignedOut();
    }
  }

  function open(address: string): void {
    const made = new WebSocket(address);
    socket = made;
    made.addEventListener('open', () => {
      isOpen = true;
      failures = 0;
      heardAt = Date.now();
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
    clearInterval(watch);
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
    silent.close();
    // a dead network never says that it is closed
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
      socket?.close();
    },
  };
}
export type Connection = ReturnType<typeof createConnection>;
