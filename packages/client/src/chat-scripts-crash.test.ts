import {
  HAS_REDIS,
  isCutOff,
  makeFolder,
  startRedis,
  startServerProcess,
  startTestServer,
  type Person,
  type RedisServer,
  type ServerProcess,
  type TestServer,
} from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createClient } from '../test/clients.js';
import {
  applyToMessages,
  createChatClient,
  type ChatClient,
  type ChatEvent,
  type ChatMessage,
  type LoadedMessages,
} from './index.js';

const SEED = Number(process.env['CHAT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** So many channels, each with a script of its own, and how many are at work at once. */
const SCRIPTS = 200;
const AT_ONCE = 20;
const STEPS = 15;
/** A unit of work that a process left is finished after a minute and a half at the latest. */
const PATIENCE = { timeout: 120_000, interval: 200 };
const KEYS = ['ok', '👍', '🎉'] as const;

let redis: RedisServer;
let app: TestServer;
let servers: ServerProcess[] = [];
let people: [owner: Person, member: Person, guest: Person, admin: Person];
let folder: Awaited<ReturnType<typeof makeFolder>>;
beforeAll(async () => {
  if (!HAS_REDIS) return;
  [redis, folder] = [await startRedis(), await makeFolder()];
  app = await startTestServer({ dataDir: folder.path });
  servers = await Promise.all([1, 2, 3].map(() => start()));
  people = [await app.signUp(), await app.signUp(), await app.signUp(), await app.signUpAdmin()];
}, 120_000);
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  await app?.close();
  await redis?.close();
  await folder?.[Symbol.asyncDispose]();
});
const start = () =>
  startServerProcess({ MONGODB_URI: app.mongodbUri, REDIS_URL: redis.url, DATA_DIR: folder.path, LOG_LEVEL: 'info' });

/** Numbers from 0 to below 1, the same for the same seed: a linear congruential generator (ANSI C's constants). */
function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) / 2 ** 32;
  return { next, of: <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T };
}
type Random = ReturnType<typeof createRandom>;

/** Who asked was not answered. */
const CUT_OFF = 'cut off';
/** Restored messages: to readers who did not have them before their deletion nobody tells which reactions are `mine`. */
const restoredIds = new Set<string>();

/** What a reader knows of a channel. */
interface Known {
  loaded: LoadedMessages;
  pinned: Set<string>;
  members: Map<string, string>;
  name: string | undefined;
}

function hear(known: Known, event: ChatEvent, readerId: string): void {
  known.loaded = applyToMessages(known.loaded, event, readerId);
  if (event.type === 'pin.created') known.pinned.add(event.messageId);
  if (event.type === 'pin.deleted' || event.type === 'message.deleted') known.pinned.delete(event.messageId);
  if (event.type === 'subscription.deleted') known.members.delete(event.identityId);
  else if (event.type.startsWith('subscription.') && 'role' in event) known.members.set(event.identityId, event.role);
  if (event.type === 'channel.updated') known.name = event.channel.name;
}

/** What is compared: of a client and of the store. */
function summaryOf(messages: LoadedMessages['messages'], pinned: Iterable<string>, members: Iterable<readonly [string, string]>) {
  return {
    messages: messages.map(({ id, seq, content, replyCount, attachments, reactions }) => ({
      id,
      seq,
      content,
      replyCount,
      attachments: attachments.map((file) => file.id).toSorted(),
      reactions: reactions.map(({ key, count, mine }) => `${key} ${count} ${mine && !restoredIds.has(id)}`).toSorted(),
    })),
    pinned: [...pinned].toSorted(),
    members: [...members].map(([id, role]) => `${id} ${role}`).toSorted(),
  };
}

interface Reader {
  person: Person;
  chat: ChatClient;
  known: Map<string, Known>;
  drop(): void;
}

/** A client that reconnects to any of the servers. */
async function openReader(person: Person, random: Random): Promise<Reader> {
  let current: WebSocket | undefined;
  class Balanced extends WebSocket {
    constructor(address: string) {
      super(address.replace(/^ws:\/\/[^/]+/, random.of(servers).url.replace('http', 'ws')));
      // oxlint-disable-next-line typescript/no-this-alias -- the newest is the one to drop
      current = this;
    }
  }
  const { id: identityId, accessToken, refreshToken } = person;
  const { client, tokens } = createClient(app);
  await tokens.save({ identityId, accessToken, refreshToken });
  const chat = createChatClient({ url: app.url, client, WebSocket: Balanced });
  return { person, chat, known: new Map(), drop: () => current?.terminate() };
}

function follow({ person, chat, known }: Reader, channelId: string): void {
  const own: Known = { loaded: { messages: [] }, pinned: new Set(), members: new Map(), name: undefined };
  known.set(channelId, own);
  chat.follow(channelId, { onEvent: (event) => hear(own, event, person.id) }, { sinceChange: 0 });
}

