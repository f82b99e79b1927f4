import { EventEmitter, once } from 'node:events';
import net from 'node:net';
import { helloOf, refusal, refusalOf, type PlayedServer } from './played-servers.js';
import { createStoreFaults, isWrite, type StoreCommand, type StoreFaults } from './store-faults.js';
import {
  createMessageReader,
  documentsOf,
  encodeCommand,
  encodeReply,
  readCommand,
  readReply,
  type CommandMessage,
  type Document,
} from './wire-messages.js';

export interface StoreProxyOptions {
  /** Asked of each write, in order: one that may not pass is never done, and whoever waits for it waits until the connection ends. */
  mayPass?(write: StoreCommand): boolean;
  /** The server that it plays, as the one primary of a replica set; else the engine is seen as it is. */
  as?: PlayedServer;
}

/** A way to the store that can be watched and barred, and plays servers that are not at hand. */
export interface StoreProxy extends AsyncDisposable, StoreFaults {
  /** The address of the same database through it. */
  uri: string;
  /** Every command that came, in order; not those of the handshake. */
  commands: readonly StoreCommand[];
  /** Those of them that a server of the played version does not have. */
  refusals: readonly StoreCommand[];
  /** Becomes another server, as by an upgrade: open connections end. */
  play(server: PlayedServer): void;
  /** The primary steps down: it writes nothing, until `stepUp`. Resolves with the first write that it has refused. */
  stepDown(): Promise<StoreCommand>;
  stepUp(): void;
  /** Of two that play members of one set, the other is named by each. */
  join(others: readonly StoreProxy[]): void;
  /** Host and port. */
  address: string;
  /** Waits until every write that went on is done. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const HANDSHAKES = new Set(['hello', 'ismaster', 'isMaster']);
const READS = new Set(['find', 'aggregate', 'count', 'distinct', 'getMore', 'listIndexes']);
/** The fields of a session, which the engine does not take. */
const SESSION_FIELDS = ['lsid', 'txnNumber', '$clusterTime'];

function describe(message: CommandMessage): StoreCommand {
  const { body } = message;
  const [command = ''] = Object.keys(body);
  const names = documentsOf(message, 'nsInfo').map(({ ns }) => String(ns).replace(/^[^.]*\./, ''));
  const collection = names.length > 0 ? names.join('+') : body[command];
  return { command, collection: typeof collection === 'string' ? collection : '', body };
}

/** The name by which a session sends a write again; undefined where it does not. */
function retryKey({ lsid, txnNumber }: Document): string | undefined {
  return txnNumber === undefined ? undefined : `${JSON.stringify(lsid)} ${String(txnNumber)}`;
}

/**
 * Opens a way to a database, through which a server under test reaches the real engine: so a test can let a process die between any two
 * writes, have a primary step down, or meet a server of another version.
 * @param uri of the database, on a Unix socket
 */
export async function startStoreProxy(uri: string, { mayPass = () => true, as }: StoreProxyOptions = {}): Promise<StoreProxy> {
  const [, host = '', database = ''] = /^mongodb:\/\/([^/]+)(\/[^?]*)/.exec(uri) ?? [];
  const store = decodeURIComponent(host);
  const sockets = new Set<net.Socket>();
  /** Connections on which a write is under way, and who waits for them. */
  const writing = new Set<net.Socket>();
  const settled = new EventEmitter();
  const refusedWrites = new EventEmitter();
  const commands: StoreCommand[] = [];
  const refusals: StoreCommand[] = [];
  const { faults, fateOf } = createStoreFaults();
  /** What writes of sessions were answered: sent again, they are not done again. */
  const answered = new Map<string, Promise<Document>>();
  let played = as;
  let isPrimary = true;
  let members: string[] = [];

  function stopWriting(upstream: net.Socket): void {
    if (writing.delete(upstream) && writing.size === 0) settled.emit('settled');
  }

  /** How the member of a replica set that is played refuses a command; undefined where it does it. */
  function refuse(message: CommandMessage, { command, collection, body }: StoreCommand): Document | undefined {
    if (!played || HANDSHAKES.has(command)) return undefined;
    if (!isPrimary && isWrite({ command, collection, body })) {
      const isRetryable = retryKey(body) !== undefined;
      return {
        ...refusal(10_107, 'NotWritablePrimary', 'not primary'),
        ...(isRetryable && { errorLabels: ['RetryableWriteError'] }),
      };
    }
    if (!isPrimary && READS.has(command)) return refusal(13_435, 'NotPrimaryNoSecondaryOk', 'not primary and secondaryOk=false');
    const refused = refusalOf(played, command, message);
    if (refused) refusals.push({ command, collection, body });
    return refused;
  }

  function join(client: net.Socket): void {
    const upstream = net.connect(store);
    const readRequests = createMessageReader();
    const readReplies = createMessageReader();
    /** Who waits for the next answers of the engine, in order. */
    const waiting: ((reply: Buffer) => void)[] = [];
    let isHeld = false;
    let turn = Promise.resolve();
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
      for (const reply of readReplies(chunk)) waiting.shift()?.(reply);
    });
    client.on('data', (chunk) => {
      for (const bytes of readRequests(chunk)) turn = turn.then(() => take(bytes));
    });

