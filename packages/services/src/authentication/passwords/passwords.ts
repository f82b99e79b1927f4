import { validationError } from '@tandem/core';
import { z } from 'zod';
import { BCRYPT_AT_ONCE, bcryptThreads } from './bcrypt-threads.js';
import { isCommonPassword, isMadeOfNames } from './common-passwords.js';
import { createPasswordQueue, type PasswordClient } from './password-queue.js';

/** Password limits (decisions A8). bcrypt ignores everything after 72 bytes. */
const MIN_CHARACTERS = 8;
const MAX_BYTES = 72;

function fitsBcrypt(password: string): boolean {
  return Buffer.byteLength(password) <= MAX_BYTES && !password.includes('\0');
}

const COMMON = 'must NOT be a common password';

/** A new password. Before hashing, `createPasswords.choose` compares it with its account and runs the host's check. */
export const NewPassword = z
  .string()
  .min(MIN_CHARACTERS, { abort: true })
  .refine((password) => Buffer.byteLength(password) <= MAX_BYTES, {
    error: `must NOT have more than ${MAX_BYTES} bytes`,
    abort: true,
  })
  .refine((password) => !password.includes('\0'), { error: 'must NOT have null characters', abort: true })
  .refine((password) => !isCommonPassword(password), COMMON)
  .meta({
    description: `At least ${MIN_CHARACTERS} characters and at most ${MAX_BYTES} bytes; not a common password, and not derived from the email`,
  });

/** A password that `choose` has accepted. */
export type ChosenPassword = string & { readonly isChosen: true };

/**
 * A host's own check of new passwords, such as a search in known breaches. Runs last, before hashing.
 * @returns whether the password may be set; if it throws, nothing is set and the request fails
 */
export type PasswordCheck = (password: string, about: { email: string }) => Promise<boolean>;

export type Passwords = ReturnType<typeof createPasswords>;

/** A bcrypt hash. Captures the cost, and everything after the variant, which some systems write as `2y`. */
const BCRYPT_HASH = /^\$2[aby]?(\$(\d\d)\$[./A-Za-z0-9]{53})$/;

/** A well-formed hash that matches no password, to spend the time of a comparison. */
function decoyOf(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$${'nobody'.repeat(9).slice(0, 53)}`;
}

/**
 * Compares a password with a hash that is not bcrypt, for identities imported from another system.
 * @returns whether they match; false for an unknown hash format
 */
export type PasswordVerifier = (password: string, hash: string) => Promise<boolean>;

interface PasswordsOptions {
  /** bcrypt cost: each step doubles the work. */
  cost: number;
  verifyImported?: PasswordVerifier | undefined;
  check?: PasswordCheck | undefined;
  /** The product name in mails, of which a password must not be made. */
  productName: string;
}

/** Hashes and compares passwords, a few at a time; the rest waits in a fair, bounded queue. */
export function createPasswords({ cost, verifyImported, check, productName }: PasswordsOptions) {
  const queue = createPasswordQueue(BCRYPT_AT_ONCE);

  /**
   * The costs of the extra comparisons that bring the total work to one comparison at the configured cost: one at full cost if
   * there is no hash; after a cheaper hash, one of each cost from its own up, as each doubles the work so far.
   */
  function missingWork(hash: string | undefined): number[] {
    const done = Number(BCRYPT_HASH.exec(hash ?? '')?.[2] ?? Number.NaN);
    if (Number.isNaN(done)) return [cost];
    return Array.from({ length: Math.max(0, cost - done) }, (_, more) => done + more);
  }

  return {
    /**
     * Checks a password for an account, after `NewPassword` (decisions H8).
     * @param field the body field it came in
     * @throws validationError; what the host's check throws
     */
    async choose(
      password: string,
      { email, field }: { email: string; field: 'password' | 'newPassword' },
    ): Promise<ChosenPassword> {
      const isRefused = isMadeOfNames(password, { email, productName }) || (await check?.(password, { email })) === false;
      if (isRefused) throw validationError([`request body/${field} ${COMMON}`]);
      return password as ChosenPassword;
    },

    /** @throws requestErrors.unavailable when the queue is full, or the request is over */
    async hash(password: ChosenPassword, by: PasswordClient): Promise<string> {
      return queue.run(by, () => bcryptThreads.hash(password, cost));
    },

    /**
     * Whether the password matches the hash. A mismatch takes the same time for a missing hash and for a cheap one. All of it
     * runs as one job, so that scheduling on a busy machine does not reveal the difference.
     * @throws requestErrors.unavailable when the queue is full, or the request is over
     */
    async matches(password: string, hash: string | undefined, by: PasswordClient): Promise<boolean> {
      const found = BCRYPT_HASH.exec(hash ?? '');
      // bcrypt would ignore the rest of a longer password and match different ones
      if (found && fitsBcrypt(password)) {
        const decoys = missingWork(hash).map(decoyOf);
        return queue.run(by, () => bcryptThreads.compare(password, [`$2b${found[1]}`, ...decoys]));
      }
      const imported = hash !== undefined && !found ? verifyImported?.(password, hash) : undefined;
      // at once, so that the time tells nobody which accounts were imported, unless the host's comparison takes longer than ours
      const decoy = queue.run(by, () => bcryptThreads.compare(password, [decoyOf(cost)]));
      const [isRight = false] = await Promise.all([imported, decoy]);
      return isRight;
    },

    /**
     * Whether a hash should be replaced, given the password that has just matched it. A password too long for bcrypt keeps its
     * imported hash, since a bcrypt hash of it would match nothing.
     */
    isOutdated: (hash: string, password: string): password is ChosenPassword =>
      missingWork(hash).length > 0 && fitsBcrypt(password),

    /** Numbers of passwords being processed and waiting. */
    queueState: queue.state,
  };
}
