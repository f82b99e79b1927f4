import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createBarrier, createClient, newAccount } from '../test/clients.js';
import {
  applyToChannel,
  applyToChannels,
  applyToMessages,
  applyToWindow,
  createChatClient,
  createMessageLoader,
  joinChannels,
  joinEarlier,
  joinNewest,
  newestFirst,
  queryOf,
  readUpTo,
  rowsOf,
  uploadFile,
  type ChannelSummary,
  type ChatChange,
  type ChatMessage,
  type LoadedMessages,
  type OwnEvent,
  type TandemClient,
  type TokenStore,
} from './index.js';

const app = fixture(startTestServer);
let client: TandemClient;
let tokens: TokenStore;
let memberId: string;
let channelId: string;
beforeEach(async () => {
  ({ client, tokens } = createClient(app));
  ({ id: memberId } = await client.signUp(newAccount()));
  channelId = await createChannel('Tea');
});

const createChannel = async (name: string) => (await client.api.chat.createChannel.mutate({ name, ownerId: memberId })).id;
const post = (content: string) => app.tandem.services.chat.post({ channelId, senderId: memberId, content });
async function postMany(from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) await post(String(n));
}
const remove = (messageId = '') => client.api.chat.deleteMessage.mutate({ messageId });
const load = (nextToken?: string) => createMessageLoader(client).load(channelId, { nextToken });
async function loadChannels(): Promise<ChannelSummary[]> {
  const { parameters } = queryOf('chat.listChannels').top(10);
  return rowsOf(await client.api.chat.listChannels.query({ memberId, ...parameters }), parameters).value;
}
async function loadChannel(): Promise<ChannelSummary> {
  return (await loadChannels()).find(({ id }) => id === channelId) as ChannelSummary;
}
/** Events of attachments do not tell when the message was changed. */
const unaged = (message: ChatMessage | null | undefined) => message && { ...message, updatedAt: undefined };
const contents = ({ messages }: Pick<LoadedMessages, 'messages'>) => messages.map(({ content }) => content);
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

/** The events of the channel from now on. */
async function follow(): Promise<ChatChange[]> {
  const events: ChatChange[] = [];
  const chat = createChatClient({ url: app.url, client, WebSocket });
  onTestFinished(() => chat.close());
  await new Promise<void>((resolve) => {
    chat.follow(channelId, { onEvent: (event) => void events.push(event), onSubscribed: () => resolve() });
  });
  return events;
}

