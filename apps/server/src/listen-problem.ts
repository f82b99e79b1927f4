import type { Config } from './config.js';
import { EnvironmentError } from './read-env.js';

/** The error for a server that could not listen, naming the setting to change; other errors stay as they are. */
export function listenProblem(error: NodeJS.ErrnoException, { host, port }: Pick<Config, 'host' | 'port'>): Error {
  const otherHost = `HOST ${host} is not an address of this machine: set another, such as 127.0.0.1, or 0.0.0.0 for all`;
  const problem = {
    EADDRINUSE: `PORT ${port} is in use: stop the program that listens there, or set another PORT`,
    EACCES: `PORT ${port} is not allowed to this user: set another PORT, above 1023`,
    EADDRNOTAVAIL: otherHost,
    ENOTFOUND: otherHost,
    EAI_AGAIN: otherHost,
  }[error.code ?? ''];
  return problem === undefined ? error : new EnvironmentError([problem]);
}
