import { fixture, type Person } from '@tandem/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openCrashFixture, type CrashFlow } from '../../test/crash-fixture.js';
import { openLaterInstance } from '../../test/later-instance.js';
import { peopleKinds } from '../../test/units/people-kinds.js';
import { recordKinds } from '../../test/units/record-kinds.js';
import { createUnitWorld } from '../../test/units/unit-world.js';
import { organizationModel } from '../organizations/organization.model.js';

/** A server takes a second to start, on a machine that has nothing else to do. */
const PATIENCE = { timeout: 240_000 };

const system = fixture(() => openCrashFixture('units'));
const later = fixture(() => openLaterInstance(system.home.mongodbUri));
let admin: Person;
beforeAll(async () => {
  admin = await system.home.signUpAdmin();
});
beforeEach(async () => {
  admin = await system.home.signIn(admin.email);
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
  // what becomes of files is asked beside them, in held-files.test.ts
  const names = later.unitNames().filter((name) => !name.startsWith('files.replace '));
  expect(Object.keys(kinds).toSorted()).toEqual(names.toSorted());
});

interface Somebody {
  given: Record<string, string>;
  before: unknown;
}

describe.each(Object.entries(kinds))('%s, whose process is killed between any two of its writes,', PATIENCE, (name, kind) => {
  it('is whole or not at all after the next sweep, and what was written meanwhile stands', async () => {
    const flow: Pick<CrashFlow<Somebody>, 'prepare' | 'request'> = {
      async prepare() {
        const given = await kind.prepare();
        return { given, before: await kind.look(given) };
      },
      request(server, { given }) {
        const [method, path, body] = kind.request(given);
        return server.rest(method, path, body, { accessToken: given['accessToken'] ?? admin.accessToken });
      },
    };
    // after each write two: one is left alone until the sweep, the other is changed before it
    const left = (await system.leaveAfterEachWrite(flow, 2)).map((one, at) => ({ ...one, isChanged: at % 2 === 1 }));
    expect(left.some(({ passed }) => passed.at(-1) === 'units.findAndModify')).toBe(true);
    const changed = await Promise.all(
      left.filter(({ isChanged }) => isChanged).map(async (one) => ({ ...one, stands: await kind.change(one.somebody.given) })),
    );
    await Promise.all([later.sweep(), later.sweep()]);
    const alone = await Promise.all(
      left.filter(({ isChanged }) => !isChanged).map(async (one) => ({ ...one, seen: await kind.look(one.somebody.given) })),
    );
    const done = alone.at(-1)?.seen;
    for (const { somebody, passed, seen } of alone) expect([somebody.before, done], whereOf(passed)).toContainEqual(seen);
    for (const { passed, stands } of changed)
      await expect(
        stands().then(() => 'stands'),
        whereOf(passed),
      ).resolves.toBe('stands');
    const { db } = system.home.storage.model(organizationModel);
    expect(await db.collection('units').countDocuments()).toBe(0);
    expect(await db.collection('organizations').countDocuments({ 'notes.0': { $exists: true } })).toBe(0);
  });

  const whereOf = (passed: readonly string[]) => `${name} after ${passed.join(', ') || 'no write'}`;
});
