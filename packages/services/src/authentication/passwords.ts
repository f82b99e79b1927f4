import { validationError } from '@tandem/core';
import { z } from 'zod';
import { BCRYPT_AT_ONCE, bcryptThreads } from './bcrypt-threads.js';
import { isCommonPassword, isMadeOfNames } from './common-passwords.js';
import { createPasswordQueue, type PasswordClient } from './password-queue.js';

/** Bounds of a password (decisions A8): bcrypt reads no further than 72 bytes. */
const MIN_CHARACTERS = 8;
const MAX_BYTES = 72;

function fitsBcrypt(password: string): boolean {
  return Buffer.byteLength(password) <= MAX_BYTES && !password.includes('\0');
}

const COMMON = 'must NOT be a common password';

/** A password that somebody chooses. Before it is hashed it is held against its account and the host's own check: `createPasswords.choose`. */
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
    description: `${MIN_CHARACTERS} characters at least, ${MAX_BYTES} bytes at most; not a common one, and not made of the email`,
  });

/** A password that may be set: `choose` has looked at it. */
export type ChosenPassword = string & { readonly isChosen: true };

/**
 * A host's own check of passwords that somebody chooses, such as whether one has been in a breach. It comes last, before hashing.
 * @returns whether the password may be set; when it throws, nothing is set and the request fails
 */
export type PasswordCheck = (password: string, about: { email: string }) => Promise<boolean>;

export type Passwords = ReturnType<typeof createPasswords>;

/** A bcrypt hash: its cost, and all after its variant, which others write as `2y`. */
const BCRYPT_HASH = /^\$2[aby]?(\$(\d\d)\$[./A-Za-z0-9]{53})$/;

/** A hash of this cost that is nobody's: comparing with it takes the time, and says nothing. */
function decoyOf(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$${'nobody'.repeat(9).slice(0, 53)}`;
}

/**
 * Compares a password with a hash that is no bcrypt hash, of people that were imported from another system.
 * @returns whether it is the hash's; false also for a hash it does not know
 */
export type PasswordVerifier = (password: string, hash: string) => Promise<boolean>;

interface PasswordsOptions {
  /** Of bcrypt: each step doubles the work. */
  cost: number;
  verifyImported?: PasswordVerifier | undefined;
  check?: PasswordCheck | undefined;
  /** As mails name it: a password must not be made of it. */
  productName: string;
}

/** Hashes and compares passwords, a few at a time; the others wait in a queue that is fair, and has an end. */
export function createPasswords({ cost, verifyImported, check, productName }: PasswordsOptions) {
  const queue = createPasswordQueue(BCRYPT_AT_ONCE);

  /**
   * The costs of the comparisons that are missing to the work of one at the configured cost: all of it without a hash. After one of a
   * lower cost the same again, and one of each cost in between: each doubles what has been done.
   */
  function missingWork(hash: string | undefined): number[] {
    const done = Number(BCRYPT_HASH.exec(hash ?? '')?.[2] ?? Number.NaN);
    if (Number.isNaN(done)) return [cost];
    return Array.from({ length: Math.max(0, cost - done) }, (_, more) => done + more);
  }

  return {
    /**
     * Looks at a password for an account, after `NewPassword` has (decisions H8).
     * @param field of the body that it stands in
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

    /** @throws requestErrors.unavailable when too many wait, or the request is over */
    async hash(password: ChosenPassword, by: PasswordClient): Promise<string> {
      return queue.run(by, () => bcryptThreads.hash(password, cost));
    },

    /**
     * Whether the password is the hash's. A wrong one takes the same time without a hash, and with a hash that is quick to compare: all of
     * it in one piece, so that a busy machine does not tell one from the other by how often it had to wait.
     * @throws requestErrors.unavailable when too many wait, or the request is over
     */
    async matches(password: string, hash: string | undefined, by: PasswordClient): Promise<boolean> {
      const found = BCRYPT_HASH.exec(hash ?? '');
      // beyond what bcrypt reads, different passwords would be the same
      if (found && fitsBcrypt(password)) {
        const decoys = missingWork(hash).map(decoyOf);
        return queue.run(by, () => bcryptThreads.compare(password, [`$2b${found[1]}`, ...decoys]));
      }
      const isRight = hash !== undefined && !found && ((await verifyImported?.(password, hash)) ?? false);
      if (!isRight) await queue.run(by, () => bcryptThreads.compare(password, [decoyOf(cost)]));
      return isRight;
    },

    /**
     * Whether a hash should be made anew, from the password that has just proved right. One that bcrypt would not read to its end keeps
     * the hash that a host's own verifier knows: bcrypt's would count for nobody.
     */
    isOutdated: (hash: string, password: string): password is ChosenPassword =>
      missingWork(hash).length > 0 && fitsBcrypt(password),

    /** How many passwords are hashed or compared at this moment, and how many wait for that. */
    queueState: queue.state,
  };
}
