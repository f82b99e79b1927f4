import { isStoreUnavailable, newId } from '@tandem/storage';
import { fixture, isCommand, startStoreProxy, startTestServer, type TestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { createMessageLog } from './message-log.js';

const other = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(other.mongodbUri));
/** An instance whose commands can be seen. */
const app = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
const ann = fixture(() => other.signUp());

const post = (channelId: string, { tandem }: TestServer) =>
  tandem.services.chat.post({ channelId, senderId: ann.id, content: 'x' });

/**
 * Posts a message at the instance that is watched.
 * @returns its number, and what was asked of the messages for it; the event log asks for messages by their ids, at any time
 */
async function watch(channelId: string): Promise<{ seq: number; commands: string[] }> {
  const before = proxy.commands.length;
  const { seq } = await post(channelId, app);
  const commands = proxy.commands.slice(before).filter(({ collection }) => collection === 'messages');
  const ofPost = commands.filter(({ body }) => !(body.filter as { _id?: unknown } | undefined)?._id);
  return { seq, commands: ofPost.map(({ command }) => command) };
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

describe('records of several channels at once', () => {
  const EACH = [1, 2, 3, 4];
  const logs = () => [createMessageLog(app.storage), createMessageLog(other.storage)] as const;
  type Log = ReturnType<typeof createMessageLog>;
  /** Notes a change. @returns its number */
  const note = async (log: Log, channelId: string, id = newId()) =>
    (await log.note(channelId, { id, version: 1 }, { kind: 'channel' })).record.change;
  const insertsSince = (before: number) =>
    proxy.commands.slice(before).filter(({ collection, command }) => `${collection}.${command}` === 'messages.insert').length;
  /** Channels whose ends the log knows. */
  async function known(log: Log): Promise<string[]> {
    const channels = EACH.map(() => newId());
    await Promise.all(channels.map((channelId) => note(log, channelId)));
    return channels;
  }

  it('are written by one command, and what is refused of one holds up no other', async () => {
    const [log, ofOther] = logs();
    const channels = (await known(log)) as [string, string, string, string];
    const twin = newId();
    await Promise.all([note(ofOther, channels[0]), note(ofOther, channels[1], twin)]);
    const before = proxy.commands.length;
    const noted = await Promise.all(channels.map((channelId, at) => note(log, channelId, at === 1 ? twin : newId())));
    expect(noted).toEqual([3, 2, 2, 2]);
    const stored = await Promise.all(channels.map((channelId) => ofOther.after(channelId, 0, 10)));
    expect(stored.map((records) => records.map(({ change }) => change))).toEqual([
      [1, 2, 3],
      [1, 2],
      [1, 2],
      [1, 2],
    ]);
    // and one for the refused number
    expect(insertsSince(before)).toBe(2);
  });

  it('fail all where the outcome is unknown, and are numbered after what was stored', async () => {
    const [log] = logs();
    const channels = await known(log);
    const cut = proxy.cut(isCommand('messages.insert'), 'after');
    const outcomes = await Promise.allSettled(channels.map((channelId) => note(log, channelId)));
    await cut;
    expect(outcomes.map(({ status }) => status)).toEqual(EACH.map(() => 'rejected'));
    expect(await Promise.all(channels.map((channelId) => note(log, channelId)))).toEqual(EACH.map(() => 3));
  });

  it('are stored though one of them cannot be written at all', async () => {
    const [log] = logs();
    const [first, ...others] = (await known(log)) as [string, ...string[]];
    const changed = { kind: 'channel', 'a\0b': 1 } as const;
    const refused = log.note(first, { id: newId(), version: 1 }, changed);
    const noted = others.map((channelId) => note(log, channelId));
    await expect(refused).rejects.toThrow(/null bytes/);
    expect(await Promise.all(noted)).toEqual(others.map(() => 2));
    expect(await note(log, first)).toBe(2);
  });

  it('are not taken for stored while a failover could take them back, though one of them was refused', async () => {
    const [log, ofOther] = logs();
    const channels = await known(log);
    await note(ofOther, channels[0] as string);
    const writeConcernError = { code: 64, codeName: 'WriteConcernTimeout', errmsg: 'waiting for replication timed out' };
    const amended = proxy.amend(isCommand('messages.insert'), { writeConcernError });
    const outcomes = await Promise.allSettled(channels.map((channelId) => note(log, channelId)));
    await amended;
    expect(outcomes.map((one) => one.status === 'rejected' && isStoreUnavailable(one.reason))).toEqual(EACH.map(() => true));
  });
});
