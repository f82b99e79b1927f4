import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { createClient, newAccount } from '../test/clients.js';
import * as library from './index.js';

const PACKAGE = path.join(import.meta.dirname, '..');
const ROOT = path.join(PACKAGE, '../..');

/** The code blocks of a document. */
async function readExamples(document: string): Promise<string[]> {
  const text = await readFile(path.join(ROOT, 'docs', document), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

/** Runs a module's code with what it imports from `@tandem/client`; gives what it printed, and what it exports. */
async function run(code: string, imported: object = library): Promise<{ printed: unknown[][]; exported: unknown }> {
  const printed: unknown[][] = [];
  const names = [...code.matchAll(/^export async function (\w+)/gm)].map(([, name]) => name);
  const body = code
    .replace(/^import (\{.*\}) from '@tandem\/client';$/m, 'const $1 = library;')
    .replaceAll(/^export /gm, '')
    .replaceAll(/(\(\w+): \w+\)/g, '$1)');
  // oxlint-disable-next-line typescript/no-implied-eval -- the document's own code
  const start = new Function('library', 'console', `return (async () => {${body}; return { ${names.join(', ')} };})();`) as (
    ...given: unknown[]
  ) => Promise<unknown>;
  const exported = await start(imported, { log: (...values: unknown[]) => printed.push(values) });
  return { printed, exported };
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
    const [code = ''] = await readExamples('clients.md');
    const here = code.replace('http://127.0.0.1:3000', app.url).replace('ann@', `${randomUUID()}@`);
    expect((await run(here)).printed).toEqual([
      ['0 unread notifications'],
      [400, 'Validation Error', ["query parameter 'limit' must be <= 50"]],
    ]);
  });

  it('has examples that compile against the built declarations, where everything is typed', async () => {
    const examples = [...(await readExamples('clients.md')), ...(await readExamples('list-queries.md')), TYPED_CALLS];
    expect(examples.length).toBeGreaterThan(5);
    expect(await compile(Object.fromEntries(examples.map((code, at) => [`example-${at}.ts`, code])))).toBe('');
  });
});

describe('docs/list-queries.md', () => {
  it('has an example that answers what it says', async () => {
    await using app = await startTestServer();
    const { client } = createClient(app);
    const { id } = await client.signUp(newAccount());
    const told = await app.tandem.services.notifications.notifyMany(Array.from({ length: 21 }, () => ({ receiverId: id })));
    await client.api.notifications.markRead.mutate({ notificationId: told[3]?.id ?? '' });

    const [code = ''] = await readExamples('list-queries.md');
    const { exported } = await run(code, { ...library, createTandemClient: () => client });
    const { unreadOf, countsOf } = exported as Record<string, (identityId: string) => Promise<unknown>>;
    expect(await unreadOf?.(id)).toEqual({ newest: told[20]?.createdAt });
    expect(await countsOf?.(id)).toEqual(['false: 20', 'true: 1']);
  });
});
