import { randomUUID } from 'node:crypto';
import { PATIENCE, fixture, openStream, refusalOf, startTestServer, type Person } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { subscriptionModel } from '../chat/subscription.model.js';

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());

const pathOf = (channelIds: readonly string[]) => `/messages/listen?${channelIds.map((id) => `channelId=${id}`).join('&')}`;

async function openChannels(owner: Person, count: number): Promise<string[]> {
  const channels = await Promise.all(Array.from({ length: count }, () => openChannel(owner)));
  return channels.map(({ id }) => id);
}

it('a hundred channels of a handshake are looked up by one query', async () => {
  const mongodbUri = `${app.mongodbUri}${app.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`;
  await using watched = await startTestServer({ mongodbUri, clock: app.clock });
  const made = Array.from({ length: 98 }, () => randomUUID());
  const [own = ''] = await openChannels(ann, 1);
  const asked: string[] = [];
  const client = watched.storage.model(subscriptionModel).db.getClient();
  client.on('commandStarted', ({ command }: { command: { find?: string } }) => {
    const text = JSON.stringify(command);
    if (['no-id', ...made].some((id) => text.includes(id))) asked.push(String(command.find));
  });
  const refusal = await refusalOf(watched.url, pathOf([own, 'no-id', ...made]), ann.credentials);
  expect(refusal).toMatchObject({ status: 403, body: { error: { message: 'Identity is not subscribed to the channel' } } });
  expect(asked).toEqual(['subscriptions']);
});

it.each([
  ['subscribe', 'subscribed'],
  ['unsubscribe', 'unsubscribed'],
])('a channel of the handshake for which the client sends `%s` at once is answered by that alone', async (type, answer) => {
  const channelIds = await openChannels(ann, 20);
  const channelId = channelIds.at(-1);
  await using stream = await openStream(app.url, pathOf(channelIds), ann.credentials);
  await stream.next('ready');
  stream.send({ type, channelId });
  await stream.next(answer, (frame) => frame.channelId === channelId);
  const others = () => stream.frames.filter((frame) => frame.type === 'subscribed' && frame.channelId !== channelId).length;
  await expect.poll(others, PATIENCE).toBe(19);
  // it starts after the others
  stream.send({ type: 'subscribe', channelId });
  await stream.next('subscribed', (frame) => frame.channelId === channelId);
  expect(stream.frames.filter((frame) => frame.type === 'error')).toEqual([]);
});
