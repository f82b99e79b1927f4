import { spawnSync } from 'node:child_process';

/** Whether a program is on the path: tests that need a missing one are skipped, and say so. */
function isThere(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

export const HAS_REDIS = isThere('redis-server');
/** The browser, by Debian's name. */
export const HAS_CHROMIUM = isThere('chromium');
