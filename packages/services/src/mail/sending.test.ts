import { openMailDriver } from '@tandem/drivers/mail';
import { fixture } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { queuedMailModel } from './mail.model.js';
import { openMailFixture } from '../../test/mail-fixture.js';

const system = fixture(() => openMailFixture('mail_sending'));
beforeEach(() => system.clear());

/** Addresses that no other test uses. */
function people(count: number): string[] {
  const run = crypto.randomUUID();
  return Array.from({ length: count }, (_, n) => `${n}-${run}@example.org`);
}
const toEach = (addresses: readonly string[]) => addresses.map((to) => ({ template: 'deactivated', to }) as const);
const countsOf = (addresses: readonly string[]) => addresses.map((to) => system.server.count(to));

describe('instances', () => {
  it('that work at once send each of 200 mails exactly once', async () => {
    const instances = await Promise.all([1, 2].map(() => system.start()));
    const stops = instances.map(({ mails }) => mails.startSending());
    const addresses = people(200);
    await Promise.all(
      instances.map(async ({ mails }, n) => {
        for (let from = n * 100; from < (n + 1) * 100; from += 20) await mails.enqueue(toEach(addresses.slice(from, from + 20)));
      }),
    );
    await Promise.all(instances.flatMap(({ mails }) => [mails.work(), mails.work()]));
    await Promise.all(stops.map((stop) => stop()));
    // what the other was sending when this one was done
    await Promise.all(instances.map(({ mails }) => mails.work()));
    expect(countsOf(addresses)).toEqual(addresses.map(() => 1));
    expect(await system.rows()).toEqual([]);
  });

  it('poll for mails that others have queued', async () => {
    const [queues, sends] = [await system.start(), await system.start()];
    const stop = sends.mails.startSending(20);
    const [to = ''] = people(1);
    await queues.mails.enqueue(toEach([to]));
    expect(await system.server.next(to)).toMatchObject({ to });
    await stop();
    expect(await system.rows()).toEqual([]);
  });

  it('send nothing before they are started, and nothing after they have stopped', async () => {
    const { mails } = await system.start();
    const [first = '', second = ''] = people(2);
    await mails.enqueue(toEach([first]));
    expect(await system.rows()).toMatchObject([{ attempts: 0 }]);
    const stop = mails.startSending();
    await system.server.next(first);
    await Promise.all([stop(), stop()]);
    await mails.enqueue(toEach([second]));
    expect(await system.rows()).toMatchObject([{ to: second, attempts: 0 }]);
  });

  it('that stop while they collect what lies elsewhere send none of it', async () => {
    const { mails } = await system.start();
    const [to = ''] = people(1);
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    mails.collectWith(async () => {
      await held;
      await mails.enqueue([{ id: to, template: 'deactivated', to }]);
    });
    const stop = mails.startSending();
    const stopped = stop();
    letGo();
    await stopped;
    expect(await system.rows()).toMatchObject([{ to, attempts: 0 }]);
    await mails.work();
    expect(countsOf([to])).toEqual([1]);
  });

  it('finish what they are sending when they stop', async () => {
    const { mails } = await system.start();
    const stop = mails.startSending();
    system.server.stall(true);
    const [to = ''] = people(1);
    await mails.enqueue(toEach([to]));
    await system.server.whenHeld();
    const stopped = stop();
    expect(await system.rows()).toMatchObject([{ attempts: 1 }]);
    system.server.stall(false);
    await stopped;
    expect(countsOf([to])).toEqual([1]);
    expect(await system.rows()).toEqual([]);
  });
});

describe('a mail server', () => {
  it('that goes down and comes back gets every mail', async () => {
    const { mails, logs } = await system.start();
    const addresses = people(30);
    await mails.enqueue(toEach(addresses.slice(0, 10)));
    await mails.work();
    system.server.goAway(true);
    await mails.enqueue(toEach(addresses.slice(10)));
    await mails.work();
    expect(await system.rows()).toHaveLength(20);
    system.server.goAway(false);
    await mails.work();
    expect(await system.rows(), 'each waits for its next try').toHaveLength(20);
    system.clock.advance(10_000);
    await mails.work();
    expect(countsOf(addresses)).toEqual(addresses.map(() => 1));
    expect(await system.rows()).toEqual([]);
    expect(logs()).toMatch(/"code":"E[A-Z]+","text":"a mail was not sent; it will be retried"/);
  });

  it('that stalls blocks nobody for long, and gets every mail once it continues', async () => {
    const { mails, logs } = await system.start({}, '?greetingTimeout=300&socketTimeout=300');
    const addresses = people(6);
    system.server.stall(true);
    await mails.enqueue(toEach(addresses));
    await mails.work();
    expect(await system.rows()).toMatchObject(addresses.map(() => ({ attempts: 1, owner: null })));
    expect(logs()).toContain('"code":"ETIMEDOUT"');
    system.server.stall(false);
    system.clock.advance(10_000);
    // by one that is more patient: an answer that comes too late would have a mail sent twice
    const patient = await system.start();
    await patient.mails.work();
    expect(countsOf(addresses)).toEqual(addresses.map(() => 1));
  });
});

describe('the queue', () => {
  it('that cannot be reached is retried, and loses no mail', async () => {
    const [ill, well] = [await system.start(), await system.start()];
    const [to = ''] = people(1);
    await ill.storage.close();
    await expect(ill.mails.enqueue(toEach([to]))).rejects.toThrow('Client must be connected');
    await expect(ill.mails.work()).rejects.toThrow('Client must be connected');
    const stop = ill.mails.startSending(5);
    await expect.poll(() => ill.logs().split('\n').length, { interval: 5 }).toBeGreaterThan(2);
    await stop();
    expect(ill.logs()).toContain('working on the mail queue failed; it will be retried');
    await well.mails.enqueue(toEach([to]));
    await well.mails.work();
    expect(countsOf([to])).toEqual([1]);
  });

  it('is read by its index', async () => {
    const { storage } = await system.start();
    const due = { dueAt: { $lte: system.clock.now() }, _id: { $nin: ['one'] } };
    const cursor = storage
      .model(queuedMailModel)
      .collection.find(due as object)
      .sort({ dueAt: 1, _id: 1 })
      .limit(1);
    const { queryPlanner } = (await cursor.explain('queryPlanner')) as { queryPlanner: { winningPlan: object } };
    expect(JSON.stringify(queryPlanner.winningPlan)).toContain('"indexName":"dueAt_1__id_1"');
    expect(JSON.stringify(queryPlanner.winningPlan)).not.toMatch(/"stage":"(COLLSCAN|SORT)"/);
  });
});

describe('a slow mail', () => {
  it('does not delay others', async () => {
    const [slow = '', ...others] = people(9);
    const smtp = openMailDriver(system.server.url, { outboxDir: '' });
    const gate: { open(): void } = { open() {} };
    const opened = new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    const driver = {
      ...smtp,
      async send(mail: Parameters<typeof smtp.send>[0]) {
        if (mail.to === slow) await opened;
        return smtp.send(mail);
      },
    };
    const { mails } = await system.start({ driver });
    const stop = mails.startSending();
    await mails.enqueue(toEach([slow]));
    for (const to of others) {
      await mails.enqueue(toEach([to]));
      await system.server.next(to);
    }
    expect(countsOf([slow])).toEqual([0]);
    gate.open();
    await stop();
    expect(countsOf([slow, ...others])).toEqual(Array.from({ length: 9 }, () => 1));
    await smtp.close();
  });
});
