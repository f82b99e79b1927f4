import { fixture, isCommand, startStoreProxy, startTestServer, type TestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';

const other = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(other.mongodbUri));
/** An instance whose commands can be seen. */
const app = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
const ann = fixture(() => other.signUp());

const post = (channelId: string, { tandem }: TestServer) =>
  tandem.services.chat.post({ channelId, senderId: ann.id, content: 'x' });

/** Posts a message at the instance that is watched. @returns its number, and what was asked of the messages for it */
async function watch(channelId: string): Promise<{ seq: number; commands: string[] }> {
  const before = proxy.commands.length;
  const { seq } = await post(channelId, app);
  const commands = proxy.commands.slice(before).filter(({ collection }) => collection === 'messages');
  return { seq, commands: commands.map(({ command }) => command) };
}

it('a message is written under the cached next number, or after the messages that others have added', async () => {
  const { id } = await openChannel(ann);
  expect(await watch(id)).toEqual({ seq: 1, commands: ['find', 'insert'] });
  expect(await watch(id)).toEqual({ seq: 2, commands: ['insert'] });
  for (let n = 0; n < 5; n++) await post(id, other);
  // asked once, and not tried number by number
  expect(await watch(id)).toEqual({ seq: 8, commands: ['insert', 'find', 'find', 'insert'] });
  expect(await watch(id)).toEqual({ seq: 9, commands: ['insert'] });
});

it('a write with an unknown outcome clears the cached number', async () => {
  const { id } = await openChannel(ann);
  await watch(id);
  const cut = proxy.cut(isCommand('messages.insert'), 'after');
  await expect(post(id, app)).rejects.toThrow(/clos|reset/i);
  await cut;
  expect(await watch(id)).toEqual({ seq: 3, commands: ['find', 'insert'] });
});
