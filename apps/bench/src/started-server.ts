import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { eachConnected, type LoadRequest } from './connection.js';
import { cpuTimeOf, residentBytesOf } from './measured-process.js';

/** Between attempts, in milliseconds. */
const POLL_MS = 5;
/** How long a start may take. */
const START_MS = 30_000;

/** A server in a process of its own, started as in production, and measured from outside alone. */
export interface StartedServer {
  url: string;
  /**
   * Sends a request until it is answered with 200. @returns what passed from the start until then, in microseconds:
   * time, and CPU time over all threads; @throws Error with the name of its log when it ends before
   */
  firstAnswer(request: LoadRequest): Promise<{ time: number; cpu: number }>;
  residentBytes(): number;
  /** Ends it at once. */
  kill(): Promise<void>;
}

/** Starts a file, with the argument `serve`, on a free port. */
export async function startServer(file: string, env: NodeJS.ProcessEnv, logDir: string): Promise<StartedServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = path.join(logDir, `${path.basename(file)}.log`);
  const output = openSync(logFile, 'a');
  const start = performance.now();
  const child = spawn(process.execPath, [file, 'serve'], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  const exited = once(child, 'exit');

  return {
    url,
    async firstAnswer(request) {
      const send = () => eachConnected(url, [request], async (connection) => void (await connection.send(request, 200)));
      for (let isAnswered = false; !isAnswered;) {
        if (child.exitCode !== null || performance.now() > start + START_MS) throw new Error(`no answer; the log was ${logFile}`);
        isAnswered = await send().then(
          () => true,
          () => wait(POLL_MS, false),
        );
      }
      return { time: (performance.now() - start) * 1000, cpu: cpuTimeOf(child.pid) };
    },
    residentBytes: () => residentBytesOf(child.pid),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
