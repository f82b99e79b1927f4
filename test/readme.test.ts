import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

const app = fixture(startTestServer);

/** The two code blocks after a marker: a command, and its output. */
function example(name: string): [string, string] {
  const [, after = ''] = readme.split(`<!-- ${name} -->`);
  const blocks = [...after.matchAll(/```\w*\n([\s\S]*?)```/g)].map(([, block]) => block as string);
  return [(blocks[0] ?? '').replaceAll('http://localhost:3000', app.url), blocks[1] ?? ''];
}

async function run(command: string, args: string[], environment: Record<string, string> = {}): Promise<string> {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  await once(child, 'close');
  return out;
}

const withoutIds = (text: string) => text.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID').trim();

describe('the README', () => {
  it('shows a REST call and its output', async () => {
    const [command, printed] = example('rest');
    expect(withoutIds(await run('bash', ['-c', command]))).toBe(withoutIds(printed));
  });

  it('shows how to fill a database, and what to query in it', async () => {
    const [seed, made] = example('seed');
    const dataDir = mkdtempSync(`${tmpdir()}/tandem-readme-`);
    try {
      // unset, as for a reader
      const environment = { MONGODB_URI: app.mongodbUri, DATA_DIR: dataDir, BCRYPT_COST: '4', NODE_ENV: '' };
      expect(await run('bash', ['-c', seed], environment)).toBe(made);
    } finally {
      rmSync(dataDir, { recursive: true });
    }
    const [question, answer] = example('catalogue');
    expect(JSON.parse(await run('bash', ['-c', question]))).toEqual(JSON.parse(answer));
  });

  it('shows a tRPC call and its output', async () => {
    const [script, printed] = example('trpc');
    // beside the packages, so that their names resolve
    const file = `${root}/test/tour-${process.pid}.mjs`;
    writeFileSync(file, script);
    try {
      expect(await run(process.execPath, [file])).toBe(printed);
    } finally {
      rmSync(file);
    }
  });
});