    /** Has the engine do a command. A write of a session that it has done before is answered as it was then. */
    function forward(message: CommandMessage, bytes: Buffer): Promise<Document> {
      const key = played && retryKey(message.body);
      const before = key === undefined ? undefined : answered.get(key);
      if (before) return before;
      const isChanged = SESSION_FIELDS.some((field) => field in message.body);
      const body = Object.fromEntries(Object.entries(message.body).filter(([field]) => !SESSION_FIELDS.includes(field)));
      const reply = new Promise<Document>((resolve) => {
        if (!message.isUnanswered) waiting.push((answer) => resolve(readReply(answer)));
        upstream.write(isChanged ? encodeCommand({ ...message, body }) : bytes);
      });
      if (key !== undefined) answered.set(key, reply);
      return reply;
    }

    async function take(bytes: Buffer): Promise<void> {
      const message = readCommand(bytes);
      const command = describe(message);
      const writes = isWrite(command);
      // a connection sends one command after another: what follows on a held one is held too
      isHeld ||= writes && !mayPass(command);
      if (isHeld || client.destroyed) return;
      const isHandshake = HANDSHAKES.has(command.command);
      if (!isHandshake) commands.push(command);
      const fate = fateOf(command);
      if (fate.kind === 'hold' && fate.when === 'before') await fate.until;
      const refused = refuse(message, command);
      if (refused && writes && !isPrimary) refusedWrites.emit('write', command);
      if (fate.kind === 'cut' && fate.when === 'before') return void client.destroy();
      if (fate.kind === 'answer' || refused) {
        const reply = fate.kind === 'answer' ? fate.reply : refused;
        return void client.write(encodeReply(message, reply ?? {}));
      }
      if (writes) writing.add(upstream);
      const answering = forward(message, bytes);
      if (message.isUnanswered) return;
      const reply = await answering;
      if (fate.kind === 'hold' && fate.when === 'after') await fate.until;
      stopWriting(upstream);
      if (fate.kind === 'cut') return void client.destroy();
      const ofMember = isHandshake && played && helloOf(played, address, [address, ...members], isPrimary);
      client.write(encodeReply(message, { ...reply, ...ofMember, ...(fate.kind === 'amend' && fate.fields) }));
    }
  }

  const server = net.createServer({ noDelay: true }, join).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  const endConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  async function close(): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    endConnections();
    await closed;
  }
  const way = as ? 'replicaSet=rs0' : 'directConnection=true';
  return {
    ...faults,
    address,
    uri: `mongodb://${address}${database}?${way}&heartbeatFrequencyMS=500&minHeartbeatFrequencyMS=100`,
    commands,
    refusals,
    play(server) {
      played = server;
      endConnections();
    },
    async stepDown() {
      isPrimary = false;
      const [refused] = (await once(refusedWrites, 'write')) as [StoreCommand];
      return refused;
    },
    stepUp: () => void (isPrimary = true),
    join: (others) => void (members = others.map((other) => other.address)),
    async settle() {
      if (writing.size > 0) await once(settled, 'settled');
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
