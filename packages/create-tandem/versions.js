// Writes the versions that new projects get: of others those of this package's devDependencies, which its own lock and
// tests use, and of Tandem its own.
import { readFileSync, writeFileSync } from 'node:fs';

/** @param {string} file */
const read = (file) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
const { version, devDependencies } = read('package.json');
const { engines } = read('../../package.json');
writeFileSync(
  new URL('dist/versions.json', import.meta.url),
  JSON.stringify({ tandem: version, node: engines.node, ...devDependencies }),
);
