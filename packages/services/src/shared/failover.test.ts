import { randomUUID } from 'node:crypto';
import {
  databaseOf,
  FACES,
  PASSWORD,
  createTestClock,
  isCommand,
  isWrite,
  startStoreProxy,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
  type StoreProxy,
  type TestServer,
} from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { sessionModel } from '../authentication/sessions/session.model.js';
import { messageModel } from '../chat/message.model.js';
import { identityModel } from '../identities/identity.model.js';
import { notificationModel } from '../notifications/notification.model.js';
import { orderModel } from '../orders/order.model.js';
import { productModel } from '../products/product.model.js';

/** Longer than a unit of work is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER = 61_000;
/** How long `hesitant` looks for a primary, in milliseconds. */
const SELECTION_MS = 500;

/** Something that one request stores. */
interface Attempt {
  send(server: TestServer): Promise<Outcome>;
  /** How often it is stored, whole: parts are fractions. */
  stored(): Promise<number>;
}

interface Flow {
  /** Where it writes: each of these writes is struck. */
  collections: string[];
  prepare(face: Face): Promise<Attempt>;
  /** What becomes of it when it is sent again; without a key of its own, it is another. */
  again: 'is the same' | 'is refused' | 'is another';
}

let proxy: StoreProxy;
/** Three instances over one database: `home` goes straight to it; the driver of `hesitant` sends no write again. */
let home: TestServer;
let steady: TestServer;
let hesitant: TestServer;
let ann: Person;
let admin: Person;
const clock = createTestClock();
const writes = new Map<Flow, Set<string>>();

beforeAll(async () => {
  const mongodbUri = databaseOf('failover');
  proxy = await startStoreProxy(mongodbUri, { as: 'MongoDB 8.0' });
  const lifetimes = { accessTokenExpireTime: '90d' };
  home = await startTestServer({ mongodbUri, clock, lifetimes });
  steady = await startTestServer({ mongodbUri: proxy.uri, clock, lifetimes });
  const address = `${proxy.uri}&retryWrites=false&serverSelectionTimeoutMS=${SELECTION_MS}`;
  hesitant = await startTestServer({ mongodbUri: address, clock, lifetimes });
  [ann, admin] = [await home.signUp(), await home.signUpAdmin()];
  // before anything is struck: what a fault has left is done later, and is no write of the attempt
  for (const flow of Object.values(flows)) writes.set(flow, await writesOf(flow));
}, 60_000);
afterAll(async () => {
  for (const server of [hesitant, steady, home]) await server.close();
  await proxy.close();
});

const flows: Record<string, Flow> = {
  'a login': {
    collections: ['sessions', 'failedLogins'],
    again: 'is another',
    async prepare(face) {
      const { id: identityId, email } = await home.signUp();
      const sessions = () => home.storage.model(sessionModel).countDocuments({ identityId });
      const before = await sessions();
      return {
        send: (server) => server.call(face, 'auth.login', { email, password: PASSWORD }),
        stored: async () => (await sessions()) - before,
      };
    },
  },
  'a registration': {
    collections: ['identities'],
    again: 'is refused',
    async prepare(face) {
      const email = `${randomUUID()}@example.org`;
      return {
        send: (server) => server.call(face, 'auth.register', { email, password: PASSWORD }),
        stored: () => home.storage.model(identityModel).countDocuments({ email }),
      };
    },
  },
  'an exchange of a refresh token': {
    collections: ['sessions'],
    again: 'is the same',
    async prepare(face) {
      const { id: identityId, refreshToken } = await home.signUp();
      return {
        send: (server) => server.call(face, 'auth.refreshToken', { refreshToken }),
        stored: async () => (await home.storage.model(sessionModel).findOne({ identityId }).orFail().lean()).rotations.length,
      };
    },
  },
  'an order with an Idempotency-Key': {
    collections: ['idempotencyKeys', 'orders'],
    again: 'is the same',
    async prepare(face) {
      const { _id: productId } = await home.storage.model(productModel).create({ name: 'Bread' });
      const input = { identityId: ann.id, currency: 'EUR', items: [{ productId, quantity: 1, price: 2 }] };
      const credentials = { ...ann.credentials, headers: { 'idempotency-key': randomUUID() } };
      return {
        send: (server) => server.call(face, 'orders.create', input, credentials),
        stored: () => home.storage.model(orderModel).collection.countDocuments({ 'items.productId': productId }),
      };
    },
  },
  'a message with a clientId': {
    collections: ['messages'],
    again: 'is the same',
    async prepare(face) {
      const { id: channelId } = await openChannel(ann);
      const message = { channelId, senderId: ann.id, content: 'Hello', clientId: 'mine' };
      return {
        send: (server) => server.call(face, 'chat.createMessage', message, ann.credentials),
        stored: () => home.storage.model(messageModel).countDocuments({ channelId }),
      };
    },
  },
  'marking a notification': {
    collections: ['notifications'],
    again: 'is the same',
    async prepare(face) {
      const { id } = await home.tandem.services.notifications.notify(ann.id);
      return {
        send: (server) => server.call(face, 'notifications.markRead', { notificationId: id }, ann.credentials),
        stored: () => home.storage.model(notificationModel).countDocuments({ _id: id, isRead: true }),
      };
    },
  },
  'making two products at once': {
    collections: ['units', 'products'],
    again: 'is another',
    async prepare(face) {
      const name = randomUUID();
      const products = [1, 2].map(() => ({ name, description: '' }));
      return {
        send: (server) => server.call(face, 'products.createMany', { products }, admin.credentials),
        stored: async () => (await home.storage.model(productModel).countDocuments({ name })) / 2,
      };
    },
  },
};

