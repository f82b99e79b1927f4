import type { Log } from '@tandem/core';

/** Warnings and errors on standard error; a logger such as pino has these functions, too. */
export const consoleLog: Log = {
  debug() {},
  info() {},
  warn: (facts, text) => console.warn(text, facts),
  error: (facts, text) => console.error(text, facts),
};
