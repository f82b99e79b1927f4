import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { vi } from 'vitest';

/** Samples run here, so that the names of packages are found, and are TypeScript as everything else in the house. */
const FOLDER = new URL('./.samples/', import.meta.url);
let count = 0;

/** The TypeScript of a document, one block each. */
export function samplesOf(document: string): string[] {
  const text = readFileSync(new URL(`../${document}`, import.meta.url), 'utf8');
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

/** The one sample of a document that has this in it. @throws Error when it is not one */
export function sampleOf(document: string, part: string): string {
  const found = samplesOf(document).filter((sample) => sample.includes(part));
  if (found.length !== 1) throw new Error(`${document} has ${found.length} samples with ${part}`);
  return found[0] as string;
}

/** Runs a sample as a module. @returns what it printed, line by line, and what it exports */
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
