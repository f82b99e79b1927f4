import { createInProcessBus, type EventBus, type Log } from '@tandem/core';
import { HAS_REDIS, PATIENCE, startRedis, type RedisServer } from '@tandem/testing';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createRedisBus, openRedis } from '../redis.js';

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

let redis: RedisServer;
beforeAll(async () => {
  if (HAS_REDIS) redis = await startRedis();
});
afterAll(() => redis?.close());

/** Two ends of one bus: the same object in one process, or each with its own connections. */
const BUSES: Record<string, () => [EventBus, EventBus]> = {
  'in one process': () => {
    const bus = createInProcessBus(SILENT);
    return [bus, bus];
  },
  ...(HAS_REDIS && { 'over Redis': () => [openBus(), openBus()] }),
};

function openBus(log: Log = SILENT, url = redis.url): EventBus {
  const driver = openRedis(url);
  driver.connect();
  const bus = createRedisBus(driver, log);
  onTestFinished(() => {
    bus.close();
    driver.close();
  });
  return bus;
}

interface Reader {
  events: object[];
  /** Times that it was told of possibly missed events. */
  resumptions: number;
  stop: () => void;
}

function read(bus: EventBus, topic: string): Reader {
  const reader: Reader = { events: [], resumptions: 0, stop: () => {} };
  reader.stop = bus.subscribe(
    topic,
    (event) => reader.events.push(event),
    () => (reader.resumptions += 1),
  );
  return reader;
}

/** Subscribes, and waits until another end's events arrive. */
async function readFrom(bus: EventBus, sender: EventBus, topic: string): Promise<Reader> {
  const reader = read(bus, topic);
  await expect
    .poll(() => {
      sender.publish(topic, { probe: true });
      return reader.events.length;
    }, PATIENCE)
    .toBeGreaterThan(0);
  await expect.poll(() => settled(reader, sender, topic), PATIENCE).toBe(true);
  reader.events.length = 0;
  return reader;
}
/** Waits until everything published has arrived. */
async function settled(reader: Reader, sender: EventBus, topic: string): Promise<boolean> {
  const mark = { mark: crypto.randomUUID() };
  sender.publish(topic, mark);
  await expect.poll(() => reader.events, PATIENCE).toContainEqual(mark);
  return true;
}

describe.each(Object.keys(BUSES))('the event bus %s', (name) => {
  const open = () => (BUSES[name] as () => [EventBus, EventBus])();

  it('delivers what is published, in order, only to readers of the topic', async () => {
    const [here, there] = open();
    const reader = await readFrom(there, here, 'one');
    const other = await readFrom(there, here, 'two');
    const sent = Array.from({ length: 100 }, (_, n) => ({ n, text: 'grüße "{}"' }));
    for (const event of sent) here.publish('one', event);
    await expect.poll(() => reader.events, PATIENCE).toEqual(sent);
    expect(other.events).toEqual([]);
  });

  it("delivers a publisher's own events at once, and once", async () => {
    const [here, there] = open();
    const own = read(here, 'own');
    const others = await readFrom(there, here, 'own');
    own.events.length = 0;
    here.publish('own', { n: 1 });
    expect(own.events).toEqual([{ n: 1 }]);
    await expect.poll(() => others.events, PATIENCE).toEqual([{ n: 1 }]);
    await settled(own, there, 'own');
    expect(own.events.filter((event) => 'n' in event)).toEqual([{ n: 1 }]);
  });

  it('lets each reader leave separately, and return', async () => {
    const [here, there] = open();
    const staying = await readFrom(there, here, 'left');
    const leaving = read(there, 'left');
    leaving.stop();
    leaving.stop();
    here.publish('left', { n: 1 });
    await expect.poll(() => staying.events, PATIENCE).toEqual([{ n: 1 }]);
    expect(leaving.events).toEqual([]);
    staying.stop();
    const back = await readFrom(there, here, 'left');
    here.publish('left', { n: 2 });
    await expect.poll(() => back.events, PATIENCE).toEqual([{ n: 2 }]);
    expect(staying.events).toEqual([{ n: 1 }]);
  });

  it('is not affected by a reader that throws', async () => {
    const [here, there] = open();
    const stop = there.subscribe('bad', () => {
      throw new Error('a reader’s failure');
    });
    onTestFinished(stop);
    const reader = await readFrom(there, here, 'bad');
    expect(reader.events).toEqual([]);
  });
});

