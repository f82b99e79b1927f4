import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/**
 * `npm run test:drills`: a server under load while a process, the database, the disk, the mail server or the clock fails, and the fuzzer with
 * many requests.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: undefined,
    include: ['test/drills/*.drill.ts', 'packages/services/src/shared/fuzz.security.test.ts'],
    env: { FUZZ_RUNS: '30', ...(process.env['FUZZ_RUNS'] && { FUZZ_RUNS: process.env['FUZZ_RUNS'] }) },
    // one after the other: some measure how long an answer takes
    maxWorkers: 1,
    testTimeout: 180_000,
    reporters: ['verbose'],
  },
});
