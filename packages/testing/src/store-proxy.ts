import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A write on its way to the store. */
export interface StoreWrite {
  command: 'insert' | 'update' | 'delete' | 'findAndModify' | 'bulkWrite';
  /** Of a bulk, all of them, with a `+` between. */
  collection: string;
}

/** A way to the store that can be watched and barred. */
export interface StoreProxy extends AsyncDisposable {
  /** The address of the same database through it. */
  uri: string;
  /** Waits until every write that went on is done. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify']);
/** Enough connections that writes which are held do not hold up others. */
const POOL = 64;

/** The operation of all commands, and where in its message the name of the first field begins: that is the command's. */
const OP_MSG = 2013;
const NAME_AT = 26;

/** The names of a bulk's collections: each is the value of a text field `ns`, after its database's. */
// oxlint-disable-next-line no-control-regex -- BSON's own marks
const NAMESPACES = /\x02ns\0[^]{4}[^.\0]+\.([^\0]+)\0/g;

/** What a message writes; undefined when it writes nothing. */
function writeOf(message: Buffer): StoreWrite | undefined {
  if (message.readInt32LE(12) !== OP_MSG) return undefined;
  const nameEnd = message.indexOf(0, NAME_AT);
  const command = message.toString('utf8', NAME_AT, nameEnd);
  if (command === 'bulkWrite') {
    const collections = [...message.toString('latin1').matchAll(NAMESPACES)].map(([, name]) => name);
    return { command, collection: collections.join('+') };
  }
  if (!WRITES.has(command)) return undefined;
  // the field's text: its length with the closing zero, then itself
  const length = message.readInt32LE(nameEnd + 1);
  const collection = message.toString('utf8', nameEnd + 5, nameEnd + 4 + length);
  return { command: command as StoreWrite['command'], collection };
}

/** Cuts what comes in on a connection into messages. */
function createMessageReader(): (chunk: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const messages: Buffer[] = [];
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      messages.push(rest.subarray(0, rest.readInt32LE(0)));
      rest = rest.subarray(rest.readInt32LE(0));
    }
    return messages;
  };
}

/**
 * Opens a way to a database on a Unix socket, through which a server under test writes only what it may: so a test can let its process die
 * between any two writes.
 * @param uri of the database, on a Unix socket
 * @param mayPass asked of each write, in order; one that may not is never done, and whoever waits for it waits until the connection ends
 */
export async function startStoreProxy(uri: string, mayPass: (write: StoreWrite) => boolean): Promise<StoreProxy> {
  const [, host = '', rest = ''] = /^mongodb:\/\/([^/]+)(\/[^?]*)/.exec(uri) ?? [];
  const store = decodeURIComponent(host);
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-proxy-'));
  // by the ending a driver knows a socket
  const socketPath = path.join(dir, 'store.sock');
  const sockets = new Set<net.Socket>();
  /** Connections on which a write is under way, and who waits for them. */
  const writing = new Set<net.Socket>();
  const settled = new EventEmitter();

  function stopWriting(upstream: net.Socket): void {
    if (writing.delete(upstream) && writing.size === 0) settled.emit('settled');
  }

  function join(client: net.Socket): void {
    const upstream = net.connect(store);
    const read = createMessageReader();
    for (const [socket, other] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    upstream.once('close', () => stopWriting(upstream));
    upstream.on('data', (chunk) => {
      stopWriting(upstream);
      client.write(chunk);
    });
    let isHeld = false;
    client.on('data', (chunk) => {
      for (const message of read(chunk)) {
        const write = writeOf(message);
        // a connection sends one command after another: what follows on a held one is held too
        isHeld ||= write !== undefined && !mayPass(write);
        if (isHeld) continue;
        if (write) writing.add(upstream);
        upstream.write(message);
      }
    });
  }

  const server = net.createServer(join).listen(socketPath);
  await once(server, 'listening');

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
    await rm(dir, { recursive: true, force: true });
  }
  async function settle(): Promise<void> {
    if (writing.size > 0) await once(settled, 'settled');
  }
  const options = `directConnection=true&journal=true&retryWrites=false&minHeartbeatFrequencyMS=100&maxPoolSize=${POOL}`;
  return { uri: `mongodb://${encodeURIComponent(socketPath)}${rest}?${options}`, settle, close, [Symbol.asyncDispose]: close };
}
