/** Receives warnings; a pino logger fits. */
export interface Log {
  info(details: object, text: string): void;
  warn(details: object, text: string): void;
  error(details: object, text: string): void;
}

export const noLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
