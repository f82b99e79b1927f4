import { PATIENCE, fixture, startTestServer, storeCopies } from '@tandem/testing';
import { focusManager } from '@tanstack/react-query';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { channelOf, contents } from '../test/channels.js';
import { render } from '../test/render.js';
import { createSlowFetch } from '../test/slow-fetch.js';
import { createSockets } from '../test/sockets.js';
import { tokensOf } from '../test/tokens.js';
import { useChannel, useChannels } from './index.js';

const app = fixture(startTestServer);
const services = fixture(() => app.tandem.services);

describe('useChannels', () => {
  it('shows all channels with their last message and what is unread, over the connection of useChannel', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [tea, coffee] = [await channelOf(ann, [bob]), await channelOf(ann, [bob])];
    const sockets = createSockets();
    const hooks = () => [useChannels(), useChannel(tea)] as const;
    const { until } = render(app, hooks, { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    await until(([{ channels, isLive }, { messages }]) => isLive && channels?.length === 2 && messages !== undefined);
    await services.chat.post({ channelId: tea, senderId: bob.id, content: 'tea?' });
    await services.chat.post({ channelId: coffee, senderId: bob.id, content: 'coffee?' });
    // what is unread may be known before the messages are
    const [list, channel] = await until(
      ([{ channels, unread }, { messages }]) =>
        unread === 2 && messages?.length === 1 && channels?.every(({ lastMessage }) => lastMessage) === true,
    );
    expect(list.channels?.map(({ id, unread, lastMessage }) => [id, unread, lastMessage?.content])).toEqual([
      [coffee, 1, 'coffee?'],
      [tea, 1, 'tea?'],
    ]);
    expect(contents(channel.messages)).toEqual(['tea?']);
    channel.markRead();
    const [{ refetch }] = await until(([{ unread }]) => unread === 1);
    const cocoa = await channelOf(ann, [bob]);
    await refetch();
    await until(([{ channels }]) => channels?.length === 3);
    for (const channelId of [tea, coffee, cocoa]) await services.chat.post({ channelId, senderId: bob.id, content: 'more' });
    await until(([{ channels }]) => channels?.every(({ lastMessage }) => lastMessage?.content === 'more') === true);
    expect(sockets.open()).toHaveLength(1);
  });

  it('shows a channel as soon as one is in it, with what is unread, and no longer than that', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { until } = render(app, useChannels, { tokens: tokensOf(ann) });
    await until(({ channels, isLive }) => isLive && channels?.length === 0);
    const channelId = await channelOf(bob);
    await services.chat.post({ channelId, senderId: bob.id, content: 'before' });
    const of = { channelId, subscribedId: ann.id };
    const { id } = await bob.rest('POST', '/subscriptions', of).expect<{ id: string }>(201);
    await until(({ channels, unread }) => channels?.[0]?.lastMessage?.content === 'before' && unread === 1);
    await services.chat.post({ channelId, senderId: bob.id, content: 'after' });
    await until(({ channels, unread }) => channels?.[0]?.lastMessage?.content === 'after' && unread === 2);
    await bob.rest('DELETE', `/subscriptions/${id}`).expect(204);
    await until(({ channels, unread }) => channels?.length === 0 && unread === 0);
  });

  it('shows channels that come while the channels are loaded for the first time, by one more load', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const heard: string[] = [];
    class Heard extends WebSocket {
      override emit(name: string | symbol, ...given: unknown[]): boolean {
        if (name === 'message') heard.push(String(given[0]));
        return super.emit(name, ...given);
      }
    }
    const count = (part: string) => heard.filter((frame) => frame.includes(part)).length;
    let asked = 0;
    const slow = createSlowFetch((url) => url.includes('chat.listChannels') && ++asked > 0);
    const release = slow.hold();
    const { until } = render(app, useChannels, { tokens: tokensOf(ann), fetch: slow.fetch, WebSocket: Heard });
    await expect.poll(() => [count('"self":true'), slow.waiting() > 0], PATIENCE).toEqual([1, true]);
    const before = asked;
    for (let n = 0; n < 3; n++) await channelOf(bob, [ann]);
    await expect.poll(() => count('"channel.added"'), PATIENCE).toBe(3);
    release();
    await until(({ channels }) => channels?.length === 3);
    expect(asked).toBe(before + 1);
  });

  it('does not have the history of a channel told, neither of one that is added nor of one whose last message cannot be shown', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [tea, coffee] = [await channelOf(bob, [ann]), await channelOf(bob)];
    const post = (channelId: string, content: string) => services.chat.post({ channelId, senderId: bob.id, content });
    const { id: of } = await post(tea, 'old');
    await storeCopies({ mongodbUri: app.mongodbUri, of, count: 1 }, 'messages', () => ({ seq: 2, change: 9, title: 5 }));
    for (let n = 0; n < 300; n++) await post(coffee, 'old');
    const sockets = createSockets();
    const slow = createSlowFetch((url) => url.includes('chat.listChannels'));
    const { until } = render(app, useChannels, { tokens: tokensOf(ann), fetch: slow.fetch, WebSocket: sockets.WebSocket });
    await until(({ channels, isLive }) => isLive && channels?.length === 1);
    await expect
      .poll(() => [sockets.heard('"self":true'), sockets.heard(`"channelId":"${tea}"`)], PATIENCE)
      .toEqual([true, true]);
    const release = slow.hold();
    await bob.rest('POST', '/subscriptions', { channelId: coffee, subscribedId: ann.id }).expect(201);
    await expect.poll(() => [sockets.heard('"channel.added"'), slow.waiting() > 0], PATIENCE).toEqual([true, true]);
    release();
    await until(({ channels }) => channels?.length === 2);
    for (const channelId of [tea, coffee]) await post(channelId, 'new');
    await until(({ channels }) => channels?.every(({ lastMessage }) => lastMessage?.content === 'new') === true);
    expect(sockets.heard('"content":"old"')).toBe(false);
  });

  it('loads the channels again when their last message is deleted, or another during a load, and else not', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    const posted: { id: string }[] = [];
    for (let n = 1; n <= 4; n++) posted.push(await services.chat.post({ channelId, senderId: ann.id, content: String(n) }));
    const remove = (n: number) => ann.rest('DELETE', `/messages/${posted[n - 1]?.id}`).expect(204);
    let loads = 0;
    const slow = createSlowFetch((url) => url.includes('chat.listChannels') && ++loads > 0);
    const sockets = createSockets();
    const options = { tokens: tokensOf(ann), fetch: slow.fetch, WebSocket: sockets.WebSocket };
    const { until, queries } = render(app, useChannels, options);
    await until(({ channels }) => channels?.[0]?.lastMessage?.content === '4');
    const isQuiet = (frame: string) => sockets.heard(frame) && queries.isFetching() === 0;
    await expect.poll(() => isQuiet('"self":true') && isQuiet(`"channelId":"${channelId}"`), PATIENCE).toBe(true);
    loads = 0;
    await remove(1);
    await expect.poll(() => isQuiet('"message.deleted"'), PATIENCE).toBe(true);
    expect(loads).toBe(0);
    const release = slow.hold();
    await remove(4);
    await expect.poll(slow.waiting, PATIENCE).toBe(1);
    // the answer has it as the last one
    await remove(3);
    await expect.poll(slow.waiting, PATIENCE).toBe(2);
    release();
    await until(({ channels }) => channels?.[0]?.lastMessage?.content === '2');
  });

  it('shows what was deleted, and read elsewhere, between its load and the subscription of a channel', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(bob, [ann]);
    const post = (content: string) => services.chat.post({ channelId, senderId: bob.id, content });
    const [first, last] = [await post('first'), await post('last')];
    let subscribe: (() => void) | undefined;
    class Held extends WebSocket {
      override send(frame: string): void {
        if (frame.includes('"subscribe"') && frame.includes(channelId)) subscribe = () => super.send(frame);
        else super.send(frame);
      }
    }
    const { until } = render(app, useChannels, { tokens: tokensOf(ann), WebSocket: Held });
    await until(({ channels }) => channels?.[0]?.lastMessage?.content === 'last' && channels[0].unread === 2);
    await expect.poll(() => subscribe, PATIENCE).toBeDefined();
    await ann.rest('PUT', `/channels/${channelId}/read-state`, { identityId: ann.id, lastReadMessageId: first.id }).expect(204);
    await bob.rest('DELETE', `/messages/${last.id}`).expect(204);
    subscribe?.();
    await until(({ channels }) => channels?.[0]?.lastMessage?.content === 'first' && channels[0].unread === 1);
  });

  it('shows the message before the last one when that is deleted', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    for (const content of ['first', 'last']) await services.chat.post({ channelId, senderId: ann.id, content });
    // the list is not loaded at intervals while the page is out of focus
    focusManager.setFocused(false);
    onTestFinished(() => focusManager.setFocused(undefined));
    const { until } = render(app, useChannels, { tokens: tokensOf(ann) });
    const { channels = [] } = await until((list) => list.isLive && list.channels?.[0]?.lastMessage?.content === 'last');
    await ann.rest('DELETE', `/messages/${channels[0]?.lastMessage?.id}`).expect(204);
    await until((list) => list.channels?.[0]?.lastMessage?.content === 'first');
  });
});
