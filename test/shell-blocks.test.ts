import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { runCommands, transcriptOf } from './transcripts.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const filesOf = (folder: string, end: string) =>
  readdirSync(path.join(ROOT, folder), { recursive: folder !== '.', encoding: 'utf8' })
    .filter((file) => file.endsWith(end) && !/node_modules|dist\//.test(file))
    .map((file) => path.join(folder, file));
const DOCUMENTS = [...filesOf('.', '.md'), ...filesOf('docs', '.md'), ...filesOf('apps', '.md')];

/** Shell blocks that no test runs, by their beginning, with the reason. */
const NOT_RUN: Record<string, string> = {
  'npm ci && npm start': 'installs, and serves until it is stopped; what it serves is what the other commands talk to',
  'npm ci && npm test\nnpm run test:faults': 'is what runs the tests',
  'npm ci\nnpm run dev': 'installs, and runs until it is stopped; its scripts are looked for below',
  'npm run pack -- release': 'publishes; packages.test.ts packs',
  'npm install @tandem/': 'installs, and serves until it is stopped; packages.test.ts does it with the tarballs',
  'npm run new -- reviews': 'lays files; new-service.test.ts runs it in a copy',
  'export AUTH_ENC_SECRET': 'needs Docker; compose.yml and Dockerfile are checked by deployment.test.ts',
  '(umask 077; docker compose': 'needs Docker; commands.test.ts exports and imports',
  'useradd --system': 'needs root and systemd; the unit is checked by deployment.test.ts',
  'systemd-run --pty': 'needs root and systemd; it runs what commands.test.ts runs',
  'export OTEL_EXPORTER_OTLP_ENDPOINT': 'serves until it is stopped; tracing.test.ts of apps/examples runs that',
};

/** A shell block, and the name by which a test refers to it. */
interface Block {
  document: string;
  name: string | undefined;
  code: string;
}
const blocks: Block[] = DOCUMENTS.flatMap((document) =>
  [...read(document).matchAll(/(?:<!-- (?:run )?([\w-]+) -->\n\n)?```(?:sh|bash|shell|console)\n([\s\S]*?)```/g)].map(
    ([, name, code = '']) => ({ document, name, code }),
  ),
);

const tests = [...filesOf('test', '.test.ts'), ...filesOf('apps/examples/src', '.test.ts')].map(read);
/** Whether a test reads the block's document and names the block. */
function isRun({ document, name }: Block): boolean {
  return name !== undefined && tests.some((test) => test.includes(path.basename(document)) && test.includes(`'${name}'`));
}

describe('the shell blocks of all documents', () => {
  it('are run by a test, or listed here with a reason', () => {
    expect(blocks.length).toBeGreaterThan(20);
    const reasons = Object.keys(NOT_RUN);
    const excused = (block: Block) => reasons.filter((start) => block.code.startsWith(start));
    expect(blocks.filter((block) => !isRun(block) && excused(block).length === 0)).toEqual([]);
    // no exception may be obsolete or unnecessary
    expect(reasons.filter((start) => !blocks.some((block) => !isRun(block) && block.code.startsWith(start)))).toEqual([]);
  });

  it('use only existing scripts and commands', async () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const help = await runCommands('npm run --silent tandem -- --help', ROOT);
    for (const document of DOCUMENTS) {
      const text = read(document);
      for (const [, script = ''] of text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:-]*)/g))
        expect(scripts, `${document}: npm run ${script}`).toHaveProperty([script]);
      for (const [, command = ''] of text.matchAll(/\bnpm run (?:--silent )?tandem -- ([a-z]+)/g))
        expect(help, `${document}: tandem ${command}`).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    }
  });
});

describe('docs/deployment.md', () => {
  const text = read('docs/deployment.md');

  it('has a doctor that finds nothing wrong with a fresh clone except the missing admin', async () => {
    const dataDir = mkdtempSync(`${tmpdir()}/tandem-doctor-`);
    try {
      const { commands } = transcriptOf(text, 'doctor');
      const said = await runCommands(`export DATA_DIR=${dataDir} NODE_ENV=\n${commands}`, ROOT);
      expect(said.split('\n').filter((line) => line.startsWith('look ') && !/^look (admin|indexes|disk)/.test(line))).toEqual([]);
      expect(said).toContain('ok   database: answers (embedded engine)');
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  it('has a backup that can be restored', async () => {
    await using app = await startTestServer();
    await app.signUp();
    const dataDir = mkdtempSync(`${tmpdir()}/tandem-backup-`);
    const restored = new URL(app.mongodbUri);
    restored.pathname = `/restored_${process.pid}`;
    try {
      const commands = transcriptOf(text, 'backup')
        .commands.replaceAll('backup.jsonl', `${dataDir}/backup.jsonl`)
        .replace('mongodb://localhost/restored', `'${restored.href}'`);
      await runCommands(
        `export DATA_DIR=${dataDir} NODE_ENV= MONGODB_URI='${app.mongodbUri}'\n${commands}\necho done > ${dataDir}/done`,
        ROOT,
      );
      expect(readFileSync(`${dataDir}/backup.jsonl`, 'utf8')).toContain('identities');
      expect(readFileSync(`${dataDir}/done`, 'utf8')).toBe('done\n');
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });
});

it('docs/files.md prints the documented output', async () => {
  const folder = mkdtempSync(`${tmpdir()}/tandem-files-`);
  await using app = await startTestServer({ dataDir: folder });
  try {
    const { commands, printed } = transcriptOf(read('docs/files.md'), 'files');
    expect(await runCommands(commands.replaceAll('http://localhost:3000', app.url), folder)).toBe(printed);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
