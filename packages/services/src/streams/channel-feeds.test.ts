import { createInProcessBus, type EventBus } from '@tandem/core';
import { PATIENCE, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openChannel, subscribe } from '../../test/chat-world.js';
import { publishChatEvent, type ChatEvent } from '../chat/chat-events.js';
import type { ChatService } from '../chat/chat.service.js';
import { messageModel } from '../chat/message.model.js';
import type { Message } from '../chat/messages.schemas.js';
import type { PeopleService } from '../people/people.service.js';
import { createSenderCards } from './sender-cards.js';
import { createChannelFeeds, type ChannelReader } from './channel-feeds.js';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
let channelId: string;
beforeEach(async () => {
  channelId = (await openChannel(ann)).id;
});

/** What others write is told on no bus but where a test publishes it. */
const post = (content: string): Promise<Message> => app.tandem.services.chat.post({ channelId, senderId: ann.id, content });

/** A bus that says that it has missed something when a test says so. */
function createMissingBus(): EventBus & { resume(): void } {
  const bus = createInProcessBus(SILENT);
  const listeners = new Set<() => void>();
  return {
    publish: bus.publish,
    subscribe(topic, handler, onResumed = () => {}) {
      const stop = bus.subscribe(topic, handler);
      listeners.add(onResumed);
      return () => {
        listeners.delete(onResumed);
        stop();
      };
    },
    resume() {
      for (const listener of listeners) listener();
    },
  };
}

/** Keeps back the answer to one question, once the store has given it. */
function createBarrier() {
  let [arrive, open] = [() => {}, () => {}];
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  let isUsed = false;
  async function pass<T>(answer: Promise<T>): Promise<T> {
    const value = await answer;
    if (isUsed) return value;
    isUsed = true;
    arrive();
    await opened;
    return value;
  }
  return { arrived, open, pass };
}

const sendersOf = (people: Pick<PeopleService, 'cardsOf'> = app.tandem.services.people) =>
  createSenderCards({ chat: app.tandem.services.chat, people, log: SILENT });

/**
 * A reading of the channel over a bus of its own.
 * @param slow what takes its time of what is asked of the chat
 * @param people asked for senders
 */
async function read(slow: Partial<ChatService> = {}, people?: Pick<PeopleService, 'cardsOf'>) {
  const bus = createMissingBus();
  const chat = { ...app.tandem.services.chat, ...slow };
  const feeds = createChannelFeeds({ bus, chat, senders: sendersOf(people), log: SILENT });
  const told: string[] = [];
  const reader: ChannelReader = {
    identityId: ann.id,
    hasSenders: people !== undefined,
    from: undefined,
    take(event) {
      const { type, ...rest } = event as ChatEvent;
      if ('message' in rest)
        told.push([type, rest.message.seq, ...('sender' in rest.message ? [rest.message.sender?.id] : [])].join(' '));
      else if ('seq' in rest) told.push(`${type} ${rest.seq}`);
      else if (type === 'channel.deleted') told.push(type);
    },
    isReading: true,
    removed: () => void told.push('removed'),
  };
  onTestFinished(() => feeds.leave(channelId, reader));
  const started = feeds.start(channelId, reader);
  return { bus, feeds, told, started, publish: (event: ChatEvent) => publishChatEvent(bus, event) };
}

/** The number of a stored change. */
async function numberOf(filter: object): Promise<number> {
  const found = await app.storage.model(messageModel).collection.findOne(filter);
  return Number(found?.['change']);
}
const created = async (message: Message): Promise<ChatEvent> => ({ type: 'message.created', channelId, change: await numberOf({ _id: message.id }), message }); // prettier-ignore
/** Deletes a message. @returns what its readers are told */
async function deleted({ id, seq }: Message): Promise<ChatEvent> {
  await ann.rest('DELETE', `/messages/${id}`).expect(204);
  return { type: 'message.deleted', channelId, change: await numberOf({ recordId: id }), messageId: id, seq };
}