describe('events', () => {
  it('make of what was loaded what the server then lists, also when they are applied twice', async () => {
    const { api } = client;
    const [first, second] = [await post('first'), await post('second')];
    const [before, channelBefore] = [await load(), await loadChannel()];
    const events = await follow();
    const third = await post('third');
    await api.chat.patchMessage.mutate({ messageId: second.id, content: 'second, changed' });
    await remove(first.id);
    const { id: messageId } = await post('fourth');
    await remove(messageId);
    await app.tandem.services.chat.messages.restore(messageId);
    await api.chat.patchMessage.mutate({ messageId, content: 'fourth, changed' });
    async function attach() {
      const file = await uploadFile(api.chat.attachmentUploadUrl, { messageId }, new Blob(['a'], { type: 'text/plain' }));
      return (await api.chat.addAttachment.mutate({ messageId, ...file })).id;
    }
    const [attachmentId, otherId] = [await attach(), await attach()];
    await api.chat.removeAttachment.mutate({ messageId, attachmentId });
    for (const key of ['👍', 'gone']) await api.chat.addReaction.mutate({ messageId, key });
    await api.chat.removeReaction.mutate({ messageId, key: 'gone' });
    await api.chat.addReaction.mutate({ messageId: second.id, key: '👍' });
    await api.chat.patchMessage.mutate({ messageId, content: 'fourth, changed' });
    // no event of the whole message comes after these
    await api.chat.removeAttachment.mutate({ messageId, attachmentId: otherId });
    await attach();
    await api.chat.patchChannel.mutate({ channelId, name: 'Coffee' });
    await api.chat.markRead.mutate({ channelId, identityId: memberId, lastReadMessageId: third.id });
    await expect.poll(() => events.at(-1)?.type, PATIENCE).toBe('read');

    const [messages, channel] = [await load(), await loadChannel()];
    expect(contents(messages)).toEqual(['second, changed', 'third', 'fourth, changed']);
    expect([channel.name, channel.unread, channel.lastMessage?.content]).toEqual(['Coffee', 1, 'fourth, changed']);
    for (const told of [events, [...events, ...events]]) {
      const { messages: all, ...rest } = told.reduce((known, event) => applyToMessages(known, event, memberId), before);
      const applied = told.reduce((known, event) => applyToChannel(known, event, memberId), channelBefore);
      const { lastMessage, ...others } = applied;
      expect({ ...rest, messages: all.map(unaged) }).toEqual({ ...messages, messages: messages.messages.map(unaged) });
      expect({ ...others, lastMessage: unaged(lastMessage) }).toEqual({ ...channel, lastMessage: unaged(channel.lastMessage) });
    }
  });

  it('change nothing of what is not loaded, is known already, or was read by others', async () => {
    const [message] = [await post('first'), await post('second')];
    const [loaded, channel] = [await load(), await loadChannel()];
    const restored: ChatChange = { type: 'message.updated', channelId, message: { ...message, id: channelId, seq: 0 } };
    const more = { ...loaded, nextToken: 'more' };
    expect(applyToMessages(more, restored)).toBe(more);
    expect(applyToWindow({ ...loaded, hasEarlier: true, hasLater: false }, restored).messages).toEqual(loaded.messages);
    expect(applyToMessages(loaded, restored).messages.map(({ seq }) => seq)).toEqual([0, 1, 2]);
    const known: ChatChange = { type: 'message.created', channelId, message };
    const read: ChatChange = { type: 'read', channelId, identityId: channelId, messageId: channelId, seq: 1 };
    for (const event of [restored, known, read]) expect(applyToChannel(channel, event, memberId)).toBe(channel);
    expect(readUpTo(readUpTo(channel, 2), 1)).toMatchObject({ readSeq: 2, unread: 0 });
  });
});

/** A loader whose answers wait until they may come. */
function createSlowLoader() {
  const answer = createBarrier('an answer');
  const slow = createClient(app, {
    tokens,
    fetch: async (...call) => {
      const response = await fetch(...call);
      await answer.wait();
      return response;
    },
  });
  return { answer, loader: createMessageLoader(slow.client) };
}

