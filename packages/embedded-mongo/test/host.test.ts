import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedMongo, type EmbeddedMongoEvent, startEmbeddedMongo } from '../src/index.js';
import { decodeReply, encodeCommand } from '../src/wire-protocol.js';
import { connect, socketOf } from './fixture.js';
import { until } from './processes.js';

const dir = mkdtempSync(join(tmpdir(), 'embedded-mongo-'));
const events: EmbeddedMongoEvent[] = [];
let mongo: EmbeddedMongo;

beforeAll(async () => {
  mongo = await startEmbeddedMongo({ dir, onEvent: (event) => events.push(event) });
});

afterAll(async () => {
  await mongo.stop();
  rmSync(dir, { recursive: true });
});

/** Whether the engine answers, and is the one started first. */
async function isUnharmed(): Promise<boolean> {
  const { ok } = await connect(mongo.uri).db().command({ ping: 1 });
  return ok === 1 && events.length === 1;
}

test('commands about sessions are answered, where they would crash the engine', async () => {
  const admin = connect(mongo.uri).db('admin');
  expect(await admin.command({ startSession: 1 })).toMatchObject({
    ok: 1,
    timeoutMinutes: 30,
    id: { id: expect.anything() as unknown },
  });
  for (const name of ['endSessions', 'refreshSessions', 'killSessions', 'killAllSessions', 'killAllSessionsByPattern']) {
    expect(await admin.command({ [name]: [] })).toMatchObject({ ok: 1 });
  }
  expect(await isUnharmed()).toBe(true);
});

test('endSessions is noticed after a document sequence too', async () => {
  const plain = encodeCommand({ endSessions: [], $db: 'admin' });
  const sequence = Buffer.from('\x01\x0a\0\0\0names\0', 'latin1');
  const request = Buffer.concat([plain.subarray(0, 20), sequence, plain.subarray(20)]);
  request.writeInt32LE(request.length, 0);
  const socket = createConnection(socketOf(mongo.uri));
  socket.write(request);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  expect(decodeReply(reply)).toEqual({ ok: 1 });
  expect(await isUnharmed()).toBe(true);
});

test('more clients than the engine serves at once wait their turn', async () => {
  const clients = Array.from({ length: 5 }, () => connect(mongo.uri));
  const inserts = clients.flatMap((client) =>
    Array.from({ length: 40 }, (_, n) => client.db().collection<{ n: number }>('many').insertOne({ n })),
  );
  await Promise.all(inserts);
  expect(await connect(mongo.uri).db().collection('many').countDocuments()).toBe(200);
});

function nested(levels: number): Document {
  let document: Document = {};
  for (let level = 1; level < levels; level++) document = { a: document };
  return document;
}

/** A client that fails the test if one of its connections closes first. */
function connectForGood(): MongoClient {
  const client = connect(mongo.uri);
  client.on('connectionClosed', ({ reason }) => expect(reason).toBe('poolClosed'));
  return client;
}

test.each([300, 1900, 3000])(
  'a document of %i levels is refused without harm to the engine or the connection',
  async (levels) => {
    const rows = connectForGood().db().collection('rows');
    await expect(rows.insertOne(nested(levels))).rejects.toMatchObject({ code: 15, codeName: 'Overflow' });
    await expect(rows.find(nested(levels)).toArray()).rejects.toMatchObject({ code: 15 });
    await rows.insertOne(nested(100));
    expect(await isUnharmed()).toBe(true);
  },
);

test('a command that the engine refuses to read is answered with its reason', async () => {
  const refused = connectForGood().db('no/name').command({ ping: 1 });
  await expect(refused).rejects.toMatchObject({ name: 'MongoServerError', message: 'invalid database name' });
});

test('a request that arrives in pieces, and several that arrive at once, are answered in order', async () => {
  const requests = [1, 2, 3].map((id) => {
    const request = encodeCommand({ ping: 1, $db: 'admin' });
    request.writeInt32LE(id, 4);
    return request;
  });
  const bytes = Buffer.concat(requests);
  const socket = createConnection(socketOf(mongo.uri)).setNoDelay();
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => (received = Buffer.concat([received, chunk])));
  for (const byte of bytes.subarray(0, 40)) await new Promise<unknown>((resolve) => socket.write(Buffer.of(byte), resolve));
  socket.write(bytes.subarray(40));
  // Three replies of one size, in the order of the requests that they name.
  await until(() => received.length >= 4 && received.length === 3 * received.readInt32LE(0));
  socket.destroy();
  expect([0, 1, 2].map((n) => received.readInt32LE((n * received.length) / 3 + 8))).toEqual([1, 2, 3]);
});

/** An OP_QUERY with a command: the form of a driver's first hello. */
function legacyCommand(name: string): Buffer {
  const body = encodeCommand({ [name]: 1 }).subarray(21);
  const frame = Buffer.concat([Buffer.alloc(20), Buffer.from('admin.$cmd\0'), Buffer.from([0, 0, 0, 0, 1, 0, 0, 0]), body]);
  frame.writeInt32LE(frame.length, 0);
  frame.writeInt32LE(2004, 12);
  return frame;
}

/** A message header with this length and operation, and then the rest. */
function message(length: number, opCode: number, rest: number[] = []): Buffer {
  const frame = Buffer.alloc(16 + rest.length, 0);
  frame.writeInt32LE(length, 0);
  frame.writeInt32LE(opCode, 12);
  frame.set(rest, 16);
  return frame;
}

test.each([
  ['a negative length', message(-1, 2013)],
  ['a length beyond any message', message(2_000_000_000, 2013)],
  ['another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ['an unknown operation', message(20, 7777, [0, 0, 0, 0])],
  ['a compressed message', message(20, 2012, [0, 0, 0, 0])],
  ['a header and nothing else', message(16, 2013)],
  ['a message without a body', message(20, 2013, [0, 0, 0, 0])],
  ['a section of an unknown kind', message(21, 2013, [0, 0, 0, 0, 9])],
  ['a section of negative length', message(25, 2013, [0, 0, 0, 0, 1, 255, 255, 255, 255])],
  ['a body that is no document', message(31, 2013, [0, 0, 0, 0, 0, 255, 255, 255, 127, 2, 97, 0, 1, 1, 1])],
  ['endSessions in the legacy form', legacyCommand('endSessions')],
])('%s ends its connection and no other', async (_, bytes) => {
  const socket = createConnection(socketOf(mongo.uri)).resume();
  socket.write(bytes);
  await once(socket, 'close');
  expect(await isUnharmed()).toBe(true);
});
