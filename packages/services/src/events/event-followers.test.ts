import { fixture, startTestServer, type Person, type TestServer } from '@tandem/testing';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { createEventFollowers, followerModel, type Follower } from './event-followers.js';
import type { DomainEvent } from './events.schemas.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
let admin: Person;
beforeAll(async () => {
  admin = await app.signUpAdmin();
});

const make = (name: string, server: TestServer = app) =>
  server.rest('POST', '/categories', { name, description: '' }, admin.credentials).expect<{ id: string }>(201);

function start({ storage, tandem }: TestServer, follower: Follower, events = tandem.services.events) {
  const followers = createEventFollowers({ storage, events, bus: tandem.bus, log: tandem.facts.log });
  followers.add(follower);
  followers.start();
  onTestFinished(() => followers.stop());
  return followers;
}

/** Follows on a server; resolves once it has begun to, so that later events are its. */
async function follow(server: TestServer, follower: Follower) {
  const followers = start(server, follower);
  const { collection } = server.storage.model(followerModel);
  await vi.waitFor(async () => expect(await collection.findOne({ _id: follower.name } as object)).not.toBeNull());
  return followers;
}

/** A handler that collects names, and waits for a number of them. */
function collector(name: string, act: (event: DomainEvent, seen: string[]) => unknown = () => undefined) {
  const seen: string[] = [];
  const follower: Follower = {
    name,
    types: 'category.created',
    atOnce: 1,
    async handle([event]) {
      if (!event) return;
      await act(event, seen);
      seen.push(String(event.data['name']));
    },
  };
  return { seen, follower, expectSeen: (names: string[]) => vi.waitFor(() => expect(seen).toEqual(names), { timeout: 10_000 }) };
}

it('a handler gets each event from its making on, in order, whichever instance it happened on', async () => {
  await make('before');
  const { follower, expectSeen } = collector('in order');
  await follow(app, follower);
  await make('a');
  await make('b', other);
  await make('c');
  await expectSeen(['a', 'b', 'c']);
});

it('an event is handled on one instance of two', async () => {
  const seen: string[] = [];
  const { follower } = collector('on one', ({ data }) => seen.push(String(data['name'])));
  await Promise.all([follow(app, follower), follow(other, follower)]);
  const names = Array.from({ length: 10 }, (_, n) => `${n}`);
  for (const name of names) await make(name);
  await vi.waitFor(() => expect(seen).toHaveLength(10), { timeout: 10_000 });
  expect(seen).toEqual(names);
});

it('what fails is tried again until it returns, and nothing after it before', async () => {
  let failures = 1;
  const { follower, expectSeen } = collector('again', () => {
    if (failures-- > 0) throw new Error('not yet');
  });
  await follow(app, follower);
  await make('a');
  await make('b');
  await expectSeen(['a', 'b']);
  expect(app.logs()).toContain('an event could not be handled; it is tried again');
});

it('what was handled when a process ends is not handled again by the next, the rest is', async () => {
  const first = collector('goes on');
  const followers = await follow(app, first.follower);
  await make('a');
  await first.expectSeen(['a']);
  await followers.stop();
  await make('b');
  const { follower, expectSeen } = collector('goes on');
  await follow(other, follower);
  await make('c');
  await expectSeen(['b', 'c']);
});

it('a stop that comes while a follower is taken ends it: another process has it at once', async () => {
  const { events } = app.tandem.services;
  const { follower, expectSeen } = collector('stopped');
  let stopping: Promise<void> | undefined;
  const followers = start(app, follower, {
    ...events,
    // asked before it is taken for the first time
    last() {
      stopping ??= followers.stop();
      return events.last();
    },
  });
  await vi.waitFor(() => expect(stopping).toBeDefined());
  await stopping;
  await follow(app, follower);
  await make('a');
  await expectSeen(['a']);
});

it('what waits is taken several at once, in order, by who takes several', async () => {
  const batches: unknown[][] = [];
  const follower: Follower = {
    name: 'several',
    types: 'category.created',
    atOnce: 2,
    handle: (events) => batches.push(events.map(({ data }) => data['name'])),
  };
  await (await follow(app, follower)).stop();
  for (const name of ['a', 'b', 'c']) await make(name);
  await app.storage.events.last();
  await follow(app, follower);
  await vi.waitFor(() => expect(batches).toEqual([['a', 'b'], ['c']]), { timeout: 10_000 });
});

it('what waits behind a slow handler comes as the log has it then, as after an erasure', async () => {
  const { follower, expectSeen } = collector('slow', async ({ data }) => {
    if (data['name'] !== 'slow') return;
    const log = app.storage.model(followerModel).db.collection('events');
    await log.updateOne({ 'state.name': 'waits' }, { $set: { 'state.name': 'erased' } });
    app.clock.advance(3000);
  });
  await (await follow(app, follower)).stop();
  for (const name of ['slow', 'waits', 'last']) await make(name);
  await app.storage.events.last();
  await follow(app, follower);
  await expectSeen(['slow', 'erased', 'last']);
});

it('events that nobody needs are passed over, and those from the moment on in which somebody does are handled', async () => {
  let isNeeded = false;
  const { follower, seen, expectSeen } = collector('needed');
  await follow(app, { ...follower, isNeeded: () => Promise.resolve(isNeeded) });
  await make('unneeded');
  const last = await app.storage.events.last();
  const { collection } = app.storage.model(followerModel);
  const passed = async () => expect(await collection.findOne({ _id: follower.name } as object)).toMatchObject({ cursor: last });
  await vi.waitFor(passed, { timeout: 10_000 });
  isNeeded = true;
  await make('needed');
  await expectSeen(['needed']);
  expect(seen).toEqual(['needed']);
});

it('what a dead process was handling another handles, once its lease is over', async () => {
  let died = () => {};
  const dead = new Promise<void>((resolve) => (died = resolve));
  const first = collector('of the dead', () => {
    died();
    return new Promise(() => undefined);
  });
  await follow(app, first.follower);
  await make('a');
  await dead;
  const { follower, expectSeen } = collector('of the dead');
  const { collection } = app.storage.model(followerModel);
  // as time would do: renewing is what a dead process does not do
  await collection.updateOne({ _id: 'of the dead' } as object, { $set: { owner: 'nobody', leaseUntil: new Date(0) } });
  await follow(other, follower);
  await expectSeen(['a']);
});

it('a process that another one has taken over from handles nothing until it follows again', async () => {
  const { collection } = app.storage.model(followerModel);
  const lease = (owner: string, leaseUntil: Date) =>
    collection.updateOne({ _id: 'overtaken' } as object, { $set: { owner, leaseUntil } });
  let isOvertaken = false;
  const handledMeanwhile: unknown[] = [];
  const { follower, expectSeen } = collector('overtaken', ({ data }) => {
    if (isOvertaken) handledMeanwhile.push(data['name']);
  });
  const witness = collector('witness');
  await follow(app, follower);
  await follow(app, witness.follower);
  await make('a');
  await expectSeen(['a']);
  isOvertaken = true;
  await lease('another', new Date(app.clock.now().getTime() + 60_000));
  await make('b');
  await witness.expectSeen(['a', 'b']);
  isOvertaken = false;
  await lease('another', app.clock.now());
  await expectSeen(['a', 'b']);
  expect(handledMeanwhile).toEqual([]);
});
