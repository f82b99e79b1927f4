import { newId } from '@tandem/storage';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createChangeTeller } from './change-teller.js';
import { channelTopic } from './chat-events.js';
import { createMessageLog } from './message-log.js';

const app = fixture(startTestServer);

it('what several records make together is read once its change has a number, and told under it; nothing where there is nothing', async () => {
  const [log, channelId, messageId] = [createMessageLog(app.storage), newId(), newId()];
  const { bus } = app.tandem;
  const events: unknown[] = [];
  bus.subscribe(channelTopic(channelId), (event) => events.push(event));
  const ends: number[] = [];
  const teller = createChangeTeller(log, bus);
  const number = (version: number) =>
    teller.numberWhole(channelId, { id: messageId, version }, { kind: 'message' }, async () => {
      ends.push((await log.endOf(channelId)).change);
      return version === 1 ? { type: 'message.deleted', channelId, messageId, seq: 1 } : undefined;
    });
  await number(1);
  await number(2);
  expect(ends).toEqual([1, 2]);
  expect(events).toEqual([{ type: 'message.deleted', channelId, messageId, seq: 1, change: 1 }]);
});
