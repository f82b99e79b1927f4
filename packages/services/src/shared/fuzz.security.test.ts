import { startTestServer, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fillEveryList } from '../../test/every-list.js';
import { openFuzzer, type Fuzzer } from '../../test/fuzz/fuzzer.js';

/** Requests to each operation; `npm run test:drills` sends many more. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 2);
/** What is drawn comes from this number: the same again draws the same. */
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** The level of the least log line that somebody should look at. */
const WARN = 40;
const TIMEOUT_MS = 60_000 + RUNS * 20_000;

interface Line {
  level: number;
  event?: string;
}

let bearer: TestServer;
let cookie: TestServer;
let fuzzer: Fuzzer;
beforeAll(async () => {
  bearer = await startTestServer({ mcp: true });
  cookie = await startTestServer({ mcp: true, authModes: { default: 'cookie' }, clock: bearer.clock });
  fuzzer = await openFuzzer({ bearer, cookie });
});
afterAll(async () => {
  fuzzer.close();
  await Promise.all([bearer.close(), cookie.close()]);
});

it(
  `every operation answers whatever it is sent soon, in either mode, as documented, and never 5xx (FUZZ_SEED=${SEED} FUZZ_RUNS=${RUNS})`,
  { timeout: TIMEOUT_MS },
  async () => {
    const findings: string[] = [];
    for (const [at, operation] of fuzzer.operations.entries()) {
      const finding = (error: Error) => findings.push(`${operation.name}: ${String(error.cause)}\n${error.message}`);
      await fuzzer.run(operation, { seed: SEED + at, runs: RUNS }).catch(finding);
    }
    expect(findings).toEqual([]);
    const succeeded = fuzzer.operations.filter(({ name }) => fuzzer.statusesOf(name).some((status) => status < 400));
    // many requests are right ones, and get through to the work itself
    expect(succeeded.length).toBeGreaterThan(RUNS < 10 ? 10 : fuzzer.operations.length / 2);
  },
);

it('after all of this nothing unexpected is in the log, and the system works', async () => {
  const lines = (bearer.logs() + cookie.logs()).trimEnd().split('\n');
  const warnings = lines.map((line) => JSON.parse(line) as Line).filter(({ level }) => level >= WARN);
  // those with a name are security events, which some of this is
  expect(warnings.filter(({ event }) => event === undefined)).toEqual([]);
  await fillEveryList(bearer, 2);
});
