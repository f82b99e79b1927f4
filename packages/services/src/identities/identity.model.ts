import { defineModel, type Live } from '@tandem/storage';

/** An account at an identity provider by which an identity signs in. */
export interface LinkedProvider {
  /** `<provider>:<subject>`: one text, so that a unique index holds them. */
  key: string;
  provider: string;
  linkedAt: Date;
}

export interface IdentityRecord extends Live {
  /** Trimmed and lower-cased. */
  email: string;
  emailVerified: boolean;
  /** One of the configured identity type ids. */
  typeId: string;
  /** Set by an admin alone; the wait after failed logins is kept elsewhere. */
  locked: boolean;
  deactivatedAt: Date | null;
  /** bcrypt. Never selected unless it is asked for; missing where an identity was made through a provider and has set no password. */
  passwordHash?: string;
  /** One a provider at most; missing where there has never been one. Never selected unless they are asked for. */
  providers?: LinkedProvider[];
  /**
   * Sessions carry the number that was current at their login. Raising it ends them all, in the same write as what ends them: no crash
   * and no login at the same moment leaves one over.
   */
  sessionEpoch: number;
}

export const identityModel = defineModel<IdentityRecord>('identities', {
  fields: {
    email: { type: String, required: true },
    emailVerified: { type: Boolean, default: false },
    typeId: { type: String, required: true },
    locked: { type: Boolean, default: false },
    deactivatedAt: { type: Date, default: null },
    passwordHash: { type: String, select: false },
    providers: {
      type: [{ _id: false, key: { type: String, required: true }, provider: String, linkedAt: Date }],
      default: undefined,
      select: false,
    },
    sessionEpoch: { type: Number, default: 0, select: false },
  },
  indexes: [
    { keys: { email: 1 }, unique: true, serves: 'login and registration: one live identity an address' },
    {
      keys: { 'providers.key': 1 },
      unique: true,
      where: { 'providers.key': { $exists: true } },
      serves: 'sign-in through a provider: one live identity a provider account',
    },
    { keys: { createdAt: -1, _id: -1 }, serves: "the admin's list, newest first, and its total" },
    { keys: { typeId: 1 }, serves: 'whether there is an admin, at start' },
  ],
});
