import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { PASSWORD, fixture, startTestServer } from '@tandem/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compile } from '../../../test/samples.js';
import type { Answers, Person } from '../programs/answers.js';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const app = fixture(startTestServer);
let folder: string;

/** The command line of a package, which its exports hide. */
const commandOf = (name: string, file: string) => path.join(HERE, 'node_modules', name, file);
const generate = (command: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [command, ...args], { cwd: folder });

beforeAll(async () => {
  // below this package, so that what the clients import resolves
  folder = mkdtempSync(path.join(HERE, '.generated-'));
  cpSync(path.join(HERE, 'programs'), folder, { recursive: true });
  writeFileSync(path.join(folder, 'openapi.json'), await (await fetch(`${app.url}/openapi.json`)).text());
  const compilerOptions = { module: 'esnext', moduleResolution: 'bundler', target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], types: [], strict: true, noEmit: true }; // prettier-ignore
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  await generate(commandOf('openapi-typescript', 'bin/cli.js'), 'openapi.json', '-o', 'schema.ts');
  await generate(commandOf('@hey-api/openapi-ts', 'bin/run.js'), '-i', 'openapi.json', '-o', 'sdk', '--no-log-file');
});
afterAll(() => rmSync(folder, { recursive: true }));

it('the clients of other generators, and programs that use them, compile', async () => {
  expect(await compile(folder)).toBe('');
});

it.each(['openapi-fetch', 'hey-api'])(
  'a program with %s signs in, lists, reads an error and sends the fingerprint',
  async (program) => {
    const admin = await app.signUpAdmin();
    for (const name of ['Tea', 'Coffee']) await admin.rest('POST', '/locations', { name, code: 'x', type: 'CITY' }).expect(201);
    const person = { email: `${crypto.randomUUID()}@example.org`, password: PASSWORD, fingerprint: 'device-1' };
    await app.rest('POST', '/auth/register', { email: person.email, password: person.password }).expect(201);
    const { run } = (await import(pathToFileURL(path.join(folder, `${program}.ts`)).href)) as {
      run(url: string, of: Person): Promise<Answers>;
    };
    const { names, ...answers } = await run(app.url, person);
    expect(answers).toEqual({ unread: 0, withoutFingerprint: [401, expect.any(String)] });
    expect(new Set(names)).toEqual(new Set(['Tea']));
  },
);
