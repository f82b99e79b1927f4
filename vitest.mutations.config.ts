import { defineConfig } from 'vitest/config';
import base from './vitest.config.js';

/**
 * The tests that `npm run test:mutations` holds against changed lines: those that lie beside the code that is changed, so that a package's rules
 * are known to be tested by the package itself.
 */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    include: ['packages/{core,storage,list-query}/{src,test}/**/*.test.ts'],
  },
});