/** One of the steps of a script. What a server that dies meanwhile has not answered may have happened or not. */
async function step(channelId: string, messageIds: string[], random: Random): Promise<void> {
  const [owner, member, guest, admin] = people;
  const person = random.of([owner, member]);
  const ask = async (method: string, path: string, body?: object, by = person): Promise<string | undefined> => {
    try {
      const answer = await random.of(servers).rest(method, path, body, by.credentials);
      expect([200, 201, 204, 400, 403, 404, 409, 503]).toContain(answer.status);
      return (answer.body as { id?: string } | undefined)?.id;
    } catch (error) {
      if (!isCutOff(error)) throw error;
      return CUT_OFF;
    }
  };
  const message = random.of(messageIds);
  const post = async (fields: object = {}) => {
    const id = await ask('POST', '/messages', { channelId, senderId: person.id, content: `No. ${random.next()}`, ...fields });
    if (id !== undefined && id !== CUT_OFF) messageIds.push(id);
  };
  const key = encodeURIComponent(random.of(KEYS));
  const upload = async (route: string) => {
    const path = `${route}/attachment-upload-url?contentType=text/plain&contentLength=3`;
    const { status, body } = await app.rest('GET', path, undefined, person.credentials);
    if (status !== 200) return undefined;
    const { objectId, url } = body as { objectId: string; url: string };
    await fetch(url, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'tea' });
    return { objectId, type: 'text/plain' };
  };
  const steps = [
    () => post(),
    () => (message === undefined ? post() : post({ replyToId: message })),
    () => ask('PATCH', `/messages/${message}`, { content: `Edited ${random.next()}` }),
    () => ask('DELETE', `/messages/${message}`),
    async () => {
      const restore = async (id: string) => {
        // those that are there are not found
        if (await ask('POST', `/messages/${id}/restore`, undefined, admin)) restoredIds.add(id);
      };
      await Promise.all(messageIds.map(restore));
    },
    async () => post({ clientId: `${random.next()}`, attachments: [await upload(`/channels/${channelId}`)] }),
    async () => {
      const file = await upload(`/messages/${message}`);
      if (file) await ask('POST', `/messages/${message}/attachments`, file);
    },
    async () => {
      const path = `/messages?channelId=${channelId}&limit=50`;
      const { data } = await app.rest('GET', path, undefined, person.credentials).expect<{ data: ChatMessage[] }>(200);
      const found = random.of(data.filter(({ attachments }) => attachments.length > 0));
      if (found) await ask('DELETE', `/messages/${found.id}/attachments/${found.attachments[0]?.id}`, undefined, admin);
    },
    () => ask('PUT', `/messages/${message}/reactions/${key}`),
    () => ask('PUT', `/messages/${message}/reactions/${key}`),
    () => ask('DELETE', `/messages/${message}/reactions/${key}`),
    () => ask('PUT', `/messages/${message}/pin`),
    () => ask('DELETE', `/messages/${message}/pin`),
    () => ask('PATCH', `/channels/${channelId}`, { name: `Tea ${random.next()}` }),
    () => ask('POST', '/subscriptions', { channelId, subscribedId: guest.id }),
    async () => {
      const path = `/subscriptions?channelId=${channelId}&subscribedId=${guest.id}`;
      const { data } = await app.rest('GET', path, undefined, owner.credentials).expect<{ data: { id: string }[] }>(200);
      const [found] = data;
      if (!found) return;
      if (random.next() < 0.5) await ask('DELETE', `/subscriptions/${found.id}`);
      else await ask('PATCH', `/subscriptions/${found.id}`, { role: random.of(['member', 'moderator']) });
    },
  ];
  await random.of(steps)();
}

async function play(channelId: string, readers: readonly Reader[], random: Random): Promise<void> {
  const messageIds: string[] = [];
  for (let n = 0; n < STEPS; n++) {
    // two at once, as of two people on two servers
    await Promise.all([step(channelId, messageIds, random), step(channelId, messageIds, random)]);
    if (random.next() < 0.1) random.of(readers).drop();
  }
}

async function stored(channelId: string, { person }: Reader) {
  const read = async <Row>(path: string) =>
    (await app.rest('GET', path, undefined, person.credentials).expect<{ data: Row[] }>(200)).data;
  const messages = await read<LoadedMessages['messages'][number]>(`/messages?channelId=${channelId}&limit=50&$orderby=seq`);
  const pinned = await read<{ id: string }>(`/channels/${channelId}/pins?limit=50`);
  const members = await read<{ subscribedId: string; role: string }>(`/subscriptions?channelId=${channelId}`);
  return summaryOf(
    messages,
    pinned.map(({ id }) => id),
    members.map(({ subscribedId, role }) => [subscribedId, role] as const),
  );
}

describe.skipIf(!HAS_REDIS)('three servers over one store and one Redis (skipped where there is no redis-server)', () => {
  it(
    `of ${SCRIPTS} scripts, with drops and kills, each client knows in the end what is stored (CHAT_SEED=${SEED})`,
    { timeout: 600_000 },
    async () => {
      const random = createRandom(SEED);
      const [owner, member] = people;
      const readers = [await openReader(owner, random), await openReader(member, random)];
      const channelIds: string[] = [];
      for (let round = 0; round < SCRIPTS / AT_ONCE; round++) {
        const opened = Array.from({ length: AT_ONCE }, async () => {
          const { id } = await owner.rest('POST', '/channels', { name: 'Tea', ownerId: owner.id }).expect<{ id: string }>(201);
          await owner.rest('POST', '/subscriptions', { channelId: id, subscribedId: member.id }).expect(201);
          for (const reader of readers) follow(reader, id);
          return id;
        });
        const ids = await Promise.all(opened);
        channelIds.push(...ids);
        const playing = Promise.all(ids.map((id, at) => play(id, readers, createRandom(SEED + round * AT_ONCE + at))));
        const [dying] = servers;
        if (round % 2 === 1) {
          await Promise.all([dying?.kill(), playing]);
          servers.push(await start());
          servers.shift();
        }
        await playing;
      }
      for (const reader of readers)
        for (const channelId of channelIds) {
          const known = () => {
            const { loaded, pinned, members } = reader.known.get(channelId) as Known;
            return summaryOf(loaded.messages, pinned, members);
          };
          await expect.poll(known, PATIENCE).toEqual(await stored(channelId, reader));
        }
      for (const { chat } of readers) chat.close();
    },
  );
});
