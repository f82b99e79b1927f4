import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { vi } from 'vitest';

/** Samples run here, so that package names resolve, and are TypeScript. */
const FOLDER = new URL('./.samples/', import.meta.url);
let count = 0;

/** The blocks of a document in a language, by default TypeScript. */
export function samplesOf(document: string, language = 'ts'): string[] {
  const text = readFileSync(new URL(`../${document}`, import.meta.url), 'utf8');
  return text
    .split(`\n\`\`\`${language}\n`)
    .slice(1)
    .map((rest) => rest.split('```', 1)[0] ?? '');
}

/** The only sample of a document that contains this text. @throws Error unless there is exactly one */
export function sampleOf(document: string, part: string): string {
  const found = samplesOf(document).filter((sample) => sample.includes(part));
  if (found.length !== 1) throw new Error(`${document} has ${found.length} samples with ${part}`);
  return found[0] as string;
}

/** Runs a sample as a module. @returns its output by lines, and its exports */
export async function runSample<Exported>(code: string): Promise<Exported & { printed: unknown[][] }> {
  mkdirSync(FOLDER, { recursive: true });
  const file = new URL(`sample-${process.pid}-${count++}.ts`, FOLDER);
  const printed: unknown[][] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...values) => void printed.push(values));
  writeFileSync(file, code);
  try {
    return { ...((await import(file.href)) as Exported), printed };
  } finally {
    log.mockRestore();
    rmSync(file);
  }
}

/** Runs samples that are modules of one program. @returns the exports of each */
export async function runModules(modules: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  mkdirSync(FOLDER, { recursive: true });
  const dir = mkdtempSync(fileURLToPath(new URL('program-', FOLDER)));
  try {
    for (const [name, code] of Object.entries(modules)) writeFileSync(path.join(dir, name), code);
    const exported: Record<string, unknown> = {};
    for (const name of Object.keys(modules)) exported[name] = await import(path.join(dir, name));
    return exported;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Compiles samples against the built packages, as a host would, and returns the compiler's errors. */
export async function compileSamples(samples: readonly string[]): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  const dir = mkdtempSync(fileURLToPath(new URL('check-', FOLDER)));
  try {
    const config = {
      extends: '../../../tsconfig.base.json',
      compilerOptions: { noEmit: true },
      include: ['*.ts'],
    };
    writeFileSync(path.join(dir, 'tsconfig.json'), JSON.stringify(config));
    for (const [at, code] of samples.entries()) writeFileSync(path.join(dir, `sample-${at}.ts`), code);
    return await compile(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** The compiler's errors in a folder with a tsconfig.json. */
export async function compile(dir: string): Promise<string> {
  const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
  return promisify(execFile)(process.execPath, [compiler, '-p', dir]).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}
