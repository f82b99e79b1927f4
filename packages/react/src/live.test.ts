import { createTandemClient } from '@tandem/client';
import { PASSWORD, PATIENCE, fixture, newEmail, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createCookieFetch } from '../../client/test/recording-fetch.js';
import { channelOf, contents } from '../test/channels.js';
import { render } from '../test/render.js';
import { createSlowFetch } from '../test/slow-fetch.js';
import { createSockets } from '../test/sockets.js';
import { tokensOf } from '../test/tokens.js';
import { useChannel, useNotifications, useSession, useTandem } from './index.js';

const app = fixture(() =>
  startTestServer({ authModes: { auth: 'cookie', identities: 'cookie', notifications: 'cookie', chat: 'cookie' } }),
);

/** A page in cookie mode of one who is signed in, with a channel. */
async function openPage() {
  const account = { email: newEmail(), password: PASSWORD };
  const browser = createCookieFetch(app.clock);
  const { api, signUp } = createTandemClient({ url: app.url, mode: 'cookie', fetch: browser });
  const { id } = await signUp(account);
  const { id: channelId } = await api.chat.createChannel.mutate({ name: 'Tea', ownerId: id });
  let logout: Promise<never> | undefined;
  const fetch: typeof browser = async (...call) =>
    logout && new Request(...call).url.includes('auth.logout') ? logout : browser(...call);
  const sockets = createSockets();
  const hooks = () => [useChannel(channelId), useNotifications(), useSession()] as const;
  const page = render(app, hooks, { mode: 'cookie', fetch, WebSocket: sockets.WebSocket });
  await (await page.until(() => true))[2].signIn(account);
  return {
    account,
    id,
    channelId,
    api,
    page,
    sockets,
    /** Lets a sign-out wait. @returns a function that lets it fail */
    holdLogout(): () => void {
      let fail = () => {};
      logout = new Promise((_, reject) => (fail = () => reject(new TypeError('away'))));
      return fail;
    },
  };
}
const isLive = ([channel, notifications]: readonly [{ isLive: boolean }, { isLive: boolean }, unknown]) =>
  channel.isLive && notifications.isLive;

describe('the streams of one who stays signed in', () => {
  it('go on after another sign-in of the same identity', async () => {
    const { account, page, sockets } = await openPage();
    const [, , { signIn }] = await page.until(isLive);
    const before = page.all.length;
    await signIn(account);
    sockets.cut();
    await expect.poll(() => page.all.slice(before).some((all) => !isLive(all)), PATIENCE).toBe(true);
    const [{ send }] = await page.until(isLive);
    send('Tea?');
    await page.until(([{ messages, pending }]) => messages?.length === 1 && pending.length === 0);
  });

  it('go on after a sign-out that failed, and what was not sent meanwhile is shown as failed', async () => {
    const { page, sockets, holdLogout } = await openPage();
    const [{ send }, , { signOut }] = await page.until(isLive);
    const fail = holdLogout();
    const leaving = signOut();
    sockets.cut();
    send('Tea?');
    await page.until(([channel]) => channel.pending[0]?.failure !== undefined);
    send('Coffee?');
    const [{ pending }] = await page.until(([channel]) => channel.pending[1]?.failure !== undefined);
    fail();
    await expect(leaving).rejects.toThrow('cannot be reached');
    await page.until(isLive);
    for (const { retry } of pending) retry();
    const [{ messages }] = await page.until(([channel]) => channel.messages?.length === 2 && channel.pending.length === 0);
    expect(contents(messages)).toEqual(['Tea?', 'Coffee?']);
  });

  it('tell after it what they missed meanwhile, in earlier pages too', async () => {
    const { page, sockets, holdLogout, id, channelId, api } = await openPage();
    const { chat, notifications } = app.tandem.services;
    await page.until(isLive);
    // more than a page
    const posted: { id: string }[] = [];
    for (let n = 1; n <= 52; n++) posted.push(await chat.post({ channelId, senderId: id, content: String(n) }));
    const { id: notificationId } = await notifications.notify(id, { kind: 'first' });
    const [{ send }, , { signOut }] = await page.until(
      ([{ messages }, { notifications: all }]) => messages?.length === 52 && all?.length === 1,
    );
    const fail = holdLogout();
    const leaving = signOut();
    sockets.cut();
    send('Tea?');
    await page.until(([channel, one]) => channel.pending[0]?.failure !== undefined && !one.isLive);
    await api.chat.deleteMessage.mutate({ messageId: posted[0]?.id ?? '' });
    await api.notifications.markRead.mutate({ notificationId });
    fail();
    await expect(leaving).rejects.toThrow('cannot be reached');
    await page.until(
      ([{ messages = [] }, { notifications: all }]) =>
        messages.length === 51 && messages[0]?.content === '2' && all?.[0]?.isRead === true,
    );
  });
});

it('a function of a page that has gone sends nothing in the name of the next person', async () => {
  await using inBearer = await startTestServer();
  const [ann, bob] = [await inBearer.signUp(), await inBearer.signUp()];
  const channelId = await channelOf(ann, [bob]);
  const { id: messageId } = await inBearer.tandem.services.chat.post({ channelId, senderId: ann.id, content: 'Tea?' });
  const slow = createSlowFetch((url) => url.includes('chat.addReaction'));
  let [tickets, reactions] = [0, 0];
  const noted: typeof fetch = (...request) => {
    const { url, signal } = new Request(...request);
    if (url.includes('chat.createListenTicket') && !signal.aborted) tickets += 1;
    if (url.includes('Reaction')) reactions += 1;
    return slow.fetch(...request);
  };
  const hooks = () => [useChannel(channelId), useSession(), useTandem()] as const;
  const { until } = render(inBearer, hooks, { tokens: tokensOf(ann), fetch: noted });
  const [{ send, toggleReaction }, { signIn }, { api }] = await until(([{ isLive }]) => isLive);
  const release = slow.hold();
  // the second waits for the answer to the first
  for (let times = 0; times < 2; times++) toggleReaction(messageId, 'ok');
  await expect.poll(slow.waiting, PATIENCE).toBe(1);
  await signIn({ email: bob.email, password: PASSWORD });
  await until(([{ isLive }, { identityId }]) => isLive && identityId === bob.id);
  tickets = 0;
  release();
  toggleReaction(messageId, 'yes');
  send('of Ann');
  // would be sent after the ticket of Ann's
  await api.chat.createListenTicket.mutate({});
  expect([tickets, reactions]).toEqual([1, 1]);
});
