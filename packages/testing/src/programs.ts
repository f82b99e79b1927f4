import { spawnSync } from 'node:child_process';

/** Whether a program is on the path: tests that need a missing one are skipped, and say so. */
function isThere(program: string): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

export const HAS_REDIS = isThere('redis-server');
/** The browser, by Debian's names. Without windows it takes a third less time. */
export const CHROMIUM = ['chromium-headless-shell', 'chromium'].find(isThere);
export const HAS_CHROMIUM = CHROMIUM !== undefined;
