import { describe, expect, it } from 'vitest';
import { createInProcessBus } from '../events.js';
import { Feed, IteratorReader, createFeeds, type Reader } from '../index.js';
import { untilOver } from './until-over.js';

const failures: { facts: object; text: string }[] = [];
const newBus = () => createInProcessBus({ error: (facts, text) => void failures.push({ facts, text }) });

describe('the event bus of one process', () => {
  it('delivers an event once to each subscriber of its topic, and not to one that has left', () => {
    const bus = newBus();
    const heard: string[] = [];
    const hear = (who: string) => (event: object) => void heard.push(`${who} ${JSON.stringify(event)}`);
    const handler = hear('twice');
    const [leave] = [bus.subscribe('a', handler), bus.subscribe('a', handler)];
    bus.subscribe('a', hear('once'));
    bus.subscribe('b', hear('other'));
    bus.publish('a', { n: 1 });
    expect(heard).toEqual(['twice {"n":1}', 'twice {"n":1}', 'once {"n":1}']);
    leave?.();
    leave?.();
    bus.publish('a', { n: 2 });
    bus.publish('none', { n: 3 });
    expect(heard.slice(3)).toEqual(['twice {"n":2}', 'once {"n":2}']);
  });

  it('keeps a later subscriber when an earlier one leaves twice', () => {
    const bus = newBus();
    const heard: object[] = [];
    const leave = bus.subscribe('a', () => {});
    leave();
    bus.subscribe('a', (event) => void heard.push(event));
    leave();
    bus.publish('a', {});
    expect(heard).toHaveLength(1);
  });

  it('logs a subscriber that throws, without values, and still serves the others', () => {
    const bus = newBus();
    const heard: object[] = [];
    bus.subscribe('a', () => {
      throw new Error('of "ann"');
    });
    bus.subscribe('a', (event) => void heard.push(event));
    bus.publish('a', {});
    expect(heard).toHaveLength(1);
    expect(failures).toMatchObject([
      { facts: { topic: 'a', err: { message: 'of …' } }, text: 'a subscriber of the event bus failed' },
    ]);
  });
});

class Kept implements Reader {
  readonly taken: [object, string][] = [];
  constructor(readonly identityId: string) {}
  take(event: object, text: Buffer): void {
    this.taken.push([event, text.toString()]);
  }
}

describe('a feed', () => {
  it('delivers an event, with one text of it, to all readers except those of the excluded identity', () => {
    const feed = new Feed('f');
    const [ann, bob] = [new Kept('ann'), new Kept('bob')];
    feed.deliver({ n: 0 });
    feed.readers.add(ann).add(bob);
    feed.deliver({ n: 1 });
    feed.deliver({ n: 2 }, 'ann');
    expect(ann.taken).toEqual([[{ n: 1 }, '{"n":1}']]);
    expect(bob.taken).toEqual([[{ n: 1 }, '{"n":1}'], [{ n: 2 }, '{"n":2}']]); // prettier-ignore
  });

  it('subscribes to its topic from its first reader to its last', () => {
    const open: string[] = [];
    const handlers = new Map<string, { event: (event: object) => void; resumed: () => void }>();
    const bus = {
      publish() {},
      subscribe(topic: string, event: (event: object) => void, resumed: () => void = () => {}) {
        open.push(topic);
        handlers.set(topic, { event, resumed });
        return () => void open.splice(open.indexOf(topic), 1);
      },
    };
    const told: unknown[] = [];
    const feeds = createFeeds(bus, {
      topicOf: (id) => `topic of ${id}`,
      create: (id) => new Feed(id),
      onEvent: (feed, event) => told.push([feed.id, event]),
      onResumed: (feed) => told.push(feed.id),
    });
    expect(feeds.isEmpty()).toBe(true);
    const [ann, bob] = [new Kept('ann'), new Kept('bob')];
    const feed = feeds.join('a', ann);
    expect(feeds.join('a', bob)).toBe(feed);
    feeds.join('b', bob);
    expect([open, feeds.isEmpty(), feeds.get('a'), [...feeds.all()].map(({ id }) => id)]).toEqual([['topic of a', 'topic of b'], false, feed, ['a', 'b']]); // prettier-ignore
    handlers.get('topic of a')?.event({ n: 1 });
    handlers.get('topic of b')?.resumed();
    expect(told).toEqual([['a', { n: 1 }], 'b']);
    expect([feeds.leave(feed, ann), feeds.leave(feed, ann), open.length]).toEqual([true, false, 2]);
    expect([feeds.leave(feed, bob), open, feeds.get('a')]).toEqual([true, ['topic of b'], undefined]);
    // leaving the ended feed must not end the new one
    const again = feeds.join('a', ann);
    feed.readers.add(bob);
    feeds.leave(feed, bob);
    expect([feeds.get('a'), open]).toEqual([again, ['topic of b', 'topic of a']]);
  });
});

