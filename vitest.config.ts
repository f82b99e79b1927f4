import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** The packages' sources, not their builds: the same condition as in the editor and in `npm run check`. */
const conditions = ['tandem-source', 'node'];

export default defineConfig({
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/{src,test}/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: ['packages/testing/src/shared-engine.ts'],
    // what hangs, on a machine that others use too: speed is no test
    testTimeout: 90_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // the tests wait for the engine as often as they work
    maxWorkers: availableParallelism() + 1,
  },
});
