import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import * as library from './index.js';

const PACKAGE = path.join(import.meta.dirname, '..');
const ROOT = path.join(PACKAGE, '../..');

/** The first code block below a heading of docs/clients.md. */
async function readExample(heading: string): Promise<string> {
  const text = await readFile(path.join(ROOT, 'docs/clients.md'), 'utf8');
  return text.split(`# ${heading}\n`, 2)[1]?.split('```ts\n', 2)[1]?.split('```', 1)[0] as string;
}

/** Runs a module's code with its imports from `@tandem/client` handed in, and gives what it printed. */
async function run(code: string): Promise<unknown[][]> {
  const printed: unknown[][] = [];
  const body = code.replace(/^import (\{.*\}) from '@tandem\/client';$/m, 'const $1 = library;');
  // oxlint-disable-next-line typescript/no-implied-eval -- the document's own code
  const start = new Function('library', 'console', `return (async () => {${body}})();`) as (...given: unknown[]) => Promise<void>;
  await start(library, { log: (...values: unknown[]) => printed.push(values) });
  return printed;
}

/** What a front end of its own sees: the built declarations, a browser's library, none of Node's types. */
const FRONT_END = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: 'es2023',
    lib: ['es2023', 'dom'],
    types: [],
    module: 'esnext',
    moduleResolution: 'bundler',
    moduleDetection: 'force',
  },
};

/** Does what it says only where the types are those of the server, and not `any`. */
const TYPED_CALLS = `
import { createTandemClient, type RouterOutputs } from '@tandem/client';
const { api } = createTandemClient({ url: '' });
const page: RouterOutputs['notifications']['list'] = await api.notifications.list.query({ identityId: '' });
export const total: number = page.metadata.pagination.total;
// @ts-expect-error a number
export const text: string = page.metadata.pagination.total;
// @ts-expect-error the id is missing
await api.notifications.list.query({});
// @ts-expect-error there is none such
await api.nothing.at.all();
`;

/** Compiles modules as a front end would, and gives the compiler's findings. */
async function compile(modules: Record<string, string>): Promise<string> {
  await mkdir(path.join(PACKAGE, 'node_modules'), { recursive: true });
  const dir = await mkdtemp(path.join(PACKAGE, 'node_modules/.front-end-'));
  try {
    await writeFile(path.join(dir, 'tsconfig.json'), JSON.stringify(FRONT_END));
    for (const [name, code] of Object.entries(modules)) await writeFile(path.join(dir, name), code);
    const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
    return await promisify(execFile)(process.execPath, [compiler, '-p', dir]).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  } finally {
    await rm(dir, { recursive: true });
  }
}

describe('docs/clients.md', () => {
  it('has an example that runs as it stands', async () => {
    await using app = await startTestServer();
    const code = await readExample('Example');
    const here = code.replace('http://127.0.0.1:3000', app.url).replace('ann@', `${randomUUID()}@`);
    expect(await run(here)).toEqual([
      ['0 unread notifications'],
      [400, 'Validation Error', ["query parameter 'limit' must be <= 50"]],
    ]);
  });

  it('has examples that compile against the built declarations, where everything is typed', async () => {
    const findings = await compile({
      'example.ts': await readExample('Example'),
      'store.ts': await readExample('Keeping tokens'),
      'typed.ts': TYPED_CALLS,
    });
    expect(findings).toBe('');
  });
});
