import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/**
 * `npm run test:faults`: what happens when a process, the database, Redis, the disk, the mail server or the clock fails. Beside the scenarios
 * in test/faults these are the tests of the same kind that run with all others too, the fuzzer with many more requests.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: [
      'test/faults/*.faults.ts',
      'packages/embedded-mongo/test/crash.test.ts',
      'packages/services/src/authentication/engine-crash.test.ts',
      'packages/client/src/chat-crash.test.ts',
      'apps/server/src/redis.test.ts',
      'packages/services/src/mail/sending.test.ts',
      'packages/services/src/shared/fuzz.security.test.ts',
    ],
    env: { FUZZ_RUNS: '30', ...(process.env['FUZZ_RUNS'] && { FUZZ_RUNS: process.env['FUZZ_RUNS'] }) },
    // one after the other: some measure how long an answer takes
    maxWorkers: 1,
    testTimeout: 180_000,
    reporters: ['verbose'],
  },
});
