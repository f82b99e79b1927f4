import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { runMeasured } from './measured-child.js';

/** Streams opened at once, of each server: the store answers each within seconds, even on a busy machine. */
const AT_ONCE = 12;
const TRIES = 30;
const RETRY_MS = 2000;
const HEAD_END = '\r\n\r\n';
const ACCEPTED = 'HTTP/1.1 101 ';

/** RFC 6455, 5.2: what a first byte says, and the lengths that stand in the second. */
const TEXT = 0x81;
const PING = 0x89;
const CLOSE = 0x88;
const LONG = 126;
const LONGER = 127;
/** An answer to a ping without a payload, with a mask of zeros. */
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** A stream to open: of a channel, or one that hears nothing. */
export interface Asked {
  accessToken: string;
  channelId?: string;
}

function ignore(): void {}

/** A stream with its client's side, as small as it can be: a socket and what of a frame has come. */
class RawStream {
  private rest: Buffer | undefined = undefined;
  /** Settles the opening, until then. */
  opening: { resolve(): void; reject(error: Error): void } | undefined = undefined;

  constructor(
    readonly socket: net.Socket,
    private readonly isReader: boolean,
  ) {
    // one that is cut off is closed, too, and counted
    socket.on('error', ignore);
    socket.on('data', (bytes: Buffer) => this.take(this.rest ? Buffer.concat([this.rest, bytes]) : bytes));
  }

  private take(bytes: Buffer): void {
    let at = 0;
    if (this.opening && bytes[0] === ACCEPTED.charCodeAt(0)) {
      const end = bytes.indexOf(HEAD_END);
      if (end < 0) return void (this.rest = bytes);
      const head = bytes.toString('latin1', 0, end);
      if (!head.startsWith(ACCEPTED)) return this.fail(`a stream was answered ${head}`);
      at = end + HEAD_END.length;
      if (!this.isReader) this.isOpen();
    }
    for (let next = this.frame(bytes, at); next !== undefined; next = this.frame(bytes, at)) at = next;
    this.rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined;
  }

  /** Whoever opens it may try again; later nobody does. */
  private fail(why: string): void {
    if (!this.opening) throw new Error(why);
    this.opening.reject(new Error(why));
    this.socket.destroy();
  }

  private isOpen(): void {
    this.opening?.resolve();
    this.opening = undefined;
  }

  /** Takes the frame at a place. @returns where the next one begins; undefined if it has not come whole */
  private frame(bytes: Buffer, at: number): number | undefined {
    if (bytes.length < at + 2) return undefined;
    const [kind, said] = [bytes[at], bytes[at + 1] as number];
    if (said === LONGER) throw new Error('a frame is larger than any that is expected');
    const from = at + (said === LONG ? 4 : 2);
    if (bytes.length < from) return undefined;
    const end = from + (said === LONG ? bytes.readUInt16BE(at + 2) : said);
    if (bytes.length < end) return undefined;
    if (kind === PING) this.socket.write(PONG);
    else if (kind === CLOSE) this.fail(`a stream was closed: ${bytes.toString('utf8', from + 2, end)}`);
    else if (kind === TEXT && this.isReader) this.hear(bytes, from, end);
    return end;
  }

  private hear(bytes: Buffer, from: number, end: number): void {
    const text = bytes.subarray(from, end);
    if (text.includes('"type":"message.created"')) received();
    else if (text.includes('"type":"subscribed"')) this.isOpen();
    else if (text.includes('"type":"error"')) this.fail(`a stream was told ${text.toString()}`);
  }
}

const streams: RawStream[] = [];
/** Messages received by all streams, and who waits for how many. */
let messages = 0;
let waiting: { total: number; resolve: () => void } | undefined;

function received(): void {
  messages += 1;
  if (waiting && messages >= waiting.total) waiting.resolve();
}

async function tryToOpen(url: string, address: string, { accessToken, channelId }: Asked): Promise<RawStream> {
  const { hostname, port, host } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port), localAddress: address, noDelay: true });
  await once(socket, 'connect');
  const stream = new RawStream(socket, channelId !== undefined);
  const opened = new Promise<void>((resolve, reject) => {
    stream.opening = { resolve, reject };
    socket.once('close', () => reject(new Error('a stream was cut off')));
  });
  const fields = {
    host,
    authorization: `Bearer ${accessToken}`,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
  };
  const path = `/messages/listen${channelId === undefined ? '' : `?channelId=${channelId}`}`;
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\n${head.join('')}\r\n`);
  await opened;
  socket.removeAllListeners('close');
  return stream;
}

/** A server whose store is busy may refuse: then it tries again. */
async function openOne(url: string, address: string, asked: Asked): Promise<RawStream> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryToOpen(url, address, asked);
    } catch (error) {
      if (tries === TRIES) throw error;
      await wait(RETRY_MS);
    }
  }
}

async function open({ url, address, asked }: { url: string; address: string; asked: Asked[] }): Promise<void> {
  for (let from = 0; from < asked.length; from += AT_ONCE)
    streams.push(...(await Promise.all(asked.slice(from, from + AT_ONCE).map((one) => openOne(url, address, one)))));
}

/** Many streams of many people, by a client that needs little memory and CPU, so that the server's share is large. */
await runMeasured(() =>
  Promise.resolve({
    url: '',
    close: () => Promise.resolve(),
    handlers: {
      open,
      /** Resolves when its streams have received so many messages altogether. */
      received: (total: number) =>
        new Promise<void>((resolve) => {
          waiting = { total, resolve };
          if (messages >= total) resolve();
        }),
      /** Streams that are still open. */
      count: () => streams.filter(({ socket }) => !socket.destroyed).length,
      /** Closes the last so many. */
      shut: (count: number) => {
        for (const { socket } of streams.splice(-count)) socket.destroy();
      },
    },
  }),
);
