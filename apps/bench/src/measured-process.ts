import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer, Question } from './measured-child.js';

/** How long a process may take to stop, in milliseconds. */
const STOP_MS = 20_000;
const TICKS_PER_SECOND = 100;

/** A server in a separate process that reports its CPU time. */
export interface MeasuredProcess {
  url: string;
  /** CPU time so far, over all threads, user and system, in microseconds. */
  cpu(): Promise<number>;
  /** Its resident memory in bytes, read from the system without asking the process. */
  residentBytes(): number;
  ask<T>(name: string, facts?: unknown): Promise<T>;
  stop(): Promise<void>;
}

/** Resident memory of a process, in bytes. */
export function residentBytesOf(pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** CPU time of a process so far, over all threads, user and system, in microseconds. */
export function cpuTimeOf(pid: number | undefined): number {
  // the name before it, in parentheses, may contain spaces
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /s, '').split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / TICKS_PER_SECOND;
}

/**
 * Starts a module of this folder as a process with its own environment. Its output goes to a file, as a deployed
 * server's does.
 * @throws Error with the file's name when it ends before it listens
 */
export async function startMeasured(module: string, env: NodeJS.ProcessEnv, logDir: string): Promise<MeasuredProcess> {
  const logFile = path.join(logDir, `${module}.log`);
  const output = openSync(logFile, 'a');
  const child = fork(fileURLToPath(new URL(`${module}.js`, import.meta.url)), {
    env: { ...process.env, ...env },
    execArgv: ['--max-old-space-size=1024'], // as docs/deployment.md says
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
  closeSync(output);
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  const exited = once(child, 'exit').then(([code, signal]) => {
    const error = new Error(`${module} ended: ${String(signal ?? code)}; its log was ${logFile}`);
    for (const { reject } of waiting.values()) reject(error);
  });
  child.on('message', ({ id, value, error }: Answer) => {
    if (error === undefined) waiting.get(id)?.resolve(value as never);
    else waiting.get(id)?.reject(new Error(`${module}: ${error}`));
    waiting.delete(id);
  });

  function answerTo<T>(id: number): Promise<T> {
    return new Promise<T>((resolve, reject) => waiting.set(id, { resolve, reject }));
  }
  let asked = 0;
  function ask<T>(name: string, facts?: unknown): Promise<T> {
    const question: Question = { id: ++asked, name, facts };
    const answer = answerTo<T>(question.id);
    child.send(question);
    return answer;
  }

  const url = await answerTo<string>(0);
  return {
    url,
    ask,
    cpu: () => ask<number>('cpu'),
    residentBytes: () => residentBytesOf(child.pid),
    async stop() {
      if (!child.connected) return exited;
      const deadline = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ask('stop').catch(() => undefined);
      await exited;
      clearTimeout(deadline);
    },
  };
}