describe('messages', () => {
  it('are loaded with what happens to them in the meantime', async () => {
    const known = await post('deleted meanwhile');
    const { answer, loader } = createSlowLoader();
    const loading = loader.load(channelId);
    await answer.arrived;
    const message = await post('posted meanwhile');
    loader.hear({ type: 'message.created', channelId, message });
    loader.hear({ type: 'message.created', channelId: memberId, message: { ...message, id: memberId } });
    loader.hear({ type: 'message.deleted', channelId, messageId: known.id, seq: known.seq });
    answer.open();
    expect(contents(await loading)).toEqual(['posted meanwhile']);
  });

  it('are joined page by page, and with what came since', async () => {
    await postMany(1, 60);
    const newest = await load();
    expect(contents(newest)).toEqual(numbers(11, 60));
    const { nextToken = '' } = newest;
    const loader = createMessageLoader(client);
    const loading = loader.load(channelId, { nextToken });
    loader.hear({ type: 'message.created', channelId, message: await post('61') });
    const all = joinEarlier(newest, await loading, nextToken);
    expect([contents(all), all.nextToken]).toEqual([numbers(1, 60), undefined]);
    expect(joinEarlier(all, newest, nextToken)).toBe(all);
    await postMany(62, 65);
    expect(contents(joinNewest(all, await load()))).toEqual(numbers(1, 65));
  });

  it('are loaded around one, and from there to both ends, with what happens to them in the meantime', async () => {
    await postMany(1, 120);
    const loader = createMessageLoader(client, { expand: ['sender'] });
    const around = await loader.loadAround(channelId, 60);
    expect(around).toMatchObject({ hasEarlier: true, hasLater: true });
    expect(around.messages[0]).toMatchObject({ sender: { id: memberId } });
    expect(contents(around)).toEqual(numbers(35, 84));
    const whole = await loader.extend(channelId, await loader.extend(channelId, around, 'earlier'), 'later');
    expect([contents(whole), whole.hasEarlier, whole.hasLater]).toEqual([numbers(1, 120), false, false]);
    const extending = loader.extend(channelId, around, 'later');
    const message = await post('121');
    loader.hear({ type: 'message.created', channelId, message });
    loader.hear({ type: 'message.deleted', channelId, messageId: around.messages[0]?.id ?? '', seq: 35 });
    expect(contents(await extending)).toEqual([...numbers(36, 120), '121']);
    const created: ChatChange = { type: 'message.created', channelId, message };
    expect(applyToWindow(around, created)).toBe(around);
    expect(contents(applyToWindow(whole, created))).toEqual(numbers(1, 121));
    expect(await loader.loadAround(channelId, 1)).toMatchObject({ hasEarlier: false, hasLater: true });
  });

  it('keep their senders when what comes later has none, as an acknowledgement', async () => {
    const message = await post('Hello');
    const loaded = await createMessageLoader(client, { expand: ['sender'] }).load(channelId);
    const { messages } = applyToMessages(loaded, { type: 'message.created', channelId, message });
    expect(messages).toMatchObject([{ content: 'Hello', sender: { id: memberId } }]);
  });

  it('that come back after their deletion have the reader’s reactions as before, which no event tells', async () => {
    const { id } = await post('first');
    await client.api.chat.addReaction.mutate({ messageId: id, key: 'ok' });
    const loaded = await load();
    const [message] = loaded.messages;
    const gone = { type: 'message.deleted', channelId, change: 5, messageId: id, seq: 1 } as const;
    const sent = { ...(message as ChatMessage), reactions: [{ key: 'ok', count: 1 }] };
    const back = { type: 'message.updated', channelId, change: 6, message: sent } as const;
    expect(applyToMessages(loaded, gone, memberId).messages).toEqual([]);
    const restored = [gone, back, gone, back].reduce<LoadedMessages>((at, event) => applyToMessages(at, event, memberId), loaded);
    expect(restored.messages).toEqual([message]);
    const window = { ...loaded, hasEarlier: false, hasLater: false };
    const returned = [gone, back].reduce((at, event) => applyToWindow(at, event, memberId), window);
    expect(returned.messages).toEqual([message]);
  });

  it('have them also where earlier or newer ones were loaded meanwhile', async () => {
    await postMany(1, 60);
    const known = await load();
    const [message] = known.messages;
    await client.api.chat.addReaction.mutate({ messageId: message?.id ?? '', key: 'ok' });
    const loaded = await load();
    const { id = '', seq = 0 } = loaded.messages[0] ?? {};
    const gone = { type: 'message.deleted', channelId, change: 62, messageId: id, seq } as const;
    const after = applyToMessages(loaded, gone, memberId);
    const { nextToken = '' } = loaded;
    const earlier = joinEarlier(after, await load(nextToken), nextToken);
    await postMany(61, 62);
    const joined = joinNewest(earlier, await load());
    const sent = { ...(loaded.messages[0] as ChatMessage), reactions: [{ key: 'ok', count: 1 }] };
    for (const one of [earlier, joined]) {
      const { messages } = applyToMessages(one, { type: 'message.updated', channelId, change: 63, message: sent }, memberId);
      expect(messages.find((shown) => shown.id === id)?.reactions).toEqual([{ key: 'ok', count: 1, mine: true }]);
    }
  });

  it('are not joined over a gap, nor with earlier ones that are no longer wanted', async () => {
    await postMany(1, 60);
    const known = await load();
    await postMany(61, 111);
    const newest = joinNewest(known, await load());
    expect(contents(newest)).toEqual(numbers(62, 111));
    const { nextToken = '' } = known;
    expect(joinEarlier(newest, await load(nextToken), nextToken)).toBe(newest);
  });

  it('that are deleted on the server do not survive among the earlier ones', async () => {
    await postMany(1, 3);
    const known = await load();
    await remove(known.messages[0]?.id);
    expect(contents(joinNewest(known, await load()))).toEqual(['2', '3']);
    await remove(known.messages[1]?.id);
    await remove(known.messages[2]?.id);
    expect(contents(joinNewest(known, await load()))).toEqual([]);
  });
});

