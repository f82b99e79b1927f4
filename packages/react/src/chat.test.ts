import { PATIENCE, fixture, startTestServer, type Person } from '@tandem/testing';
import { useState } from 'react';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { channelOf, contents } from '../test/channels.js';
import { render } from '../test/render.js';
import { createSlowFetch } from '../test/slow-fetch.js';
import { createSockets } from '../test/sockets.js';
import { tokensOf } from '../test/tokens.js';
import { useChannel, type Channel } from './index.js';

const app = fixture(startTestServer);
const services = fixture(() => app.tandem.services);

describe('useChannel', () => {
  it('shows the messages of a channel, and sends: pending until they are stored', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob]);
    await services.chat.post({ channelId, senderId: bob.id, content: 'before' });
    const { until, all } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    const { send } = await until(({ isLive, messages }) => isLive && messages?.length === 1);
    send('from Ann');
    await until(({ messages, pending }) => messages?.length === 2 && pending.length === 0);
    await services.chat.post({ channelId, senderId: bob.id, content: 'from Bob' });
    const { messages } = await until((channel) => channel.messages?.length === 3);
    expect(contents(messages)).toEqual(['before', 'from Ann', 'from Bob']);
    // never both pending and stored, nor neither
    const shown = all.map((channel) => [...(contents(channel.messages) ?? []), ...contents(channel.pending)!]);
    const sent = shown.findIndex((texts) => texts.includes('from Ann'));
    expect(shown.slice(sent).every((texts) => texts.filter((text) => text === 'from Ann').length === 1)).toBe(true);
  });

  it('shows messages with the names of their senders, of people not seen before too, without asking for them', async () => {
    const [ann, bob, cem] = [await app.signUp(), await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob, cem]);
    for (const [person, name] of [
      [bob, 'Bob'],
      [cem, 'Cem'],
    ] as const)
      // prettier-ignore
      await person.rest('POST', '/profiles', { identityId: person.id, name }).expect(201);
    await services.chat.post({ channelId, senderId: bob.id, content: 'before' });
    const asked: string[] = [];
    const noted: typeof fetch = (...request) => {
      asked.push(new Request(...request).url);
      return fetch(...request);
    };
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), fetch: noted });
    await until(({ isLive, messages }) => isLive && messages?.[0]?.sender?.name === 'Bob');
    await services.chat.post({ channelId, senderId: cem.id, content: 'after' });
    const { messages } = await until((channel) => channel.messages?.length === 2);
    expect(messages?.map(({ sender }) => sender?.name)).toEqual(['Bob', 'Cem']);
    expect(asked.filter((url) => /people|profiles/.test(url))).toEqual([]);
  });

  it('shows a reaction at once, as the server has it then, and takes it back when the server refuses', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob]);
    const { id: messageId } = await services.chat.post({ channelId, senderId: bob.id, content: 'Tea?' });
    await bob.rest('PUT', `/messages/${messageId}/reactions/ok`).expect(204);
    let letGo = () => {};
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const holding: typeof fetch = async (...request) => {
      if (new Request(...request).url.includes('Reaction')) await held;
      return fetch(...request);
    };
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), fetch: holding });
    type Shown = Pick<Channel, 'messages' | 'error'>;
    const shows = (...reactions: object[]) => ({ messages }: Shown) => JSON.stringify(messages?.[0]?.reactions) === JSON.stringify(reactions); // prettier-ignore
    const [ofBob, ofBoth] = [
      { key: 'ok', count: 1, mine: false },
      { key: 'ok', count: 2, mine: true },
    ];
    const { toggleReaction } = await until((channel) => channel.isLive && shows(ofBob)(channel));
    toggleReaction(messageId, 'ok');
    toggleReaction(messageId, 'NO');
    await until(shows(ofBoth, { key: 'NO', count: 1, mine: true }));
    // both, before the server has heard of the first
    toggleReaction(messageId, 'ok');
    await until(shows(ofBob, { key: 'NO', count: 1, mine: true }));
    toggleReaction(messageId, 'ok');
    letGo();
    const { error } = await until((channel) => channel.error !== null && shows(ofBoth)(channel));
    expect(error?.message).toBe('Validation Error');
    toggleReaction(messageId, 'ok');
    await until(shows(ofBob));
    await bob.rest('DELETE', `/messages/${messageId}/reactions/ok`).expect(204);
    await until(shows());
    expect((await ann.rest('GET', `/messages/${messageId}`)).body).toMatchObject({ reactions: [] });
  });

  it('sends a reply that names a member, and again with both after a refusal', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann);
    const { id: replyToId } = await services.chat.post({ channelId, senderId: ann.id, content: 'Tea?' });
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    const { send } = await until(({ isLive, messages }) => isLive && messages?.length === 1);
    send('Bob?', { replyToId, mentions: [bob.id] });
    const { pending } = await until((channel) => channel.pending[0]?.failure !== undefined);
    await ann.rest('POST', '/subscriptions', { channelId, subscribedId: bob.id }).expect(201);
    pending[0]?.retry();
    const { messages } = await until((channel) => channel.messages?.length === 2 && channel.pending.length === 0);
    expect(messages?.[1]).toMatchObject({ content: 'Bob?', replyToId, mentions: [bob.id] });
  });

  it('keeps a message that the server refuses, with the reason, until it is discarded', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    const { send } = await until(({ isLive }) => isLive);
    send('x'.repeat(10_001));
    const [refused] = (await until(({ pending }) => pending[0]?.failure !== undefined)).pending;
    expect(refused?.failure?.message).toBe('Validation Error');
    refused?.discard();
    await until(({ pending }) => pending.length === 0);
  });

  it('delivers what was sent and misses nothing when the connection drops, changes and deletions included', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob]);
    const sockets = createSockets();
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    const { send } = await until(({ isLive, messages }) => isLive && messages !== undefined);
    send('first');
    send('second');
    const { messages = [] } = await until((channel) => channel.messages?.length === 2);
    sockets.cut();
    await until(({ isLive }) => !isLive);
    const [first, second] = messages;
    await ann.rest('PATCH', `/messages/${first?.id}`, { content: 'changed' }).expect(200);
    await ann.rest('DELETE', `/messages/${second?.id}`).expect(204);
    await services.chat.post({ channelId, senderId: bob.id, content: 'meanwhile' });
    send('third');
    await until((channel) => contents(channel.messages)?.join() === 'changed,meanwhile,third' && channel.pending.length === 0);
  });

  it('loads earlier messages on request, and keeps them when it loads again', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    for (let n = 1; n <= 60; n++) await services.chat.post({ channelId, senderId: ann.id, content: String(n) });
    const { until, queries } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    const { hasEarlier, loadEarlier } = await until(({ messages }) => messages?.length === 50);
    expect(hasEarlier).toBe(true);
    await loadEarlier();
    const numbers = Array.from({ length: 60 }, (_, n) => String(n + 1));
    expect(contents((await until((channel) => !channel.hasEarlier)).messages)).toEqual(numbers);
    await queries.invalidateQueries();
    await services.chat.post({ channelId, senderId: ann.id, content: '61' });
    const { messages } = await until((channel) => channel.messages?.at(-1)?.content === '61');
    expect(contents(messages)).toEqual([...numbers, '61']);
  });

  it('shows no failure of another channel', async () => {
    const ann = await app.signUp();
    const [channelId, elsewhere] = [await channelOf(ann), await channelOf(ann)];
    for (let n = 1; n <= 51; n++) await services.chat.post({ channelId, senderId: ann.id, content: String(n) });
    let go = (_to: string) => {};
    const hooks = () => {
      const [at, setAt] = useState(channelId);
      go = setAt;
      return useChannel(at);
    };
    const failing: typeof fetch = (...request) =>
      new Request(...request).url.includes('nextToken') ? Promise.reject(new TypeError('fetch failed')) : fetch(...request);
    const { until } = render(app, hooks, { tokens: tokensOf(ann), fetch: failing });
    const { loadEarlier } = await until(({ messages }) => messages?.length === 50);
    await expect(loadEarlier()).rejects.toThrow('cannot be reached');
    await until(({ error }) => error !== null);
    go(elsewhere);
    expect((await until(({ messages }) => messages?.length === 0)).error).toBeNull();
  });

  it('shows on the way back what was changed and deleted meanwhile, in earlier pages too', async () => {
    const ann = await app.signUp();
    const [channelId, elsewhere] = [await channelOf(ann), await channelOf(ann)];
    const posted: { id: string }[] = [];
    for (let n = 1; n <= 60; n++) posted.push(await services.chat.post({ channelId, senderId: ann.id, content: String(n) }));
    let go = (_to: string) => {};
    const hooks = () => {
      const [at, setAt] = useState(channelId);
      go = setAt;
      return useChannel(at);
    };
    const { WebSocket: Recorded, heard } = createSockets();
    const { until, queries } = render(app, hooks, { tokens: tokensOf(ann), WebSocket: Recorded });
    const { loadEarlier } = await until(({ messages }) => messages?.length === 50 && heard('"subscribed"'));
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    await loadEarlier();
    await until(({ messages }) => messages?.length === 60);
    go(elsewhere);
    await until(({ messages }) => messages?.length === 0);
    await ann.rest('PATCH', `/messages/${posted[0]?.id}`, { content: 'changed' }).expect(200);
    await ann.rest('DELETE', `/messages/${posted[1]?.id}`).expect(204);
    go(channelId);
    const { messages, hasEarlier } = await until((channel) => channel.messages?.[0]?.content === 'changed');
    expect([messages?.length, messages?.[1]?.content, hasEarlier]).toEqual([59, '3', false]);
  });

  it('is not taken back by an answer that is older than what has happened', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    const { id } = await services.chat.post({ channelId, senderId: ann.id, content: 'before' });
    const slow = createSlowFetch();
    const { until, queries } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), fetch: slow.fetch });
    await until(({ isLive, messages }) => isLive && messages?.length === 1);
    const release = slow.hold();
    void queries.invalidateQueries();
    await expect.poll(slow.waiting, PATIENCE).toBeGreaterThan(0);
    await ann.rest('PATCH', `/messages/${id}`, { content: 'after' }).expect(200);
    await until((channel) => contents(channel.messages)?.[0] === 'after');
    release();
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    expect(contents((await until(() => true)).messages)).toEqual(['after']);
  });

  it('goes on showing a message that was acknowledged, also where an older answer arrives before its event', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    class WithoutEvents extends WebSocket {
      override emit(name: string | symbol, ...given: unknown[]): boolean {
        return name === 'message' && String(given[0]).includes('"message.created"') ? false : super.emit(name, ...given);
      }
    }
    const slow = createSlowFetch();
    const { until, queries } = render(app, () => useChannel(channelId), {
      tokens: tokensOf(ann),
      fetch: slow.fetch,
      WebSocket: WithoutEvents,
    });
    const { send } = await until(({ isLive, messages }) => isLive && messages !== undefined);
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    const release = slow.hold();
    void queries.invalidateQueries();
    await expect.poll(slow.waiting, PATIENCE).toBeGreaterThan(0);
    send('Tea?');
    await until(({ messages, pending }) => messages?.length === 1 && pending.length === 0);
    release();
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    expect(contents((await until(() => true)).messages)).toEqual(['Tea?']);
  });

  it('shows who is typing, until the message comes', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob]);
    const open = (person: Person) => render(app, () => useChannel(channelId), { tokens: tokensOf(person) });
    const [annsPage, bobsPage] = [open(ann), open(bob)];
    await annsPage.until(({ isLive }) => isLive);
    const { sayTyping, send } = await bobsPage.until(({ isLive }) => isLive);
    // reported at the earliest when both follow the channel
    await annsPage.until(({ typing }) => {
      sayTyping();
      return typing.join() === bob.id;
    });
    send('Tea?');
    const { typing } = await annsPage.until(({ messages }) => messages?.length === 1);
    expect(typing).toEqual([]);
    expect(bobsPage.all.every((channel) => channel.typing.length === 0)).toBe(true);
  });

  it('shows a message that is stored as such, also where its acknowledgement is lost', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    class WithoutAcks extends WebSocket {
      override emit(name: string | symbol, ...given: unknown[]): boolean {
        return name === 'message' && String(given[0]).includes('"ack"') ? false : super.emit(name, ...given);
      }
    }
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), WebSocket: WithoutAcks });
    const { send } = await until(({ isLive }) => isLive);
    send('Tea?');
    const { pending } = await until(({ messages }) => messages?.length === 1);
    expect(pending).toEqual([]);
  });

  it('sends a refused message again on request', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann);
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(bob) });
    const { send } = await until(({ error }) => error?.status === 403);
    send('Tea?');
    const { pending } = await until(({ pending: [first] }) => first?.failure !== undefined);
    await ann.rest('POST', '/subscriptions', { channelId, subscribedId: bob.id }).expect(201);
    pending[0]?.retry();
    await until((channel) => channel.pending.length === 0);
    const stored = await ann.rest('GET', `/channels/${channelId}/messages`);
    expect(stored.body).toMatchObject({ data: [{ content: 'Tea?' }] });
  });
});
