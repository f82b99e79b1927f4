import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/**
 * The tests that `npm run test:mutations` runs against changed lines: those beside the code that is changed, so that a package's rules
 * are known to be tested by the package itself. A change that makes a test wait forever is noticed after a few seconds.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    projects: undefined,
    include: ['packages/{core,storage,list-query}/{src,test}/**/*.test.ts'],
    // takes as long as all others, for each change
    exclude: ['**/node_modules/**', '**/*outage.test.ts'],
    testTimeout: 15_000,
    hookTimeout: 15_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
