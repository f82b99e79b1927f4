import { accessSync, constants, mkdirSync } from 'node:fs';
import { EnvironmentError } from './read-env.js';

/** Creates the data folder unless it exists. @throws EnvironmentError if it cannot be written */
export function openDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice = 'make this user the owner of the folder, or set another DATA_DIR';
    throw new EnvironmentError([`DATA_DIR ${dataDir} cannot be written (${code}): ${advice}`]);
  }
}
