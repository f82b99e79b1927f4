import { fixture, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { openCrashFixture, type CrashFlow, type LeftBehind } from '../../test/crash-fixture.js';
import { openLaterInstance } from '../../test/later-instance.js';
import { peopleKinds } from '../../test/units/people-kinds.js';
import { recordKinds } from '../../test/units/record-kinds.js';
import { createUnitWorld, type Stands, type UnitKind } from '../../test/units/unit-world.js';
import { organizationModel } from '../organizations/organization.model.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = 240_000;

const system = fixture(() => openCrashFixture('units'));
const later = fixture(() => openLaterInstance(system.home.mongodbUri));
let admin: Person;
beforeAll(async () => {
  admin = await system.home.signUpAdmin();
});

const world = createUnitWorld(() => admin);
const kinds = {
  ...recordKinds(world),
  ...peopleKinds(
    () => system.home,
    () => admin,
    world,
  ),
};

it('every unit that a sweep knows is here', () => {
  // what becomes of files is asked beside them, in held-files.test.ts and attached-files-crash.test.ts; no route restores a webhook
  const elsewhere = ['chat.attach', 'chat.detach', 'webhooks.restore'];
  const isElsewhere = (name: string) => name.startsWith('files.replace ') || elsewhere.includes(name);
  const names = later.unitNames().filter((name) => !isElsewhere(name));
  expect(Object.keys(kinds).toSorted()).toEqual(names.toSorted());
});

interface Somebody {
  given: Record<string, string>;
  before: unknown;
}
type Cut = LeftBehind<Somebody>;

/** The request of a kind of units, cut off after each of its writes. */
function flowOf(kind: UnitKind): Pick<CrashFlow<Somebody>, 'prepare' | 'request'> {
  return {
    async prepare() {
      const given = await kind.prepare();
      return { given, before: await kind.look(given) };
    },
    request(server, { given }) {
      const [method, path, body] = kind.request(given);
      return server.rest(method, path, body, { accessToken: given['accessToken'] ?? admin.accessToken });
    },
  };
}

/** Kinds that share the death of a process: starting another one takes longer than cutting off a request. */
const TOGETHER = 3;
const all = Object.entries(kinds);
const groups = Array.from({ length: Math.ceil(all.length / TOGETHER) }, (_, at) => all.slice(at * TOGETHER, (at + 1) * TOGETHER));

describe.each(groups.map((group) => [group]))('a unit whose process is killed between any two of its writes', (group) => {
  /** Of each kind: those that were left alone until the sweep, with what is seen of them, and those that were changed before it. */
  const seen = new Map<string, (Cut & { seen: unknown })[]>();
  const changed = new Map<string, (Cut & { stands: Stands })[]>();

  beforeAll(async () => {
    admin = await system.home.signIn(admin.email);
    const cuts = await system.leaveAfterEachWrite(
      group.map(([, kind]) => flowOf(kind)),
      2,
    );
    for (const [at, [name, kind]] of group.entries()) {
      const changing = (cuts[at] as Cut[]).filter((_, n) => n % 2 === 1);
      changed.set(
        name,
        await Promise.all(changing.map(async (one) => ({ ...one, stands: await kind.change(one.somebody.given) }))),
      );
    }
    await Promise.all([later.sweep(), later.sweep()]);
    for (const [at, [name, kind]] of group.entries()) {
      const alone = (cuts[at] as Cut[]).filter((_, n) => n % 2 === 0);
      seen.set(name, await Promise.all(alone.map(async (one) => ({ ...one, seen: await kind.look(one.somebody.given) }))));
    }
  }, PATIENCE);

  it.each(group.map(([name]) => name))('%s is whole or not at all after the next sweep', (name) => {
    const alone = seen.get(name) as (Cut & { seen: unknown })[];
    // a write in the background can come between, but hardly twice
    const all = [...alone, ...(changed.get(name) as Cut[])];
    expect(all.some(({ passed }) => passed.at(-1) === 'units.findAndModify')).toBe(true);
    const done = alone.at(-1)?.seen;
    for (const one of alone) expect([one.somebody.before, done], whereOf(one)).toContainEqual(one.seen);
  });

  it.each(group.map(([name]) => name))('%s leaves alone what was written meanwhile', async (name) => {
    for (const one of changed.get(name) as (Cut & { stands: Stands })[])
      await expect(
        one.stands().then(() => 'stands'),
        whereOf(one),
      ).resolves.toBe('stands');
  });

  it('leaves nothing to do', async () => {
    const { db } = system.home.storage.model(organizationModel);
    expect(await db.collection('units').countDocuments()).toBe(0);
    expect(await db.collection('organizations').countDocuments({ 'notes.0': { $exists: true } })).toBe(0);
  });

  const whereOf = ({ passed }: Cut) => `after ${passed.join(', ') || 'no write'}`;
});
