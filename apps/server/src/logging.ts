import { describeError } from '@tandem/core';
import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';

/** Fields that are removed from every log line. */
const SECRET_FIELDS = ['password', 'newPassword', 'passwordHash', 'token', 'accessToken', 'refreshToken', 'fingerprint', 'email', 'authorization', 'cookie']; // prettier-ignore

/** The server's log: JSON lines, or readable ones in development on a terminal. */
export function createLog(options: { level: string; readable: boolean; destination?: DestinationStream }): Logger {
  const { level, readable, destination } = options;
  const settings: LoggerOptions = {
    level,
    redact: { paths: SECRET_FIELDS.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    // errors logged by other packages may quote values
    serializers: { err: (error: unknown) => (error instanceof Error ? describeError(error) : error) },
  };
  // one write per line would cost more than the line; the buffer is flushed twice a second, and at the end
  function buffered(): DestinationStream {
    const output = pino.destination({ minLength: 4096, periodicFlush: 500 });
    process.on('exit', () => output.flushSync());
    return output;
  }
  if (readable) return pino({ ...settings, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname' } } });
  return pino(settings, destination ?? buffered());
}
