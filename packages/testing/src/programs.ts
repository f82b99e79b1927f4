import { spawnSync } from 'node:child_process';

/** Whether a program is on the path: tests that need one that is not are left out, and say so. */
function isThere(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

export const HAS_REDIS = isThere('redis-server');
/** Debian's name of the browser. */
export const HAS_CHROMIUM = isThere('chromium');
