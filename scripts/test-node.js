// Runs one test file of each package and the built server on another version of Node: npm run test:node -- 22
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What differs between versions: the native engine and bcrypt, sockets, streams, workers, tokens, the command line. */
const FILES = [
  'packages/embedded-mongo/test/engine.test.ts',
  'packages/storage/src/model.test.ts',
  'packages/core/src/tokens/tokens.test.ts',
  'packages/core/src/streams/stream-server.test.ts',
  'packages/list-query/test/vectors.test.ts',
  'packages/services/src/authentication/login.test.ts',
  'packages/drivers/src/mail/outbox-mail.driver.test.ts',
  'packages/client/src/notification-stream.test.ts',
  'packages/react/src/session.test.ts',
  'apps/examples/src/examples.test.ts',
];

const [version, ...options] = process.argv.slice(2);
if (!/^\d+(\.\d+)*$/.test(version ?? '')) throw new Error('say which version of Node: npm run test:node -- 22');
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'tandem-node-'));
try {
  // outside the repository: the package has a command `node`, which would hide the one that runs npm's scripts
  const binary = `node@npm:node-${process.platform}-${process.arch}@${version}`;
  execFileSync('npm', ['install', '--silent', '--no-save', '--ignore-scripts', '--prefix', folder, binary], { stdio: 'inherit' });
  const bin = path.join(folder, 'node_modules/node/bin');
  const PATH = `${bin}${path.delimiter}${process.env.PATH}`;
  const { status } = spawnSync(path.join(bin, 'node'), ['node_modules/vitest/vitest.mjs', 'run', ...FILES, ...options], {
    cwd: root,
    env: { ...process.env, PATH },
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true });
}
