import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LEFT_OUT = new Set(['node_modules', '.git', '.turbo', '.data']);
const LINE = "export { profiles } from './profiles/profiles.js';\n";

let copy: string;
/** Runs a command in the copy. @throws Error with what it printed */
async function run(...[command, ...parameters]: [string, ...string[]]): Promise<void> {
  await promisify(execFile)(command, parameters, { cwd: copy, env: { ...process.env, VITEST: undefined } }).catch(
    ({ message, stdout }: Error & { stdout: string }) => {
      throw new Error(`${message}\n${stdout}`);
    },
  );
}

/**
 * A copy of the checkout, within it: its packages import each other, and everything else is found in the folder above. Elsewhere
 * TypeScript could not name the types of dependencies.
 */
beforeAll(async () => {
  await mkdir(path.join(ROOT, '.data'), { recursive: true });
  copy = await mkdtemp(path.join(ROOT, '.data/new-service-'));
  const filter = (source: string) => !LEFT_OUT.has(path.basename(source));
  for (const name of (await readdir(ROOT)).filter(filter))
    await cp(path.join(ROOT, name), path.join(copy, name), { recursive: true, filter });
  await mkdir(path.join(copy, 'node_modules/@tandem'), { recursive: true });
  for (const workspace of ['packages', 'apps'])
    for (const name of await readdir(path.join(copy, workspace))) {
      await symlink(path.join(copy, workspace, name), path.join(copy, 'node_modules/@tandem', name));
      const nested = path.join(workspace, name, 'node_modules');
      if (existsSync(path.join(ROOT, nested))) await symlink(path.join(ROOT, nested), path.join(copy, nested));
    }
});
afterAll(() => rm(copy, { recursive: true }));

it(
  'a new service and one line in the list are a service that compiles, is formatted, and passes its tests',
  { timeout: 900_000 },
  async () => {
    const folder = 'packages/services/src/gift-cards';
    await run('npm', 'run', '--silent', 'new', '--', 'gift-cards');
    expect(await readdir(path.join(copy, folder))).toHaveLength(7);

    expect(await readFile(path.join(copy, folder, 'gift-cards.ts'), 'utf8')).toContain("description: 'The gift cards.'");

    const list = path.join(copy, 'packages/services/src/all-services.ts');
    const listed = (await readFile(list, 'utf8')).replace(
      LINE,
      `${LINE}export { giftCards } from './gift-cards/gift-cards.js';
`,
    );
    await writeFile(list, listed);

    await run('npx', 'tsc', '--noEmit');
    await run('npx', 'prettier', '--check', folder);
    await run('npx', 'vitest', 'run', folder, 'packages/services/src/shared/every-list.test.ts');
  },
);
