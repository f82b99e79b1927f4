/** Text that may hold user input: quoted values, braces with keys and values, addresses, long opaque words. */
const PERSONAL = [/\{[^}]*\}/g, /"[^"]*"/g, /'[^']*'/g, /`[^`]*`/g, /\S+@\S+/g, /\$2[aby]\$\S+/g, /[\w-]{40,}/g];

/** Replaces a parser's message, which quotes its input, quotation marks included. */
const UNPARSED = 'a text could not be parsed';

/** What a log may keep of an error: its kind, its message without values, and where it came from. */
export interface LoggedError {
  type: string;
  code?: string | number;
  message: string;
  stack?: string[];
  cause?: LoggedError;
}

/**
 * Describes an error for the log without secrets or personal data. Drivers quote the documents they failed on, so
 * values are cut out of the message, and only the frames of the stack are kept.
 */
export function describeError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: 'a value that is not an error was thrown' };
  const code = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number') ? error.code : undefined;
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    ...(code !== undefined && { code }),
    message:
      error instanceof SyntaxError ? UNPARSED : PERSONAL.reduce((text, pattern) => text.replace(pattern, '…'), error.message),
    ...(frames && { stack: frames.map((frame) => frame.trim()) }),
    ...(error.cause !== undefined && depth < 3 && { cause: describeError(error.cause, depth + 1) }),
  };
}
