import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { install, installOffline, pack, run, start } from './installed.js';
import { compile, sampleOf } from './samples.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** For installing packages and starting a server on a busy machine, in milliseconds. */
const PATIENCE = 400_000;
/** Resolutions that packages of ES modules do not serve; `require` takes these from Node 20.19 on. */
const OLD_RESOLUTIONS = new Set(['node10', 'node16-cjs']);

interface Manifest {
  name: string;
  version: string;
  private?: true;
  publishConfig?: object;
  license: string;
  engines: { node: string };
  devDependencies?: object;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const manifestIn = (folder: string) => JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;

const PACKAGES = ['packages', 'apps']
  .flatMap((parent) => readdirSync(path.join(ROOT, parent)).map((name) => path.join(ROOT, parent, name)))
  .filter((folder) => existsSync(path.join(folder, 'package.json')))
  .map(manifestIn)
  .filter(({ publishConfig }) => publishConfig)
  .map(({ name }) => name);

const work = mkdtempSync(path.join(tmpdir(), 'tandem-packages-'));
let tarballs: Map<string, string>;
beforeAll(async () => {
  tarballs = await pack(path.join(work, 'tarballs'));
}, PATIENCE);
afterAll(() => rmSync(work, { recursive: true }));

/** Unpacks a tarball. @returns its folder and files */
async function unpack(name: string): Promise<{ folder: string; files: string[] }> {
  const folder = path.join(work, 'unpacked', name);
  mkdirSync(folder, { recursive: true });
  await run('tar', ['-xf', tarballs.get(name) ?? '', '--strip-components=1'], folder);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return { folder, files: files.filter((file) => statSync(path.join(folder, file)).isFile()) };
}

describe.each(PACKAGES)('%s', (name) => {
  it('is packed without tests, links or traces of the repository', async () => {
    const { folder, files } = await unpack(name);
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']));
    // templates have tests of their own
    const packed = files.filter((file) => !file.startsWith('templates/'));
    expect(packed.filter((file) => /\.test\.|^(src|test)\//.test(file))).toEqual([]);
    const traces = files.filter((file) => {
      const text = readFileSync(path.join(folder, file), 'utf8');
      return text.includes(ROOT) || (file === 'package.json' && text.includes('tandem-source'));
    });
    expect(traces).toEqual([]);
    const { version, license, engines, dependencies = {}, ...manifest } = manifestIn(folder);
    expect({ license, engines }).toEqual({ license: 'MIT', engines: { node: '>=20.19' } });
    expect([manifest.private, manifest.devDependencies]).toEqual([undefined, undefined]);
    const siblings = Object.entries(dependencies).filter(([sibling]) => sibling.startsWith('@tandem/'));
    expect(siblings.filter(([sibling, range]) => range !== version || !PACKAGES.includes(sibling))).toEqual([]);
  });

  it('depends on what its declarations name', async () => {
    const { folder, files } = await unpack(name);
    const { dependencies, peerDependencies, optionalDependencies } = manifestIn(folder);
    const known = new Set([
      name,
      ...[dependencies, peerDependencies, optionalDependencies].flatMap((all) => Object.keys(all ?? {})),
    ]);
    const named = files
      .filter((file) => file.endsWith('.d.ts'))
      .flatMap((file) => {
        // comments may name packages, too
        const code = readFileSync(path.join(folder, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
        return [...code.matchAll(/(?:from |import\()['"]((?:@[\w-]+\/)?[\w:-]+)/g)].map(([, from]) => from as string);
      });
    const needed = [...new Set(named)].map((from) => {
      const types = `@types/${builtinModules.includes(from.replace('node:', '')) ? 'node' : from}`;
      return existsSync(path.join(ROOT, 'node_modules', types)) ? types : from;
    });
    expect(needed.filter((from) => !known.has(from))).toEqual([]);
  });

  it(
    'has exports that publint and Are The Types Wrong accept',
    async () => {
      const tarball = readFileSync(tarballs.get(name) ?? '');
      const { messages } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer } });
      expect(messages).toEqual([]);
      // a command has nothing to import
      if (name === 'create-tandem') return;
      const analysis = await checkPackage(createPackageFromTarballData(tarball));
      const problems = analysis.types === false ? ['no types'] : analysis.problems;
      expect(problems.filter((one) => typeof one === 'string' || !('resolutionKind' in one && OLD_RESOLUTIONS.has(one.resolutionKind)))).toEqual([]); // prettier-ignore
    },
    PATIENCE,
  );
});

it('the server’s bundle comes with the licence of each package in it', async () => {
  const { folder, files } = await unpack('@tandem/server');
  const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');
  const code = files.filter((file) => /^bundle\/.*\.js$/.test(file)).map(read);
  // the bundle names the files of CommonJS packages alone
  const inside = code.flatMap((text) => [...text.matchAll(/"[^"\n]*node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\/[^"\n]*"\(/g)]);
  const bundled = new Set([...inside.map(([, name]) => name), 'zod', 'jose', '@trpc/server']);
  expect(bundled).toContain('ioredis');
  const listed = new Set([...read('bundle/LICENSES.txt').matchAll(/^(\S+) \d\S* \(.+\)$/gm)].map(([, name]) => name));
  expect([...bundled].filter((name) => !listed.has(name))).toEqual([]);
});

/** A compiler's settings, as `tsc --init` makes them. */
const TSCONFIG = JSON.stringify({
  compilerOptions: { strict: true, target: 'es2023', module: 'nodenext', types: ['node'], skipLibCheck: true },
});

const HOST = `
import { createShop } from './shop.js';
const secret = 'a text of thirty-two bytes or more';
const { app, close } = await createShop({ dataDir: 'data', authSecrets: { authEncSecret: secret, authSignSecret: secret } });
const server = app.listen(0, '127.0.0.1', async () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  const url = \`http://127.0.0.1:\${address.port}\`;
  const { paths } = await (await fetch(\`\${url}/openapi.json\`)).json();
  console.log('/auth/login' in paths, '/parcels/{parcelId}/announcements' in paths, (await fetch(\`\${url}/whoami\`)).status);
  server.close();
  await close();
});
`;

const FRONT_END = `
import { createTandemClient } from '@tandem/client';
const client = createTandemClient({ url: process.argv[2] ?? '' });
const { id } = await client.signUp({ email: 'ann@example.org', password: 'tea at the harbour' });
const { unread } = await client.api.notifications.unreadCount.query({ identityId: id });
console.log(unread);
`;

/** Compiles where the client is typed, and wrong calls are errors. */
const TYPED_CALLS = `
import { createTandemClient, queryOf, type RouterOutputs } from '@tandem/client';
const { api } = createTandemClient({ url: 'https://api.example.org' });
const page: RouterOutputs['notifications']['list'] = await api.notifications.list.query({ identityId: '' });
export const total: number = page.metadata.pagination.total;
export const { parameters } = queryOf('notifications.list').where('isRead', 'eq', false).top(20);
// @ts-expect-error no such procedure
await api.nonsense.foo.query({});
// @ts-expect-error the id is missing
await api.notifications.list.query({});
// @ts-expect-error a mutation
await api.notifications.markRead.query({ notificationId: '' });
// @ts-expect-error no such field
queryOf('notifications.list').where('isGone', 'eq', false);
`;
const STRICT = { strict: true, noEmit: true, skipLibCheck: false, target: 'es2023', lib: ['es2023', 'dom'], types: [] };

describe('installed into an empty folder, without the network,', () => {
  const frontEnd = path.join(work, 'front-end');
  beforeAll(async () => {
    const files = { 'main.js': FRONT_END, 'calls.ts': TYPED_CALLS };
    await install(frontEnd, { tarballs, dependencies: { '@tandem/client': '' }, files });
  }, PATIENCE);

  it('the client brings none of the server’s packages', async () => {
    const installed = (await run('npm', ['ls', '--all', '--parseable'], frontEnd)).trim().split('\n').slice(1);
    const names = installed.map((folder) => folder.split('node_modules/').at(-1) as string);
    const expected = [
      '@simplewebauthn/browser',
      '@tandem/client',
      '@tandem/list-query',
      '@trpc/client',
      '@trpc/server',
      'lru-cache',
      'typescript',
    ];
    expect(names.filter((name) => !name.startsWith('@typescript/')).sort()).toEqual(expected);
  });

  it.each([{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }])(
    'the client is typed for a strict front end without Node’s types, in few files: %o',
    async (resolution) => {
      const settings = { compilerOptions: { ...STRICT, ...resolution }, files: ['calls.ts'] };
      writeFileSync(path.join(frontEnd, 'tsconfig.json'), JSON.stringify(settings));
      const read = await run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.', '--listFiles'], frontEnd);
      expect(read.trim().split('\n').length).toBeLessThanOrEqual(150);
    },
    PATIENCE,
  );

  it('the services compile and run in a host', { timeout: PATIENCE }, async () => {
    const folder = path.join(work, 'host');
    const dependencies = {
      '@tandem/core': '',
      '@tandem/embedded-mongo': '',
      '@tandem/services': '',
      '@tandem/storage': '',
      express: '^5.3.0',
      zod: '^4.6.7',
    };
    const files = { 'tsconfig.json': TSCONFIG, 'shop.ts': sampleOf('docs/embedding.md', 'createShop'), 'main.ts': HOST };
    await install(folder, { tarballs, dependencies, files });
    for (const single of ['zod', 'express', '@trpc/server'])
      expect(await run('npm', ['ls', '--parseable', single], folder)).toBe(`${folder}/node_modules/${single}\n`);
    expect(await compile(folder)).toBe('');
    expect(await run(process.execPath, ['main.js'], folder)).toBe('true true 422\n');
    const required = `console.log(typeof require('@tandem/services').createTandem)`;
    expect(await run(process.execPath, ['--input-type=commonjs', '-e', required], folder)).toBe('function\n');
  });

  it('the server runs by its command, with the console, and a front end calls it', { timeout: PATIENCE }, async () => {
    const serverFolder = path.join(work, 'server');
    await install(serverFolder, { tarballs, dependencies: { '@tandem/server': '' }, files: {} });

    const env = { NODE_ENV: 'development', PORT: '0', DATA_DIR: 'data' };
    const address = /listening on (http:\S+?)"/;
    await using server = await start(['node_modules/.bin/tandem', 'serve'], { cwd: serverFolder, env, address });
    expect((await fetch(`${server.url}/console`)).headers.get('content-type')).toContain('text/html');
    expect(await run(process.execPath, ['main.js', server.url], frontEnd)).toBe('0\n');
  });

  it(
    'the projects of create-tandem compile, pass their tests and start, or end where they cannot, and a front end calls the host through the page',
    { timeout: 2 * PATIENCE },
    async () => {
      const { folder } = await unpack('create-tandem');
      const create = (...given: string[]) => run(process.execPath, [path.join(folder, 'dist/main.js'), ...given], work);
      for (const template of ['host', 'web']) {
        const project = path.join(work, `my-${template}`);
        await create(`my-${template}`, '--template', template, '--packages', path.join(work, 'tarballs'));
        expect(readFileSync(path.join(project, '.gitignore'), 'utf8')).toContain('node_modules/');
        await installOffline(project, tarballs);
        await run('npm', ['run', 'check'], project);
        await run('npm', ['test'], project);
        await expect(create(`my-${template}`)).rejects.toThrow(`${project} is not empty\n`);
      }
      const env = { PORT: '0', NODE_ENV: 'development' };
      await using host = await start(['npm', 'start'], { cwd: path.join(work, 'my-host'), env, address: /^listening on (\S+)$/ });
      const short = ['PORT=0', 'DATA_DIR=unused', 'AUTH_ENC_SECRET=short', 'AUTH_SIGN_SECRET=short'];
      await expect(run('env', [...short, process.execPath, 'dist/main.js'], path.join(work, 'my-host'))).rejects.toThrow(
        'must have at least 32 bytes',
      );
      const page = { cwd: path.join(work, 'my-web'), env: { ...env, TANDEM_URL: host.url }, address: /Local: +(\S+)\/$/ };
      await using web = await start(['npm', 'start'], page);
      expect(await (await fetch(web.url, { headers: { accept: 'text/html' } })).text()).toContain('<title>My app</title>');
      expect(await run(process.execPath, ['main.js', web.url], frontEnd)).toBe('0\n');
    },
  );

  it('create-tandem says in a line that Node is too old', async () => {
    const { folder } = await unpack('create-tandem');
    const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'18.20.0'}})`;
    const { engines } = manifestIn(folder);
    await expect(run(process.execPath, ['--import', older, 'dist/main.js', 'x'], folder)).rejects.toThrow(
      `create-tandem needs Node ${engines.node.replace('>=', '')} or later; this is 18.20.0\n`,
    );
    expect(readdirSync(folder)).not.toContain('x');
  });
});
