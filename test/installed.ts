import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Runs a program, and fails with what it printed. */
export async function run(program: string, parameters: readonly string[], cwd: string): Promise<string> {
  const environment = {
    ...process.env,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  return promisify(execFile)(program, parameters, { cwd, env: environment, maxBuffer: 64 * 1024 ** 2 }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${program} ${parameters.join(' ')}\n${error.stdout}${error.stderr}`);
    },
  );
}

/** Packs what is built. @returns the tarballs by package */
export async function pack(folder: string): Promise<Map<string, string>> {
  await run(process.execPath, [path.join(ROOT, 'scripts/pack.js'), folder], ROOT);
  return new Map(
    readdirSync(folder).map((file) => [
      file.replace(/^tandem-/, '@tandem/').replace(/-[\d.]+\.tgz$/, ''),
      path.join(folder, file),
    ]),
  );
}

interface LockedPackage {
  link?: true;
  resolved?: string;
}

/**
 * The repository's lock, in which its packages come from tarballs: all others then have the versions that `npm ci` has put
 * into npm's cache, and are found there.
 */
function lockOf(tarballs: ReadonlyMap<string, string>): object {
  const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const installed = Object.entries(packages).flatMap(([place, entry]) => {
    if (place === '' || entry.link) return [];
    const [, folder = '', rest = ''] = /^(?:packages|apps)\/([^/]+)(.*)$/.exec(place) ?? [];
    if (folder === '') return [[place, entry] as const];
    // what the templates of create-tandem need, whether or not other packages need it
    if (folder === 'create-tandem' && rest !== '') return [[rest.slice(1), entry] as const];
    const tarball = tarballs.get(`@tandem/${folder}`);
    return tarball === undefined
      ? []
      : [[`node_modules/@tandem/${folder}${rest}`, rest === '' ? { ...entry, resolved: `file:${tarball}` } : entry] as const];
  });
  return { lockfileVersion: 3, requires: true, packages: Object.fromEntries(installed) };
}

/** Makes a project of these files, and installs dependencies into it, without the network. */
export async function install(
  folder: string,
  {
    tarballs,
    dependencies,
    files,
  }: {
    tarballs: ReadonlyMap<string, string>;
    /** Names of packages, with a range for those of others. */
    dependencies: Record<string, string>;
    files: Record<string, string>;
  },
): Promise<void> {
  const ours = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]));
  const given = Object.fromEntries(Object.entries(dependencies).map(([name, range]) => [name, ours[name] ?? range]));
  const manifest = { name: 'project', private: true, type: 'module', dependencies: given, overrides: ours };
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries({ ...files, 'package.json': JSON.stringify(manifest) }))
    await writeFile(path.join(folder, name), text);
  await installOffline(folder, tarballs);
}

/** Installs what a project's package.json names, without the network. */
export async function installOffline(folder: string, tarballs: ReadonlyMap<string, string>): Promise<void> {
  await writeFile(path.join(folder, 'package-lock.json'), JSON.stringify(lockOf(tarballs)));
  await run('npm', ['install', '--offline'], folder);
}

/** Starts a program that prints its address, and stops it with all that it has started. */
export async function start(
  program: readonly [string, ...string[]],
  { cwd, env, address }: { cwd: string; env: Record<string, string>; address: RegExp },
): Promise<AsyncDisposable & { url: string }> {
  const [command, ...parameters] = program;
  const child = spawn(command, parameters, { cwd, env: { ...process.env, NO_COLOR: '1', ...env }, detached: true });
  const exited = once(child, 'exit');
  async function stop(): Promise<void> {
    if (child.exitCode === null) process.kill(-(child.pid as number));
    await exited;
  }
  const said: string[] = [];
  child.stderr.on('data', (text) => said.push(String(text)));
  for await (const line of createInterface(child.stdout)) {
    const [, url] = address.exec(line) ?? [];
    if (url !== undefined) return { url, [Symbol.asyncDispose]: stop };
    said.push(`${line}\n`);
  }
  await stop();
  throw new Error(`${program.join(' ')} has not started\n${said.join('')}`);
}
