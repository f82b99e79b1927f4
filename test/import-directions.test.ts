import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
let tree: string;
beforeAll(() => {
  tree = mkdtempSync(path.join(tmpdir(), 'tandem-imports-'));
  cpSync(path.join(root, '.oxlintrc.json'), path.join(tree, '.oxlintrc.json'));
});
afterAll(() => rmSync(tree, { recursive: true }));

/** Whether the lint rules refuse this import in this file. */
function isRefused(file: string, from: string, kind = ''): boolean {
  const place = path.join(tree, file);
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(
    place,
    `import ${kind}{ thing } from '${from}';\nexport const other: typeof thing = ${kind === '' ? 'thing' : 'undefined'};\n`,
  );
  const { stdout } = spawnSync(path.join(root, 'node_modules/.bin/oxlint'), [file], { cwd: tree, encoding: 'utf8' });
  return stdout.includes('no-restricted-imports');
}

it.each([
  ['packages/core/src/x.ts', '@tandem/storage'],
  ['packages/core/src/x.ts', '../../storage/src/index.js'],
  ['packages/storage/src/x.ts', '@tandem/services'],
  ['packages/storage/src/deep/x.ts', '../../../core/src/index.js'],
  ['packages/embedded-mongo/src/x.ts', '@tandem/storage'],
  ['packages/list-query/src/x.ts', '@tandem/storage'],
  ['packages/list-query/src/x.ts', 'mongoose'],
  ['packages/lists/src/x.ts', '@tandem/services'],
  ['packages/services/src/notifications/x.ts', '../identities/identity.model.js'],
  ['packages/services/src/x.ts', '@tandem/server'],
  ['packages/services/src/x.ts', '../../../apps/server/src/index.js'],
  ['packages/services/src/x.ts', '@tandem/drivers/mail'],
  ['packages/drivers/src/mail/x.ts', '@tandem/services'],
  ['packages/drivers/src/mail/x.ts', '@tandem/storage'],
  ['packages/drivers/src/x.ts', '../../services/src/index.js'],
  ['packages/client/src/x.ts', '@tandem/core'],
  ['packages/client/src/x.ts', '../../services/src/index.js'],
  ['packages/client/src/x.ts', 'node:fs'],
  ['packages/react/src/x.ts', '@tandem/services'],
  ['apps/console/src/x.tsx', '@tandem/services'],
  ['apps/console/src/chat/x.ts', '../../../../packages/client/src/index.js'],
  ['apps/console/src/x.ts', 'node:fs'],
])('%s may not import %s', (file, from) => {
  expect(isRefused(file, from)).toBe(true);
});

it('imports in the right direction are accepted', () => {
  expect(isRefused('packages/services/src/notifications/x.ts', './notification.model.js')).toBe(false);
  expect(isRefused('packages/services/src/notifications/x.ts', '../identities/identities.service.js')).toBe(false);
  expect(isRefused('packages/services/src/x.ts', '@tandem/storage')).toBe(false);
  expect(isRefused('packages/services/src/x.ts', '@tandem/drivers/mail', 'type ')).toBe(false);
  expect(isRefused('packages/services/src/x.ts', '@tandem/list-query')).toBe(false);
  expect(isRefused('packages/lists/src/x.ts', '@tandem/storage')).toBe(false);
  expect(isRefused('packages/drivers/src/x.ts', '@tandem/core')).toBe(false);
  expect(isRefused('packages/client/src/x.ts', '@tandem/services', 'type ')).toBe(false);
  expect(isRefused('packages/core/src/rest/x.ts', '../errors.js')).toBe(false);
  expect(isRefused('apps/console/src/chat/x.tsx', '@tandem/client')).toBe(false);
});