/** The writes of an attempt to its collections, as `collection.command`: found out by one that nothing strikes. */
async function writesOf({ collections, prepare }: Flow): Promise<Set<string>> {
  const { send } = await prepare('trpc');
  const start = proxy.commands.length;
  expect(await send(steady)).toMatchObject({ ok: true });
  const own = proxy.commands.slice(start).filter(isWrite);
  const names = own.filter(({ collection }) => collection.split('+').some((name) => collections.includes(name)));
  return new Set(names.map(({ collection, command }) => `${collection}.${command}`));
}

type Strike = (write: string, send: () => Promise<Outcome>) => Promise<Outcome>;

/** Waits for a fault of the store while a request is under way. */
async function struck(write: string, fault: Promise<unknown>, sending: Promise<Outcome>): Promise<void> {
  const ended = sending.then((outcome) => Promise.reject(new Error(`answered without ${write}: ${JSON.stringify(outcome)}`)));
  await Promise.race([fault, ended]);
  ended.catch(() => {});
}

/** The primary steps down as the write comes; it, or another, is elected `at once`, or after the answer. */
const stepDown =
  (elected: 'at once' | 'later'): Strike =>
  async (write, send) => {
    const held = proxy.hold(isCommand(write));
    const sending = send();
    await struck(write, held.reached, sending);
    const refused = proxy.stepDown();
    held.release();
    await struck(write, refused, sending);
    if (elected === 'at once') proxy.stepUp();
    await sending;
    proxy.stepUp();
    return sending;
  };

const cut =
  (when: 'before' | 'after'): Strike =>
  async (write, send) => {
    const fault = proxy.cut(isCommand(write), when);
    const sending = send();
    await struck(write, fault, sending);
    return sending;
  };

/** The write is done, and no majority has it within the time. */
const noMajority: Strike = async (write, send) => {
  const writeConcernError = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting for replication timed out' };
  const fault = proxy.amend(isCommand(write), { writeConcernError });
  const sending = send();
  await struck(write, fault, sending);
  return sending;
};

/** What is no matter to the answer may fail without a word. */
const FAILED = [200, 503];

/** An aggregation that writes (`$merge`) no driver sends again, whatever the servers can do. */
const SENT_ONCE = 'units.aggregate';

const faults: { fault: string; on: () => TestServer; strike: Strike; allowed: number[] }[] = [
  { fault: 'a primary that is elected at once', on: () => steady, strike: stepDown('at once'), allowed: [200] },
  { fault: 'a connection that ends before a write', on: () => steady, strike: cut('before'), allowed: [200] },
  { fault: 'a connection that ends after a write', on: () => steady, strike: cut('after'), allowed: [200] },
  { fault: 'no majority', on: () => steady, strike: noMajority, allowed: FAILED },
  { fault: 'no primary', on: () => hesitant, strike: stepDown('later'), allowed: FAILED },
  { fault: 'a connection that ends before a write, sent once', on: () => hesitant, strike: cut('before'), allowed: FAILED },
  { fault: 'a connection that ends after a write, sent once', on: () => hesitant, strike: cut('after'), allowed: FAILED },
];

const statusOf = (outcome: Outcome): number => (outcome.ok ? 200 : outcome.status);

/** Lets units of work that were left be finished or taken back. */
async function sweep(): Promise<void> {
  clock.advance(TAKEN_OVER_AFTER);
  await home.storage.sweep();
  const left = () => home.storage.model(identityModel).db.collection('units').countDocuments();
  await expect.poll(left).toBe(0);
}

/** Waits until an instance has seen that there is a primary once more. */
async function findsPrimary({ storage }: TestServer): Promise<void> {
  const isThere = () => storage.ping().then(() => true, () => false); // prettier-ignore
  await expect.poll(isThere).toBe(true);
}

/** Sends again as 503 asks for: an attempt that could not say that it is over keeps others waiting, up to their time. */
async function untilAnswered(send: () => Promise<Outcome>): Promise<Outcome> {
  const outcome = await send();
  return statusOf(outcome) === 503 ? untilAnswered(send) : outcome;
}

it('503 says when to try again', async () => {
  void proxy.cut(isCommand('identities.insert'), 'before');
  const answer = await hesitant.rest('POST', '/auth/register', { email: `${randomUUID()}@example.org`, password: PASSWORD });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
});

describe.each(FACES)('over %s', (face) => {
  describe.each(Object.entries(flows))('%s', (_, flow) => {
    const { collections, prepare, again } = flow;
    it.each(faults)('is stored once where it succeeds, and at most once at 503: $fault', async ({ on, strike, allowed }) => {
      for (const write of writes.get(flow)!) {
        const { send, stored } = await prepare(face);
        const status = statusOf(await strike(write, () => send(on())));
        expect(write === SENT_ONCE ? FAILED : allowed, write).toContain(status);
        if (collections.includes('units')) await sweep();
        const first = await stored();
        expect(status === 200 ? [1] : [0, 1], write).toContain(first);

        await findsPrimary(on());
        const repeated = await untilAnswered(() => send(on()));
        expect(repeated.ok, write).toBe(again !== 'is refused' || first === 0);
        expect(await stored(), write).toBe(again === 'is another' ? first + 1 : 1);
      }
    });
  });
});
