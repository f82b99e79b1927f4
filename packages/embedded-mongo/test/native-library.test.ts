import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { engineBuildFor, locateBinding, retargetedBinding } from '../src/native-library.js';
import { retargetSymbols } from '../src/retarget-symbols.js';
import { temporaryDirectory } from './fixture.js';

const binding = locateBinding(process.arch, import.meta.url);

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

test.each([
  ['linux', 'x64', '2.38', 'native'],
  ['linux', 'arm64', '2.41', 'native'],
  ['linux', 'x64', '2.37', 'retargeted'],
  ['linux', 'arm64', '2.36', 'retargeted'],
])('%s %s with glibc %s runs the engine: %s', (platform, arch, glibc, build) => {
  expect(engineBuildFor({ platform, arch, glibc })).toBe(build);
});

test.each([
  ['linux', 'x64', '2.35'],
  ['linux', 'x64', undefined],
  ['linux', 'riscv64', '2.40'],
  ['darwin', 'arm64', undefined],
  ['win32', 'x64', undefined],
])('%s %s with glibc %s is refused with the remedy', (platform, arch, glibc) => {
  expect(() => engineBuildFor({ platform, arch, glibc })).toThrow(
    expect.objectContaining({
      code: 'unsupported-platform',
      message: expect.stringMatching(/MONGODB_URI.*compose\.yml/) as string,
    }),
  );
});

test('a missing package is refused with the remedy', async () => {
  const elsewhere = join(await temporaryDirectory(), 'index.js');
  expect(() => locateBinding('x64', elsewhere)).toThrow(
    expect.objectContaining({ code: 'package-missing', message: expect.stringMatching(/npm install.*MONGODB_URI/) as string }),
  );
});

test('the copy for an older glibc needs nothing newer, and a damaged one is made again', async () => {
  const cache = await temporaryDirectory();
  const copy = await retargetedBinding(binding, cache);
  const engine = join(cache, 'libembedded_mongodb_native.so');
  const sums = [sha256(copy), sha256(engine)];
  for (const file of [copy, engine]) expect(readFileSync(file).includes('__isoc23_strtoul\0')).toBe(true);

  await writeFile(engine, 'spoilt');
  await Promise.all([retargetedBinding(binding, cache), retargetedBinding(binding, cache)]);
  expect([sha256(copy), sha256(engine)]).toEqual(sums);
  expect(await readdir(cache)).toHaveLength(2);
});

test('a library of another release is left alone', async () => {
  const [other, cache] = [await temporaryDirectory(), await temporaryDirectory()];
  const copy = join(other, 'embedded-mongodb.node');
  await copyFile(binding, copy);
  await writeFile(
    join(other, 'libembedded_mongodb_native.so'),
    Buffer.concat([readFileSync(join(dirname(binding), 'libembedded_mongodb_native.so')), Buffer.of(0)]),
  );
  await expect(retargetedBinding(copy, cache)).rejects.toMatchObject({ code: 'unsupported-platform' });
  expect(await readdir(cache)).toEqual([]);
});

test('a file that is not a library is refused', () => {
  expect(() => retargetSymbols(Buffer.from('not an ELF file'))).toThrow('not a 64-bit little-endian ELF file');
});
