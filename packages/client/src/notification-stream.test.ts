import { PATIENCE, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, EXPIRY_MS } from '../test/clients.js';
import { createNotificationStream, type Notification } from './index.js';

const app = fixture(startTestServer);
let ann: Person;

/** The stream of a new identity, its events, and its sockets, so that a test can cut them. */
async function open(know?: () => Promise<{ id: string }[]>) {
  ann = await app.signUp();
  const { client, tokens } = createClient(app);
  await tokens.save({ identityId: ann.id, accessToken: ann.accessToken, refreshToken: ann.refreshToken });
  const sockets: WebSocket[] = [];
  let isRefused = false;
  class Recorded extends WebSocket {
    constructor(address: string) {
      super(isRefused ? address.replace('/listen', '/nowhere') : address);
      sockets.push(this);
      this.addEventListener('message', ({ data }) => told.frames.push((JSON.parse(data as string) as { type: string }).type));
    }
  }
  const told = {
    frames: [] as string[],
    notes: [] as unknown[],
    unread: [] as number[],
    read: [] as object[],
    states: [] as string[],
    signedOut: 0,
  };
  const stream = createNotificationStream({
    url: app.url,
    client,
    ...(know && { known: await know() }),
    onNotification: ({ note }: Notification) => void told.notes.push(note),
    onUnread: (unread) => void told.unread.push(unread),
    onRead: (read) => void told.read.push(read),
    onState: (state) => void told.states.push(state),
    onSignedOut: () => void (told.signedOut += 1),
    WebSocket: Recorded,
  });
  onTestFinished(() => stream.close());
  return {
    told,
    client,
    cut: () => sockets.at(-1)?.terminate(),
    /** Refuses connections from now on, or no longer. @returns how many there were */
    refuse(is: boolean): number {
      isRefused = is;
      return sockets.length;
    },
  };
}
const notify = (note: number) => app.tandem.services.notifications.notify(ann.id, { note });

describe('the stream of notifications', () => {
  it('delivers new notifications, and the number of unread ones', async () => {
    const { told, client } = await open();
    await expect.poll(() => told.unread, PATIENCE).toEqual([0]);
    const { id } = await notify(1);
    await expect.poll(() => told.notes, PATIENCE).toEqual([1]);
    await client.api.notifications.markRead.mutate({ notificationId: id });
    await expect.poll(() => told.read, PATIENCE).toEqual([{ ids: [id] }]);
    expect(told.unread).toEqual([0, 0]);
  });

  it('resumes after a drop, without duplicates', async () => {
    const { told, cut } = await open();
    await expect.poll(() => told.states, PATIENCE).toEqual(['up']);
    for (const note of [1, 3, 5]) {
      await notify(note);
      await expect.poll(() => told.notes.at(-1), PATIENCE).toBe(note);
      cut();
      await expect.poll(() => told.states.at(-1), PATIENCE).toBe('down');
      await notify(note + 1);
    }
    await expect.poll(() => told.notes, PATIENCE).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('begins after the known notifications, or with new ones where those no longer exist', async () => {
    const { told } = await open(async () => {
      const known = [await notify(1), await notify(2)].toReversed();
      await notify(3);
      return known;
    });
    await expect.poll(() => told.notes, PATIENCE).toEqual([3]);
    const { told: other } = await open(async () => [{ id: crypto.randomUUID() }]);
    await expect.poll(() => other.unread, PATIENCE).toEqual([0]);
    await notify(4);
    await expect.poll(() => other.notes, PATIENCE).toEqual([4]);
  });

  it('misses nothing where connections are refused for a while', async () => {
    const { told, cut, refuse } = await open(async () => [await notify(1), await notify(2)].toReversed());
    // the server has repeated the first
    await expect.poll(() => told.frames, PATIENCE).toEqual(['ready', 'notification.created']);
    const before = refuse(true);
    cut();
    await notify(3);
    // by then an earlier one was tried
    await expect.poll(() => refuse(true) - before, PATIENCE).toBe(5);
    refuse(false);
    await expect.poll(() => told.notes, PATIENCE).toEqual([3]);
  });

  it('resumes at a drop after it could not resume once, and asks to load again what it missed then', async () => {
    const { told, cut, refuse } = await open(async () => [await notify(1)]);
    await expect.poll(() => told.states, PATIENCE).toEqual(['up']);
    const before = refuse(true);
    cut();
    await expect.poll(() => refuse(true) - before, PATIENCE).toBe(3);
    refuse(false);
    await expect.poll(() => told.states.at(-1), PATIENCE).toBe('up');
    expect(told.read).toEqual([{}]);
    cut();
    await notify(2);
    await expect.poll(() => told.notes, PATIENCE).toEqual([2]);
  });

  it('renews its tokens, and reports the end of the session', async () => {
    const { told } = await open();
    await expect.poll(() => told.states, PATIENCE).toEqual(['up']);
    app.clock.advance(EXPIRY_MS);
    await expect.poll(() => told.states.slice(0, 3), PATIENCE).toEqual(['up', 'down', 'up']);
    await app.tandem.services.identities.endSessions(ann.id);
    await expect.poll(() => told.signedOut, PATIENCE).toBe(1);
  });
});
