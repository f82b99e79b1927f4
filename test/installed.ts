import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
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
    readdirSync(folder).map((file) => [file.replace(/^tandem-(.*)-[\d.]+\.tgz$/, '@tandem/$1'), path.join(folder, file)]),
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
  for (const [name, text] of Object.entries({
    ...files,
    'package.json': JSON.stringify(manifest),
    'package-lock.json': JSON.stringify(lockOf(tarballs)),
  }))
    await writeFile(path.join(folder, name), text);
  await run('npm', ['install', '--offline'], folder);
}
