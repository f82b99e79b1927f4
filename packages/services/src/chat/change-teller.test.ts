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

it('what a write has seen is told unread only if the number before was known to be taken when it began', async () => {
  const [log, ofOther, channelId] = [createMessageLog(app.storage), createMessageLog(app.storage), newId()];
  const { bus } = app.tandem;
  const told: unknown[] = [];
  bus.subscribe(channelTopic(channelId), (event) => told.push(event));
  const teller = createChangeTeller(log, bus);
  const deleted = (messageId: string) => ({ type: 'message.deleted', channelId, messageId, seq: 1 }) as const;
  teller.readBy((_, records) => Promise.resolve(records.map(({ change }) => ({ event: { ...deleted('read'), change } }))));
  const change = () => ({ record: { id: newId(), version: 1 }, changed: { kind: 'message' } as const });
  const seen = () => ({ ...change(), seen: { moment: teller.moment(), event: deleted('seen') } });
  const take = (of: typeof log) => of.note(channelId, change().record, change().changed);

  // where the channel ends is not known yet
  await teller.number(channelId, [seen()]);
  await teller.number(channelId, [seen()]);
  const [afterOwn, afterOther] = [seen(), seen()];
  await take(log);
  await teller.number(channelId, [afterOwn]);
  await take(ofOther);
  await teller.number(channelId, [{ ...seen(), seen: afterOther.seen }]);
  const unknown = seen();
  await take(ofOther);
  await teller.number(channelId, [unknown]);
  await teller.number(channelId, [seen(), seen()]);
  const [read, own] = ['read', 'seen'].map(deleted);
  expect(told).toEqual(
    [read, own, read, read, read, own, read].map((event, at) => ({ ...event, change: [1, 2, 4, 6, 8, 9, 10][at] })),
  );
});
