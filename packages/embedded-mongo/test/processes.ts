import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Polls until a condition holds that has no event. */
export async function until(isTrue: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not true within ${withinMs} ms: ${isTrue.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Whether a process runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The running child processes of a process. */
export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/**
 * Builds the package into a directory, as `npm run build` does: another process needs JavaScript.
 *
 * @returns the path of the built index
 */
export function buildInto(directory: string): string {
  const repository = fileURLToPath(new URL('../../..', import.meta.url));
  const project = join(repository, 'packages/embedded-mongo/tsconfig.build.json');
  mkdirSync(directory);
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(repository, 'node_modules'), join(directory, 'node_modules'));
  execFileSync(join(repository, 'node_modules/.bin/tsc'), ['-p', project, '--outDir', join(directory, 'dist')]);
  return join(directory, 'dist/index.js');
}

export interface Line {
  type: string;
  role?: string;
  pid?: number;
  message?: string;
}

/** A Node process that prints lines of JSON. */
export function startScript(script: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const exited = once(child, 'exit');
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line));
  return {
    pid: child.pid ?? 0,
    async line(isWanted: (line: Line) => boolean): Promise<Line> {
      await until(() => lines.some(isWanted));
      return lines.find(isWanted) as Line;
    },
    async stop(): Promise<void> {
      child.stdin.write('stop\n');
      await exited;
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