describe('iterating over a feed', () => {
  const text = (bytes: number) => Buffer.alloc(bytes);
  async function all(reader: IteratorReader): Promise<object[]> {
    const events: object[] = [];
    for await (const event of reader.events()) events.push(event);
    return events;
  }

  it('yields events, before and during reading, until it is ended', async () => {
    const reader = new IteratorReader('ann');
    reader.take({ n: 1 }, text(1));
    const reading = all(reader);
    await Promise.resolve();
    reader.take({ n: 2 }, text(1));
    await new Promise((next) => setImmediate(next));
    reader.take({ n: 3 }, text(1));
    reader.end();
    expect(await reading).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('fails with the error it was ended with, before the rest', async () => {
    const reader = new IteratorReader('ann');
    reader.take({ n: 1 }, text(1));
    reader.end(new Error('first'));
    reader.end(new Error('second'));
    await expect(all(reader)).rejects.toThrow('first');
  });

  it('is dropped when more than a mebibyte is queued, and not before', async () => {
    const reader = new IteratorReader('ann');
    reader.take({ n: 1 }, text(1024 * 1024));
    const events = reader.events();
    expect((await events.next()).value).toEqual({ n: 1 });
    // what was read is no longer queued
    reader.take({ n: 2 }, text(1024 * 1024));
    expect((await events.next()).value).toEqual({ n: 2 });
    reader.take({ n: 3 }, text(1024 * 1024));
    reader.take({ n: 4 }, text(1));
    await expect(events.next()).rejects.toMatchObject({ status: 503 });
  });

  it('counts what waits while it catches up for all of its socket, which is closed beyond a mebibyte', async () => {
    const ends: string[] = [];
    const socket = {
      waitingBytes: 0,
      bufferedAmount: 1024,
      end: (reason: string) => void ends.push(reason),
      drained: () => Promise.resolve(),
      replayTurn: () => Promise.resolve(() => {}),
    };
    const [first, second] = [new IteratorReader('ann', socket), new IteratorReader('bob', socket)];
    first.take({ n: 1 }, text(512 * 1024));
    second.take({ n: 2 }, text(511 * 1024));
    expect([socket.waitingBytes, ends]).toEqual([1023 * 1024, []]);
    // what it takes from then on is sent at once
    expect((await first.events().next()).value).toEqual({ n: 1 });
    first.take({ n: 3 }, text(512 * 1024));
    expect([socket.waitingBytes, ends]).toEqual([511 * 1024, []]);
    second.take({ n: 4 }, text(512 * 1024 + 1));
    expect(ends).toEqual(['slow']);
    second.goLive();
    second.goLive();
    expect(socket.waitingBytes).toBe(0);
  });

  it('keeps nothing once it is over, although nobody reads on', () => {
    const reader = new IteratorReader('ann');
    for (let n = 0; n < 1000; n++) reader.take({ n }, text(1024 * 1024));
    expect((reader as unknown as { waiting: unknown[] }).waiting).toEqual([]);
  });
});

describe('the values of a subscription', () => {
  async function* three(): AsyncGenerator<number> {
    yield* [1, 2];
    throw new Error('no third');
  }
  const watched = (data: unknown) => {
    const over: string[] = [];
    const result = untilOver(data, undefined, () => over.push('over')) as AsyncIterableIterator<unknown>;
    return { over, result };
  };

  it('pass unchanged, and are over when the source ends', async () => {
    const { over, result } = watched((async function* () { yield 1; })()); // prettier-ignore
    const seen: unknown[] = [];
    for await (const one of result) {
      expect(over).toEqual([]);
      seen.push(one);
    }
    expect([seen, over]).toEqual([[1], ['over']]);
  });

  it('are over when the source fails', async () => {
    const { over, result } = watched(three());
    await result.next();
    await result.next();
    expect(over).toEqual([]);
    await expect(result.next()).rejects.toThrow('no third');
    expect(over).toEqual(['over']);
  });

  it('are over when the reader leaves, also before the first value, and the source is told', async () => {
    const left: string[] = [];
    const source = { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: false, value: 1 }), return: () => Promise.resolve(left.push('left')) }) }; // prettier-ignore
    const { over, result } = watched(source);
    expect(await result.return?.()).toEqual({ done: true, value: undefined });
    expect([over, left]).toEqual([['over'], ['left']]);
    const bare = watched({ [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true }) }) });
    await bare.result.return?.();
    expect(bare.over).toEqual(['over']);
  });

  it.each([undefined, null, 5, {}])('are over at once where the source is not iterable: %s', (data) => {
    const { over, result } = watched(data);
    expect([over, result]).toEqual([['over'], data]);
  });
});
