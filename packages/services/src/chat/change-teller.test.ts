import { newId } from '@tandem/storage';
import { fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createChangeTeller } from './change-teller.js';
import { channelTopic } from './chat-events.js';
import { createMessageLog } from './message-log.js';

const app = fixture(startTestServer);

it('what is told of a change is read once it has its number, and told under it; nothing where there is nothing', async () => {
  const [log, channelId, messageId] = [createMessageLog(app.storage), newId(), newId()];
  const { bus } = app.tandem;
  const events: unknown[] = [];
  bus.subscribe(channelTopic(channelId), (event) => events.push(event));
  const ends: number[] = [];
  const teller = createChangeTeller(log, bus);
  teller.readBy(async (_, records) => {
    ends.push((await log.endOf(channelId)).change);
    return records.map(({ change }) => ({
      ...(change === 1 && { event: { type: 'message.deleted', channelId, messageId, seq: 1, change } as const }),
    }));
  });
  const change = (version: number) => ({ record: { id: messageId, version }, changed: { kind: 'message' } as const });
  await teller.number(channelId, [change(1)]);
  await teller.number(channelId, [change(2)]);
  expect(ends).toEqual([1, 2]);
  expect(events).toEqual([{ type: 'message.deleted', channelId, messageId, seq: 1, change: 1 }]);
});
