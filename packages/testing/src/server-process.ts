import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { OpenApiDocument } from '@tandem/core';
import { createCaller, type Caller } from './caller.js';
import { createContract, type Contract } from './contract.js';
import { TEST_SECRETS } from './test-secrets.js';

/** The command line, which runs what is built; `npm run test:faults` builds first. */
const MAIN = fileURLToPath(new URL('../../../apps/server/bin/tandem.cjs', import.meta.url));

/** Those of `startTestServer`, so that a token of one server is valid at the other. */
const SECRETS = { AUTH_ENC_SECRET: TEST_SECRETS.authEncSecret, AUTH_SIGN_SECRET: TEST_SECRETS.authSignSecret };

/** A line of the server's log. */
export type LogLine = { msg?: string } & Record<string, unknown>;

/** A server in a separate process, which a test can kill. */
export interface ServerProcess extends Caller, AsyncDisposable {
  url: string;
  /** Its log so far. */
  lines: readonly LogLine[];
  /** Waits for the nth line with this text, counted from 1. */
  logged(text: string, times?: number): Promise<LogLine>;
  /** Ends it, by default with SIGKILL, and waits for its end. May be called repeatedly. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

/** Whether a request has no answer because its process was killed. */
export function isCutOff(error: unknown): boolean {
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/**
 * Contracts by what configures a server besides the addresses of others: a document takes as long as a start, and most
 * tests start the same server many times.
 */
const contracts = new Map<string, Contract>();
const ADDRESSES = { MONGODB_URI: '', MAIL_URL: '', REDIS_URL: '', DATA_DIR: '' };

async function contractOf(url: string, environment: Record<string, string>): Promise<Contract> {
  const key = JSON.stringify({ ...environment, ...ADDRESSES });
  const contract = contracts.get(key) ?? createContract((await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument);
  contracts.set(key, contract);
  return contract;
}

/**
 * Starts the built `tandem serve` on a free port.
 * @param environment besides what every server needs; at least `MONGODB_URI` or `DATA_DIR`
 * @throws Error with its output when it does not start
 */
export async function startServerProcess(environment: Record<string, string>): Promise<ServerProcess> {
  const defaults = { NODE_ENV: 'production', PORT: '0', BCRYPT_COST: '10', SHUTDOWN_DELAY: '0s', RATE_LIMITS: 'off', ...SECRETS };
  const env = { PATH: process.env['PATH'], ...defaults, ...environment };
  const child = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: LogLine[] = [];
  const waiters = new Set<() => void>();
  const complaints: string[] = [];
  child.stderr.on('data', (chunk) => complaints.push(String(chunk)));
  let hasEnded = false;
  const ended = once(child, 'close').then(() => {
    hasEnded = true;
    for (const wake of waiters) wake();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    // the last line of a killed process may be cut off
    if (line.endsWith('}')) lines.push(JSON.parse(line) as LogLine);
    for (const wake of waiters) wake();
  });

  function logged(isWanted: (line: LogLine) => boolean, times: number): Promise<LogLine> {
    return new Promise((resolve, reject) => {
      function look(): void {
        const found = lines.filter(isWanted)[times - 1];
        if (!found && !hasEnded) return;
        waiters.delete(look);
        if (found) resolve(found);
        else reject(new Error(`the server ended: ${complaints.join('')}`));
      }
      waiters.add(look);
      look();
    });
  }
  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    child.kill(signal);
    await ended;
  }

  const { url } = (await logged((line) => line['url'] !== undefined, 1)) as { url: string } & LogLine;
  return {
    ...createCaller(url, await contractOf(url, environment)),
    url,
    lines,
    logged: (text, times = 1) => logged((line) => line.msg === text, times),
    kill,
    [Symbol.asyncDispose]: () => kill(),
  };
}
