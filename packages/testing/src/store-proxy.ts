import { EventEmitter, once } from 'node:events';
import net from 'node:net';
import { helloOf, refusal, refusalOf, type PlayedServer } from './played-servers.js';
import { createStoreFaults, isOfLog, isWrite, type Fate, type StoreCommand, type StoreFaults } from './store-faults.js';
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
  /** Called for each write, in order: a refused one is never done, and its sender waits until the connection ends. */
  mayPass?(write: StoreCommand): boolean;
  /** Simulates this server as the one primary of a replica set; by default the engine is shown as it is. */
  as?: PlayedServer;
  /** Plans reach the commands of the event log too, which come whenever there is time. */
  plansLog?: boolean;
}

/** A proxy to the store that can observe and block commands, and simulate other servers. */
export interface StoreProxy extends AsyncDisposable, StoreFaults {
  /** The URI of the same database through the proxy. */
  uri: string;
  /** Every command received, in order, except those of the handshake. */
  commands: readonly StoreCommand[];
  /** The commands that the simulated server version does not have. */
  refusals: readonly StoreCommand[];
  /** Becomes another server, as by an upgrade: open connections end. */
  play(server: PlayedServer): void;
  /** The primary steps down: it writes nothing, until `stepUp`. Resolves with the first write that it refuses. */
  stepDown(): Promise<StoreCommand>;
  stepUp(): void;
  /** Makes proxies that simulate members of one set name each other. */
  join(others: readonly StoreProxy[]): void;
  /** Host and port. */
  address: string;
  /** Waits until every forwarded write is done. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const HANDSHAKES = new Set(['hello', 'ismaster', 'isMaster']);
const READS = new Set(['find', 'aggregate', 'count', 'distinct', 'getMore', 'listIndexes']);
/** Session fields, which the engine does not accept. */
const SESSION_FIELDS = ['lsid', 'txnNumber', '$clusterTime'];

function describe(message: CommandMessage): StoreCommand {
  const { body } = message;
  const [command = ''] = Object.keys(body);
  const names = documentsOf(message, 'nsInfo').map(({ ns }) => String(ns).replace(/^[^.]*\./, ''));
  const collection = names.length > 0 ? names.join('+') : body[command];
  return { command, collection: typeof collection === 'string' ? collection : '', body };
}

/** The key of a retryable write of a session; undefined for others. */
function retryKey({ lsid, txnNumber }: Document): string | undefined {
  return txnNumber === undefined ? undefined : `${JSON.stringify(lsid)} ${String(txnNumber)}`;
}

/**
 * Opens a proxy to the real engine for a server under test: a test can kill a process between any two writes, step down
 * a primary, or simulate another server version.
 * @param uri of the database, on a Unix socket
 */
export async function startStoreProxy(
  uri: string,
  { mayPass = () => true, as, plansLog = false }: StoreProxyOptions = {},
): Promise<StoreProxy> {
  const [, host = '', database = ''] = /^mongodb:\/\/([^/]+)(\/[^?]*)/.exec(uri) ?? [];
  const store = decodeURIComponent(host);
  const sockets = new Set<net.Socket>();
  /** Connections with a write in progress, and the callers that wait for them. */
  const writing = new Set<net.Socket>();
  const settled = new EventEmitter();
  const refusedWrites = new EventEmitter();
  const commands: StoreCommand[] = [];
  const refusals: StoreCommand[] = [];
  const { faults, fateOf } = createStoreFaults();
  /** Answers to session writes: a retried write is not done again. */
  const answered = new Map<string, Promise<Document>>();
  let played = as;
  let isPrimary = true;
  /** A write has been held: the server is as good as dead. */
  let isDead = false;
  let members: string[] = [];

  function stopWriting(upstream: net.Socket): void {
    if (writing.delete(upstream) && writing.size === 0) settled.emit('settled');
  }

  /** How the simulated replica set member refuses a command; undefined where it accepts it. */
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
    /** Callbacks for the engine's next answers, in order. */
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

    /** Forwards a command to the engine. A retried session write gets its first answer again. */
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
      // a connection sends its commands in order: those after a held one are held too
      const isBeside = isOfLog(command);
      isHeld ||= writes && (isBeside ? isDead : !mayPass(command));
      isDead ||= isHeld;
      if (isHeld || client.destroyed) return;
      const isHandshake = HANDSHAKES.has(command.command);
      if (!isHandshake && !isBeside) commands.push(command);
      const fate: Fate = isBeside && !plansLog ? { kind: 'pass' } : fateOf(command);
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
