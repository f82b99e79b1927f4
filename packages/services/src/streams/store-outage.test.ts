import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedMongo } from '@tandem/embedded-mongo';
import { openStream, refusalOf, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';

it('while the store is down, streams, frames and subscriptions are refused with errors that may be retried', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-streams-away-'));
  const engine = await startEmbeddedMongo({ dir });
  const app = await startTestServer({ mongodbUri: `${engine.uri}&serverSelectionTimeoutMS=200&waitQueueTimeoutMS=200` });
  try {
    const ann = await app.signUp();
    const { id: channelId } = await openChannel(ann);
    const [chat, trpc] = [
      await openStream(app.url, '/messages/listen', ann.credentials),
      await openStream(app.url, '/trpc', ann.credentials),
    ];
    // signed in, so that the subscription is what fails and not who asks for it
    trpc.send({ id: 1, method: 'query', params: { path: 'notifications.unreadCount', input: { identityId: ann.id } } });
    await expect.poll(() => trpc.frames).toMatchObject([{ id: 1, result: {} }]);
    await engine.stop();

    const passing = { type: 'error', errorCode: 'request.unavailable', retry: true, channelId };
    chat.send({ type: 'subscribe', channelId });
    expect(await chat.next('error')).toEqual({ ...passing, message: 'Failed to get channel messages' });
    chat.send({ type: 'message.create', channelId, content: 'x', clientId: 'mine' });
    expect(await chat.next('error')).toEqual({ ...passing, message: 'Failed to create chat message.', clientId: 'mine' });
    trpc.send({ id: 2, method: 'subscription', params: { path: 'chat.channelEvents', input: { channelId } } });
    await expect
      .poll(() => trpc.frames.find((frame) => 'error' in frame), { timeout: 10_000 })
      .toMatchObject({ id: 2, error: { data: { httpStatus: 503 } } });
    // neither who asks nor its channels are known
    for (const path of ['/messages/listen', `/messages/listen?channelId=${channelId}`])
      expect(await refusalOf(app.url, path, ann.credentials)).toMatchObject({
        status: 503,
        body: { error: { message: 'Service Unavailable' } },
      });
    await Promise.all([chat.close(), trpc.close()]);
  } finally {
    await app.close();
    await engine.stop();
    await rm(dir, { recursive: true });
  }
});
