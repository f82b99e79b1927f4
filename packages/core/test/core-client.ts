import type { IncomingMessage } from 'node:http';
import { WebSocket, type ClientOptions } from 'ws';

/** A client of a stream. */
export interface CoreClient {
  socket: WebSocket;
  /** The answer to its handshake. */
  response: IncomingMessage;
  send(...frames: (object | string | Buffer)[]): void;
  /** The next frame received. @throws when the stream closes first */
  next(): Promise<Record<string, unknown>>;
  closed: Promise<[code: number, reason: string]>;
}

/** Opens a stream. @throws its status and text when it is refused */
export async function openClient(
  url: string,
  headers: Record<string, string> = {},
  options: ClientOptions = {},
): Promise<CoreClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers, perMessageDeflate: false, ...options });
  const frames: Record<string, unknown>[] = [];
  let wake = () => {};
  socket.on('message', (data: Buffer) => {
    frames.push(JSON.parse(data.toString()) as Record<string, unknown>);
    wake();
  });
  const closed = new Promise<[number, string]>((resolve) => {
    socket.on('close', (code, reason) => {
      resolve([code, reason.toString()]);
      wake();
    });
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    let answer: IncomingMessage;
    socket.once('upgrade', (upgrade) => (answer = upgrade));
    socket.once('open', () => resolve(answer));
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, refused) => {
      void refused.toArray().then((parts) => {
        const { error } = JSON.parse(parts.join('')) as { error: { message: string; data?: string[] } };
        reject(new Error(`${refused.statusCode} ${(error.data ?? [error.message]).join()}`));
      });
    });
  });
  socket.on('error', () => {});
  return {
    socket,
    response,
    closed,
    send(...all) {
      for (const frame of all) socket.send(typeof frame === 'string' || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame));
    },
    async next() {
      for (;;) {
        const frame = frames.shift();
        if (frame) return frame;
        if (socket.readyState === WebSocket.CLOSED) throw new Error('the stream was closed');
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
