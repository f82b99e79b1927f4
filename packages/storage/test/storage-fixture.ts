import { openStorage, type Clock, type Storage } from '../src/index.js';

/** A clock that stands still until it is moved. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(start = new Date('2026-01-01T00:00:00.000Z')): TestClock {
  let time = start.getTime();
  return {
    now: () => new Date(time),
    advance(ms) {
      time += ms;
    },
  };
}

/** The URI of a new database on the engine of the test run. */
export function testDatabase(): URL {
  const engine = process.env['TANDEM_TEST_MONGODB_URI'];
  if (!engine) throw new Error('TANDEM_TEST_MONGODB_URI names the database engine of the tests');
  const uri = new URL(engine);
  uri.pathname = `/storage_${process.pid}_${Date.now().toString(36)}`;
  return uri;
}

/** A storage with its own database; one for each test file. */
export async function openTestStorage(
  parameters: Record<string, unknown> = {},
): Promise<{ storage: Storage; clock: TestClock; uri: string }> {
  const uri = testDatabase();
  for (const [name, value] of Object.entries(parameters)) uri.searchParams.set(name, String(value));
  const clock = testClock();
  return { storage: await openStorage({ uri: uri.href, clock }), clock, uri: uri.href };
}
