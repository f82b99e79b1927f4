import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Timeout of a start, in milliseconds, and the number of attempts. */
const START_MS = 10_000;
const TRIES = 5;

/** Below the ephemeral ports: the port is still free when a stopped server starts again. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

/** A real Redis for tests, on loopback, that can go down and come back. */
export interface RedisServer extends AsyncDisposable {
  /** For `REDIS_URL`. */
  url: string;
  /** Of its process; undefined while it is stopped. */
  readonly pid: number | undefined;
  /** Kills the process like a crash; its data is lost. */
  stop(): Promise<void>;
  /** Starts it again, empty, on the same port. */
  start(): Promise<void>;
  /** Makes it hang: connections stay open and nothing is answered, until `resume`. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
}

/** Resolves when the server accepts connections. @throws when it ends instead, or takes too long */
async function whenReady(child: ChildProcess): Promise<void> {
  let output = '';
  const ready = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`redis-server is not ready: ${output}`)), START_MS);
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(new Error(`the tests need redis-server (Debian: apt-get install redis-server): ${error.message}`));
    });
    child.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(`redis-server ended: ${output}`));
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      output += String(chunk);
      if (!output.includes('Ready to accept connections')) return;
      clearTimeout(timer);
      resolve();
    });
  });
  await ready;
}

/** Starts a `redis-server` without persistence. */
export async function startRedis(): Promise<RedisServer> {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-redis-'));
  let child: ChildProcess | undefined;
  const killWithTest = () => void child?.kill('SIGKILL');
  process.once('exit', killWithTest);

  async function run(port: number): Promise<void> {
    const options = { port, bind: '127.0.0.1', dir, save: '', appendonly: 'no', loglevel: 'notice' };
    const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    child = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await whenReady(child);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
  }

  async function tryToRun(portOf: () => number | Promise<number>): Promise<number> {
    for (let tries = 1; ; tries++) {
      const port = await portOf();
      try {
        await run(port);
        return port;
      } catch (error) {
        if (tries === TRIES) throw error;
      }
    }
  }

  async function stop(): Promise<void> {
    const stopped = child;
    child = undefined;
    if (!stopped || stopped.exitCode !== null || stopped.signalCode !== null) return;
    const exited = once(stopped, 'exit');
    stopped.kill('SIGKILL');
    await exited;
  }

  async function close(): Promise<void> {
    process.off('exit', killWithTest);
    await stop();
    await rm(dir, { recursive: true, force: true });
  }

  const port = await tryToRun(freePort);
  return {
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child?.pid;
    },
    stop,
    async start() {
      await tryToRun(() => port);
    },
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    close,
    [Symbol.asyncDispose]: close,
  };
}
