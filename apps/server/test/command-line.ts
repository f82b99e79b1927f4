import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The built command line. */
export const MAIN = fileURLToPath(new URL('../bin/tandem.cjs', import.meta.url));

export interface CommandLine {
  start(args: string[], environment?: Record<string, string>): ChildProcess;
  run(args: string[], environment?: Record<string, string>): Promise<{ code: number; out: string; err: string }>;
}

/** Runs the built command line, by default in development, with this data folder. */
export function commandLine(dataDir: string): CommandLine {
  function start(args: string[], environment: Record<string, string> = {}): ChildProcess {
    const env = {
      PATH: process.env['PATH'],
      NODE_ENV: 'development',
      DATA_DIR: dataDir,
      PORT: '0',
      BCRYPT_COST: '4',
      ...environment,
    };
    return spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  }
  return {
    start,
    async run(args, environment) {
      const child = start(args, environment);
      let [out, err] = ['', ''];
      child.stdout?.on('data', (chunk) => (out += String(chunk)));
      child.stderr?.on('data', (chunk) => (err += String(chunk)));
      const [code] = (await once(child, 'close')) as [number];
      return { code, out, err };
    },
  };
}
