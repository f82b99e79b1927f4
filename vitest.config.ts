import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** The packages' sources, not their builds: the same condition as in the editor and in `npm run check`. */
const conditions = ['tandem-source', 'node'];

const ALL = ['packages/*/{src,test}/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts', 'test/**/*.test.ts'];
/**
 * Tests that kill processes, take parts away, start programs or a browser, need more than the services built, or send
 * large amounts: `npm run test:faults`.
 */
const FAULTS = [
  '**/*{crash,outage}.test.ts',
  'packages/embedded-mongo/test/*.test.ts',
  'packages/services/src/**/{enumeration,resource-limits,stream-limits,fuzz,tree-walk}.security.test.ts',
  'packages/services/src/**/{members,category-tree}.race.test.ts',
  'packages/services/src/shared/{failover,played-servers,list-commands,list-indexes}.test.ts',
  'packages/services/src/{files/held-files,invitations/withdrawal.security}.test.ts',
  'packages/drivers/src/redis/*.test.ts',
  'apps/console/test/*.test.ts',
  'apps/{examples,generated-clients}/src/*.test.ts',
  'apps/server/src/{commands,first-start,hostile-input.security,pages,redis,shutdown}.test.ts',
  'apps/server/src/seed/*.test.ts',
  'test/{authentication-doc,clients-doc,deployment,embedding,embedding-entity,embedding-services,new-service,packages,readme,shell-blocks}.test.ts',
];

/** Tests that render: they need parts of a page. */
const PAGES = ['packages/react/src/*.test.ts'];

export default defineConfig({
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: ['packages/testing/src/shared-engine.ts'],
    setupFiles: ['packages/testing/src/release-database.ts'],
    // what hangs, on a machine that others use too: speed is no test
    testTimeout: 180_000,
    // what differs is seen in the message
    chaiConfig: { truncateThreshold: 0 },
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    // the tests wait for the engine as often as they work
    maxWorkers: availableParallelism() + 1,
    // files share a process, which loads the services once
    isolate: false,
    projects: [
      { extends: true, test: { name: 'tests', include: ALL, exclude: ['**/node_modules/**', ...FAULTS, ...PAGES] } },
      { extends: true, test: { name: 'pages', include: PAGES, environment: './packages/react/test/browser-environment.ts' } },
      { extends: true, test: { name: 'faults', include: FAULTS } },
    ],
  },
});
