import { WebSocket } from 'ws';
import type { Credentials } from './caller.js';
import { headersOf } from './caller.js';

/** How long a test waits for a frame, in milliseconds. */
const PATIENCE_MS = 15_000;

/** A frame of the server. */
export interface Frame {
  type: string;
  [field: string]: unknown;
}

/** A client of a stream, for tests. */
export interface TestStream extends AsyncDisposable {
  socket: WebSocket;
  /** Every frame so far. */
  frames: Frame[];
  /** Sends a frame; a string unchanged. */
  send(frame: object | string): void;
  /**
   * The next frame of this type that `matches` accepts; it and earlier ones are not returned again.
   * @throws after some seconds, or when the stream closes first
   */
  next<F = Frame>(type: string, matches?: (frame: F) => boolean): Promise<F>;
  /** Code and reason of the close. */
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

function addressOf(url: string, path: string): string {
  return url.replace(/^http/, 'ws') + path;
}

/** Opens a stream. @throws Error when it is refused */
export async function openStream(url: string, path: string, credentials: Credentials = {}): Promise<TestStream> {
  const socket = new WebSocket(addressOf(url, path), { headers: headersOf(credentials), perMessageDeflate: false });
  const frames: Frame[] = [];
  let at = 0;
  let wake = () => {};
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
      wake();
    });
  });
  socket.on('message', (data: Buffer) => {
    frames.push(JSON.parse(data.toString()) as Frame);
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  socket.on('error', () => undefined);

  async function close(): Promise<void> {
    socket.close();
    await closed;
  }
  return {
    socket,
    frames,
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    async next<F>(type: string, matches: (frame: F) => boolean = () => true) {
      const until = Date.now() + PATIENCE_MS;
      for (;;) {
        while (at < frames.length) {
          const frame = frames[at++] as Frame;
          if (frame.type === type && matches(frame as F)) return frame as F;
        }
        if (socket.readyState === WebSocket.CLOSED || Date.now() > until)
          throw new Error(`no frame ${type} came; these did: ${JSON.stringify(frames.slice(-20))}`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, PATIENCE_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
    closed,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The server's refusal to open a stream. */
export function refusalOf(
  url: string,
  path: string,
  credentials: Credentials = {},
): Promise<{ status: number; headers: Record<string, unknown>; body: unknown }> {
  const socket = new WebSocket(addressOf(url, path), { headers: headersOf(credentials) });
  return new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.terminate();
      reject(new Error(`${path}: refusal expected, and the stream was opened`));
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const body = text === '' ? undefined : (JSON.parse(text) as unknown);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
  });
}
