import { databaseOf, fixture, isCommand, openStream, startStoreProxy, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel, say } from '../../test/chat-world.js';

const proxy = fixture(() => startStoreProxy(databaseOf('told'), { as: 'MongoDB 8.0' }));
const app = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
const ann = fixture(() => app.signUp());

/** The read concerns of the commands to a collection while something is done. */
async function concernsOf(name: string, work: () => Promise<unknown>): Promise<unknown[]> {
  // what was written before has been told: that reads too
  await app.storage.events.last();
  const start = proxy.commands.length;
  await work();
  const commands = proxy.commands.slice(start).filter(({ collection, command }) => `${collection}.${command}` === name);
  return [...new Set(commands.map(({ body }) => (body['readConcern'] as { level: string } | undefined)?.level))];
}

describe('what others have been told no failover takes back: it is read with the majority', () => {
  it('when messages are replayed, and who subscribes is told the last number', async () => {
    const { id: channelId } = await openChannel(ann);
    await say(ann, channelId);
    const concerns = await concernsOf('messages.find', async () => {
      await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
      stream.send({ type: 'subscribe', channelId, sinceSeq: 0 });
      await stream.next('message.created');
    });
    expect(concerns).toEqual(['majority']);
  });

  it('when channels are listed with their last numbers', async () => {
    await openChannel(ann);
    const concerns = await concernsOf('channels.aggregate', () => ann.rest('GET', `/channels?memberId=${ann.id}`).expect(200));
    expect(concerns).toContain('majority');
  });

  it('when notifications are replayed', async () => {
    const { notifications } = app.tandem.services;
    const [first] = [await notifications.notify(ann.id), await notifications.notify(ann.id)];
    const concerns = await concernsOf('notifications.find', async () => {
      await using stream = await openStream(app.url, `/notifications/listen?since=${first.id}`, ann.credentials);
      await stream.next('notification.created');
    });
    expect(concerns).toContain('majority');
  });

  describe('when what is sent again is answered as it was stored, and 503 while no majority has it', () => {
    /** Lets the next reads of a collection find nothing, as where the majority is behind. */
    const hide = (name: string, times: number) => {
      const cursor = { id: 0n, ns: `told.${name}`, firstBatch: [] };
      return proxy.answer(isCommand(`${name}.find`), { ok: 1, cursor }, times);
    };

    it('a message with a clientId', async () => {
      const { id: channelId } = await openChannel(ann);
      const message = { channelId, senderId: ann.id, content: 'Hello', clientId: 'mine' };
      const again = (status: number) => ann.rest('POST', '/messages', message).expect(status);
      await again(201);
      expect(await concernsOf('messages.find', () => again(201))).toEqual(['majority']);
      const hidden = hide('messages', 1);
      await again(503);
      await hidden;
      await again(201);
    });
  });
});