describe('the readers of a channel', () => {
  it('are told what has come of the messages before one that they are told of, which were announced to nobody', async () => {
    const { started, told, publish } = await read();
    await started;
    const [first, lost, last] = [await post('1'), await post('2'), await post('3')];
    publish(await created(first));
    await deleted(lost);
    publish(await created(last));
    await expect.poll(() => told, PATIENCE).toEqual(['message.created 1', 'message.created 3', 'message.deleted 2']);
  });

  it('receive what was missed while the store was being read', async () => {
    const { changesSince } = app.tandem.services.chat;
    const barrier = createBarrier();
    const { started, told, bus } = await read({ changesSince: (...asked) => barrier.pass(changesSince(...asked)) });
    await started;
    await post('1');
    bus.resume();
    await barrier.arrived;
    await post('2');
    bus.resume();
    barrier.open();
    await expect.poll(() => told, PATIENCE).toEqual(['message.created 1', 'message.created 2']);
  });

  it('receive nothing twice, and no change before its message, while the store is being read', async () => {
    const { changesSince } = app.tandem.services.chat;
    const barrier = createBarrier();
    const { started, told, bus, publish } = await read({ changesSince: (...asked) => barrier.pass(changesSince(...asked)) });
    await started;
    const [first, second] = [await post('1'), await post('2')];
    bus.resume();
    await barrier.arrived;
    publish(await deleted(second));
    publish(await created(first));
    barrier.open();
    await expect.poll(() => told, PATIENCE).toEqual(['message.created 1', 'message.created 2', 'message.deleted 2']);
  });

  it('are told what was missed behind more messages that do not fit their schema than are read at once', async () => {
    const { started, told, bus } = await read();
    await started;
    await Promise.all(Array.from({ length: 120 }, (_, n) => post(`${n}`)));
    const { collection } = app.storage.model(messageModel);
    await collection.updateMany({ channelId, seq: { $lt: 120 } }, { $set: { content: 5 } });
    bus.resume();
    await expect.poll(() => told, PATIENCE).toEqual(['message.created 120']);
  });

  it('are told what was missed while it was being found out where they begin', async () => {
    const { membershipOf } = app.tandem.services.chat;
    const barrier = createBarrier();
    const { started, told, bus } = await read({ membershipOf: (...asked) => barrier.pass(membershipOf(...asked)) });
    await barrier.arrived;
    await post('1');
    bus.resume();
    barrier.open();
    expect(await started).toMatchObject({ lastSeq: 0, lastChange: 1 });
    await expect.poll(() => told, PATIENCE).toEqual(['message.created 1']);
  });

  it('receive what was missed once the store answers again', async () => {
    const { changesSince } = app.tandem.services.chat;
    let failures = 1;
    const { started, told, bus } = await read({
      changesSince: (...asked) => (failures-- > 0 ? Promise.reject(new Error('away')) : changesSince(...asked)),
    });
    await started;
    await post('1');
    bus.resume();
    await expect.poll(() => told, PATIENCE).toEqual(['message.created 1']);
  });
});

describe('the readers of a channel that ask for senders', () => {
  it('get all events in their order, though others do not wait for senders, which are read once for many messages', async () => {
    const barrier = createBarrier();
    const lookups: (readonly string[])[] = [];
    const { cardsOf } = app.tandem.services.people;
    const people = {
      cardsOf(ids: readonly string[]) {
        lookups.push(ids);
        return barrier.pass(cardsOf(ids));
      },
    };
    const { feeds, started, told, publish } = await read({}, people);
    await started;
    const others: object[] = [];
    const other: ChannelReader = { identityId: ann.id, from: undefined, isReading: true, hasSenders: false, take: (event) => void others.push(event), removed() {} }; // prettier-ignore
    await feeds.start(channelId, other);
    const messages = [await post('1'), await post('2')] as const;
    const events = [
      await created(messages[0]),
      await created(messages[1]),
      await deleted(messages[0]),
      { type: 'subscription.deleted', channelId, change: 5, identityId: ann.id, role: 'member' },
    ] as const;
    for (const event of events) publish(event);
    expect(others).toEqual(events);
    await barrier.arrived;
    expect(told).toEqual([]);
    barrier.open();
    const sent = [`message.created 1 ${ann.id}`, `message.created 2 ${ann.id}`, 'message.deleted 1', 'removed'];
    await expect.poll(() => told, PATIENCE).toEqual(sent);
    expect(lookups).toEqual([[ann.id]]);
  });

  it('get messages without senders where these cannot be read', async () => {
    const { started, told, publish } = await read({}, { cardsOf: () => Promise.reject(new Error('away')) });
    await started;
    publish(await created(await post('1')));
    await expect.poll(() => told, PATIENCE).toEqual(['message.created 1']);
  });
});

it('an identity that starts to read many channels at once starts them one by one, and delays nobody else', async () => {
  const ben = await app.signUp();
  const asked: string[] = [];
  const barrier = createBarrier();
  const { membershipOf } = app.tandem.services.chat;
  const chat: ChatService = {
    ...app.tandem.services.chat,
    membershipOf(identityId, of) {
      asked.push(identityId);
      return barrier.pass(membershipOf(identityId, of));
    },
  };
  const feeds = createChannelFeeds({ bus: createMissingBus(), chat, senders: sendersOf(), log: SILENT });
  const start = ({ id: identityId }: Person, isReading = true) => {
    const reader: ChannelReader = { identityId, from: undefined, isReading, hasSenders: false, take() {}, removed() {} };
    onTestFinished(() => feeds.leave(channelId, reader));
    return feeds.start(channelId, reader);
  };
  const ofAnn = [start(ann), start(ann), start(ann)];
  const left = start(ann, false);
  await barrier.arrived;
  await subscribe(ann, channelId, ben.id);
  await start(ben);
  expect(asked).toEqual([ann.id, ben.id]);
  barrier.open();
  expect(await Promise.all(ofAnn)).toHaveLength(3);
  await expect(left).rejects.toMatchObject({ status: 503 });
  expect(asked).toEqual([ann.id, ben.id, ann.id, ann.id]);
});

it('readers are told of the deletion of the channel that is on its way when it is seen that they are no members any more', async () => {
  let deletion: ChatEvent | undefined;
  const { started, told, publish } = await read({
    async membersAmong(asked) {
      const members = await app.tandem.services.chat.membersAmong(asked);
      if (deletion) setImmediate(publish, deletion);
      return members;
    },
  });
  await started;
  await ann.rest('DELETE', `/channels/${channelId}`).expect(204);
  deletion = { type: 'channel.deleted', channelId, change: await numberOf({ recordId: channelId }) };
  await expect.poll(() => told, PATIENCE).toEqual(['channel.deleted', 'removed']);
});
