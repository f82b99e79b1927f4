import { createInProcessBus } from '@tandem/core';
import { PATIENCE, fixture, startTestServer, type Person } from '@tandem/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openChannel, subscribe } from '../../test/chat-world.js';
import { OWN_TOPIC, type OwnChange } from '../chat/own-changes.js';
import { createOwnFeeds } from './own-feeds.js';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const app = fixture(startTestServer);

it('a channel that comes back is announced to all of its members, also where one of them has looked before', async () => {
  const [ann, bob, admin] = [await app.signUp(), await app.signUp(), await app.signUpAdmin()];
  const { id: channelId } = await openChannel(ann);
  await subscribe(ann, channelId, bob.id);
  // a bus of its own: what the server tells comes when the test says so
  const bus = createInProcessBus(SILENT);
  const feeds = createOwnFeeds({ bus, chat: app.tandem.services.chat, log: SILENT });
  const hear = (type: 'deleted' | 'changed') => bus.publish(OWN_TOPIC, { type, channelId } satisfies OwnChange);
  async function follow({ id: identityId }: Person): Promise<readonly string[]> {
    const told: string[] = [];
    const reader = { identityId, take: (event: object) => void told.push((event as { type: string }).type) };
    onTestFinished(() => feeds.leave(reader));
    await feeds.start(reader);
    return told;
  }

  const told = await follow(ann);
  await ann.rest('DELETE', `/channels/${channelId}`).expect(204);
  hear('deleted');
  await expect.poll(() => told, PATIENCE).toEqual(['channel.removed']);
  await admin.rest('POST', `/channels/${channelId}/restore`).expect(200);
  await follow(bob);
  hear('changed');
  await expect.poll(() => told, PATIENCE).toEqual(['channel.removed', 'channel.added']);
});
