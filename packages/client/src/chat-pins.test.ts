import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createClient, newAccount } from '../test/clients.js';
import { applyToPins, createChatClient, queryOf, rowsOf, type ChatMessage } from './index.js';

const app = fixture(startTestServer);

it('the pinned messages of a channel follow its events, but for those that are pinned, with which they are loaded again', async () => {
  const { client } = createClient(app);
  const { chat } = client.api;
  const { id: ownerId } = await client.signUp(newAccount());
  const { id: channelId } = await chat.createChannel.mutate({ name: 'Tea', ownerId });
  const post = (content: string) => chat.createMessage.mutate({ channelId, senderId: ownerId, content });
  const messages = [await post('0'), await post('1'), await post('2')] as const;
  for (const { id: messageId } of messages) await chat.pinMessage.mutate({ messageId });
  const { parameters } = queryOf('chat.listPins').top(10);
  const load = async () =>
    rowsOf<ChatMessage & { pinnedBy: string }>(await chat.listPins.query({ channelId, ...parameters }), parameters).value;

  let pinned: Awaited<ReturnType<typeof load>> = await load();
  const created: string[] = [];
  const stream = createChatClient({ url: app.url, client, WebSocket });
  onTestFinished(() => stream.close());
  await new Promise<void>((resolve) => {
    stream.follow(channelId, {
      onSubscribed: () => resolve(),
      onEvent(event) {
        pinned = [...applyToPins(pinned, event)];
        if (event.type === 'pin.created') created.push(event.messageId);
      },
    });
  });
  await chat.patchMessage.mutate({ messageId: messages[0].id, content: 'changed' });
  await chat.unpinMessage.mutate({ messageId: messages[1].id });
  await chat.deleteMessage.mutate({ messageId: messages[2].id });
  const { id: messageId } = await post('3');
  await chat.pinMessage.mutate({ messageId });
  await expect.poll(() => created, PATIENCE).toEqual([messageId]);
  const [last, ...others] = await load();
  expect(last).toMatchObject({ id: messageId, pinnedBy: ownerId });
  expect(pinned).toEqual(others);
  expect(pinned).toMatchObject([{ content: 'changed', pinnedBy: ownerId }]);
});