describe('channels', () => {
  it('are loaded with what happens to them in the meantime, also where none were known', async () => {
    const [other, gone] = [await createChannel('Coffee'), await createChannel('Cocoa')];
    const { answer, loader } = createSlowLoader();
    const loading = loader.loadChannels(memberId, 10);
    await answer.arrived;
    const message = await post('posted meanwhile');
    loader.hear({ type: 'message.created', channelId, message });
    loader.hear({ type: 'channel.removed', channelId: gone });
    loader.hear({ type: 'unread', channelId: other, unread: 2, lastSeq: 3 });
    answer.open();
    const shown = (await loading).map(({ id, lastMessage, unread }) => [id, [lastMessage, unread]]);
    expect(Object.fromEntries(shown)).toEqual({ [channelId]: [message, 1], [other]: [null, 2] });
  });

  it('that an answer knows less of than the events keep what these have told', async () => {
    const asked = await loadChannels();
    const message = await post('posted meanwhile');
    const known = asked.map((channel) => applyToChannel(channel, { type: 'message.created', channelId, message }, memberId));
    const [joined] = joinChannels(known, asked);
    expect([joined?.lastMessage, joined?.unread]).toEqual([message, 1]);
    const read = known.map((channel) => readUpTo(channel, 1));
    expect(joinChannels(read, known).map(({ unread }) => unread)).toEqual([0]);
    await remove(message.id);
    const [empty] = joinChannels(known, await loadChannels());
    expect(empty).toMatchObject({ lastMessage: null, lastSeq: 1 });
    const restored: ChatChange = { type: 'message.updated', channelId, message };
    expect(empty && applyToChannel(empty, restored, memberId).lastMessage).toEqual(message);
    expect(joinChannels(undefined, asked)).toMatchObject(asked);
  });

  it('are ordered by their last message, else by their creation', async () => {
    const [coffee, milk] = [await createChannel('Coffee'), await createChannel('Milk')];
    app.clock.advance(1000);
    await post('the newest of all');
    expect(newestFirst(await loadChannels()).map(({ id }) => id)).toEqual([channelId, milk, coffee]);
  });
});

describe('events of one’s own channels', () => {
  it('make of the channels that were loaded what the server then lists, also when they are applied twice', async () => {
    const bob = await app.signUp();
    const other = await createChannel('Coffee');
    const before = await loadChannels();
    const events: OwnEvent[] = [];
    const chat = createChatClient({ url: app.url, client, WebSocket });
    onTestFinished(() => chat.close());
    await new Promise<void>((resolve) => {
      chat.followOwn({ onEvent: (event) => void events.push(event), onSubscribed: () => resolve() });
    });
    await expect(async () => chat.followOwn({})).rejects.toThrow('followed already');
    const first = await post('first');
    await client.api.chat.markRead.mutate({ channelId, identityId: memberId, lastReadMessageId: first.id });
    await post('second');
    await client.api.chat.deleteChannel.mutate({ channelId: other });
    const added = await bob.rest('POST', '/channels', { name: 'Added', ownerId: bob.id }).expect<{ id: string }>(201);
    await bob.rest('POST', '/subscriptions', { channelId: added.id, subscribedId: memberId }).expect(201);
    await expect.poll(() => events.at(-1), PATIENCE).toMatchObject({ type: 'channel.added', channel: { id: added.id } });
    await expect.poll(() => events.findLast(({ type }) => type === 'unread'), PATIENCE).toMatchObject({ unread: 1, lastSeq: 2 });
    const bare = (channels: readonly ChannelSummary[]) =>
      channels.map(({ id, name, unread, lastSeq, readSeq }) => ({ id, name, unread, lastSeq, readSeq }));
    const after = bare(await loadChannels()).toSorted((one, two) => one.id.localeCompare(two.id));
    for (const told of [events, [...events, ...events]])
      expect(bare(told.reduce<readonly ChannelSummary[]>(applyToChannels, before))).toEqual(after);
  });
});
