import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import {
  createTestClock,
  fixture,
  startTestServer,
  type Outcome,
  type Person,
  type RestRequest,
  type TestServer,
} from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCrashFixture, type CrashFlow, type LeftBehind } from '../../test/crash-fixture.js';
import { createsOf, withoutSecret, type Create, type Creation } from '../../test/creates.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = 240_000;
/** Longer than a unit of work, or an attempt, is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER_MS = 61_000;

const system = fixture(() => openCrashFixture('creates', { DATA_DIR: tmpdir() }));
/**
 * Another instance, a minute later. It sweeps from its start on: while it is open, units of others that are under way would be taken
 * over.
 */
function openLater(): Promise<TestServer> {
  const clock = createTestClock();
  clock.advance(TAKEN_OVER_AFTER_MS);
  return startTestServer({ mongodbUri: system.home.mongodbUri, clock });
}
let admin: Person;
const creates = createsOf(
  {
    get storage() {
      return system.home.storage;
    },
    signUp: () => system.home.signUp(),
  },
  () => admin,
);

interface Sent extends Creation {
  send(on: Pick<TestServer, 'call'>): Promise<Outcome>;
}

/** The request of an operation with a key, cut off after each of its writes. */
function flowOf(name: string, { prepare }: Create): Pick<CrashFlow<Sent>, 'prepare' | 'request'> {
  return {
    async prepare() {
      const creation = await prepare();
      const credentials = { ...admin.credentials, headers: { 'idempotency-key': randomUUID() } };
      return { ...creation, send: (on) => on.call('rest', name, creation.input, credentials) };
    },
    request(server, { send }) {
      const answer = send(server).then((outcome) => ({ status: outcome.ok ? 201 : outcome.status, body: outcome }));
      return answer as unknown as RestRequest;
    },
  };
}

/** Operations that share the death of a process: starting another one takes longer than cutting off a request. */
const TOGETHER = 4;
// changes of a tree take turns in a process, which would all wait for the first that is cut off: see idempotency.test.ts
const { 'locations.create': _, ...cutOff } = creates;
const all = Object.entries(cutOff);
const groups = Array.from({ length: Math.ceil(all.length / TOGETHER) }, (_, at) => all.slice(at * TOGETHER, (at + 1) * TOGETHER));

describe.each(groups.map((group) => [group]))('a create whose process is killed between any two of its writes', (group) => {
  const left = new Map<string, LeftBehind<Sent>[]>();
  const early = new Map<Sent, Outcome>();
  let later: TestServer;

  beforeAll(async () => {
    admin = await system.home.signUpAdmin();
    const cuts = await system.leaveAfterEachWrite(
      group.map(([name, create]) => flowOf(name, create)),
      1,
    );
    for (const [at, [name]] of group.entries()) left.set(name, cuts[at] as LeftBehind<Sent>[]);
    later = await openLater();
    for (const { somebody } of cuts.flat()) early.set(somebody, await somebody.send(later));
    await later.storage.sweep();
  }, PATIENCE);
  afterAll(() => later?.close());

  it.each(group)('%s, sent again a minute later, is stored once, and answered the same from then on', async (name, create) => {
    const fields = new Set<string>();
    for (const { somebody, passed } of left.get(name) ?? []) {
      const where = `after ${passed.join(', ') || 'no write'}`;
      const first = early.get(somebody) as Outcome;
      // a unit of work is left to the sweep
      expect(first, where).toMatchObject(first.ok ? { ok: true } : { status: 503 });
      const again = withoutSecret(await somebody.send(later));
      expect(again, where).toMatchObject({ ok: true });
      expect(again, where).toEqual(first.ok ? withoutSecret(first) : again);
      expect(await somebody.send(system.home), where).toEqual(again);
      expect(await somebody.count(), where).toBe(create.records ?? 1);
      if (again.ok) fields.add(JSON.stringify(Object.keys([again.value].flat()[0] as object).toSorted()));
    }
    expect(left.get(name)?.length).toBeGreaterThan(2);
    expect(fields.size).toBe(1);
  });
});