describe.skipIf(!HAS_REDIS)('the event bus over Redis (skipped where there is no redis-server)', () => {
  async function channels(): Promise<string[]> {
    const asking = openRedis(redis.url);
    await asking.verify();
    const names = (await asking.client.pubsub('CHANNELS', '*')) as string[];
    asking.close();
    return names.filter((name) => !/!(lost|verify)$/.test(name));
  }

  it('listens to a topic once, while it has readers', async () => {
    const [here, there] = [openBus(), openBus()];
    const first = await readFrom(there, here, 'counted');
    const second = read(there, 'counted');
    expect(await channels()).toEqual(['tandem:0:events:counted']);
    first.stop();
    await settled(second, here, 'counted');
    second.stop();
    await expect.poll(channels, PATIENCE).toEqual([]);
  });

  it('keeps systems apart that use different databases of one Redis', async () => {
    const [here, there] = [openBus(), openBus()];
    const driver = openRedis(`${redis.url}/3`);
    driver.connect();
    const other = createRedisBus(driver, SILENT);
    onTestFinished(() => {
      other.close();
      driver.close();
    });
    const elsewhere = read(other, 'apart');
    const reader = await readFrom(there, here, 'apart');
    await settled(reader, here, 'apart');
    expect(elsewhere.events).toEqual([]);
  });

  it('tells readers to resume when it starts listening, and again after an outage, and delivers its own events throughout', async () => {
    const [here, there] = [openBus(), openBus()];
    const reader = await readFrom(there, here, 'outage');
    const own = read(here, 'outage');
    expect(reader.resumptions).toBeGreaterThan(0);
    await redis.stop();
    here.publish('outage', { n: 1 });
    expect(own.events).toEqual([{ n: 1 }]);
    const before = reader.resumptions;
    await redis.start();
    await expect.poll(() => reader.resumptions, PATIENCE).toBeGreaterThan(before);
    // the publisher may reconnect later than the reader
    const heard = () => {
      here.publish('outage', { n: 2 });
      return reader.events;
    };
    await expect.poll(heard, PATIENCE).toContainEqual({ n: 2 });
    expect(reader.events).not.toContainEqual({ n: 1 });
  });

  it('listens to 150,000 topics again after its connection is lost', { timeout: 300_000 }, async () => {
    // a slow machine needs a while for so many
    const patience = { ...PATIENCE, timeout: 90_000 };
    // its own, which is busy after it
    await using busy = await startRedis();
    const [bus, other] = [openBus(SILENT, busy.url), openBus(SILENT, busy.url)];
    for (let n = 1; n < 150_000; n++) bus.subscribe(`many ${n}`, () => {});
    const last = read(bus, 'the last of many');
    await expect.poll(() => last.resumptions, patience).toBeGreaterThan(0);
    const before = last.resumptions;
    // without the driver's timeout: Redis answers once it has forgotten all topics
    const asking = new Redis(busy.url);
    onTestFinished(() => asking.disconnect());
    await asking.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await expect.poll(() => last.resumptions, patience).toBeGreaterThan(before);
    const heard = () => {
      other.publish('the last of many', { after: true });
      return last.events;
    };
    await expect.poll(heard, patience).toContainEqual({ after: true });
  });

  it('tells the others to resume when only the publisher lost its connection', async () => {
    const [driver, there] = [openRedis(redis.url), openBus()];
    await driver.verify();
    const here = createRedisBus(driver, SILENT);
    onTestFinished(() => {
      here.close();
      driver.close();
    });
    const reader = await readFrom(there, here, 'one-sided');
    const before = reader.resumptions;
    driver.client.disconnect(true);
    here.publish('one-sided', { n: 1 });
    await expect.poll(() => reader.resumptions, PATIENCE).toBeGreaterThan(before);
    expect(reader.events).not.toContainEqual({ n: 1 });
  });

  it('tells readers once to resume when several publishers lost events at once, and again after the next loss', async () => {
    const [here, there, asking] = [openBus(), openBus(), openRedis(redis.url)];
    onTestFinished(() => asking.close());
    await asking.verify();
    const reader = await readFrom(there, here, 'many-sided');
    const before = reader.resumptions;
    for (const losses of [3, 1]) {
      // as each announces it, in one packet
      const announced = Array.from({ length: losses }, () => asking.client.publish('tandem:0:events:!lost', crypto.randomUUID()));
      await Promise.all(announced);
      const resumed = losses === 3 ? 1 : 2;
      await expect.poll(() => reader.resumptions - before, PATIENCE).toBeGreaterThanOrEqual(resumed);
      expect(reader.resumptions - before).toBe(resumed);
    }
  });

  it('notices that Redis hangs, and recovers afterwards', async () => {
    const [here, there] = [openBus(), openBus()];
    const reader = await readFrom(there, here, 'hanging');
    const before = reader.resumptions;
    redis.pause();
    here.publish('hanging', { n: 1 });
    const asking = openRedis(redis.url);
    await expect(asking.verify()).rejects.toThrow(Error);
    asking.close();
    redis.resume();
    await expect.poll(() => reader.resumptions, PATIENCE).toBeGreaterThan(before);
    const again = await readFrom(there, here, 'hanging');
    expect(again.events).toEqual([]);
  });

  it('says once that Redis refuses events to its user, asks again without new connections, and resumes once it may', async () => {
    const asking = openRedis(redis.url);
    onTestFinished(() => asking.close());
    await asking.verify();
    const setUser = (...rules: string[]) => asking.client.acl('SETUSER', 'deaf', ...rules);
    // as since Redis 7 for every new user
    await setUser('on', '>secret', '~*', '+@all', 'resetchannels');
    const figure = async (section: string, pattern: RegExp) => Number(pattern.exec(await asking.client.info(section))?.[1] ?? 0);
    const connections = () => figure('stats', /total_connections_received:(\d+)/);
    const refusals = () => figure('commandstats', /cmdstat_subscribe:.*rejected_calls=(\d+)/);
    const [connectedBefore, refusedBefore] = [await connections(), await refusals()];

    const warnings: string[] = [];
    const url = redis.url.replace('redis://', 'redis://deaf:secret@');
    const deaf = openBus({ ...SILENT, warn: (_, text) => void warnings.push(text) }, url);
    const reader = read(deaf, 'refused');
    deaf.publish('refused', { n: 1 });
    expect(reader.events).toEqual([{ n: 1 }]);
    await expect.poll(async () => (await refusals()) - refusedBefore, PATIENCE).toBeGreaterThan(3);
    expect((await connections()) - connectedBefore).toBeLessThan(20);
    expect(warnings).toEqual(['Redis refuses events: instances hear of each other late, or not at all']);
    const refusing = openRedis(url);
    await expect(refusing.verify()).rejects.toThrow('NOPERM');
    refusing.close();

    expect(reader.resumptions).toBe(0);
    await setUser('allchannels');
    await expect.poll(() => reader.resumptions, PATIENCE).toBeGreaterThan(0);
    const sender = openBus();
    const heard = () => {
      sender.publish('refused', { n: 2 });
      return reader.events;
    };
    await expect.poll(heard, PATIENCE).toContainEqual({ n: 2 });
    expect(warnings).toHaveLength(1);
  });

  it('ignores messages that are not our events', async () => {
    const errors: string[] = [];
    const [here, there] = [openBus(), openBus({ ...SILENT, error: (_, text) => void errors.push(text) })];
    const reader = await readFrom(there, here, 'foreign');
    const foreign = openRedis(redis.url);
    await foreign.verify();
    await foreign.client.publish('tandem:0:events:foreign', 'no JSON at all, and longer than an origin of ours would be');
    foreign.close();
    await settled(reader, here, 'foreign');
    expect(errors).toEqual(['an event of another process could not be read']);
  });
});
