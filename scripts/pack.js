// Writes a tarball of each package that has a `publishConfig`: npm run pack -- <folder>
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Keys of a package.json that mean something in this repository alone. */
const LOCAL = new Set(['private', 'scripts', 'devDependencies', 'tandem-source']);

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('say where: npm run pack -- <folder>');
// npm runs scripts in the root, whichever folder the command was given in
const destination = path.resolve(process.env.INIT_CWD ?? '', folder);
mkdirSync(destination, { recursive: true });

/** @param {string} place */
const readManifest = (place) =>
  JSON.parse(readFileSync(path.join(root, place, 'package.json'), 'utf8'), (key, value) => (LOCAL.has(key) ? undefined : value));

/**
 * Whether a compiled file still has its source: builds leave what earlier ones made.
 *
 * @param {string} file
 */
function hasSource(file) {
  const compiled = /^(.*)\/dist\/(.*?)(\.d\.ts|\.js(\.map)?)$/.exec(file);
  return !compiled || ['ts', 'tsx', 'js'].some((extension) => existsSync(`${compiled[1]}/src/${compiled[2]}.${extension}`));
}

const { license, engines } = readManifest('.');
const places = ['packages', 'apps'].flatMap((parent) => readdirSync(path.join(root, parent)).map((name) => `${parent}/${name}`));
const work = mkdtempSync(path.join(tmpdir(), 'tandem-pack-'));
try {
  const prepared = places.flatMap((place) => {
    if (!existsSync(path.join(root, place, 'package.json'))) return [];
    const manifest = readManifest(place);
    if (!manifest.publishConfig) return [];
    const target = path.join(work, place);
    cpSync(path.join(root, place, 'dist'), path.join(target, 'dist'), { recursive: true, filter: hasSource });
    for (const own of ['bin', 'bundle', 'templates'].map((name) => path.join(place, name)))
      if (existsSync(path.join(root, own))) cpSync(path.join(root, own), path.join(work, own), { recursive: true });
    if (place === 'apps/server') cpSync(path.join(root, 'apps/console/dist'), path.join(target, 'console'), { recursive: true });
    cpSync(path.join(root, place, 'README.md'), path.join(target, 'README.md'));
    cpSync(path.join(root, 'LICENSE'), path.join(target, 'LICENSE'));
    writeFileSync(path.join(target, 'package.json'), JSON.stringify({ ...manifest, license, engines }, null, 2));
    return target;
  });
  execFileSync('npm', ['pack', '--silent', '--pack-destination', destination, ...prepared], { stdio: 'inherit' });
} finally {
  rmSync(work, { recursive: true });
}
