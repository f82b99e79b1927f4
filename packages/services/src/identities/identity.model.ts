import { defineModel, type Live } from '@tandem/storage';

export interface IdentityRecord extends Live {
  /** Trimmed and lower-cased. */
  email: string;
  emailVerified: boolean;
  /** One of the configured identity type ids. */
  typeId: string;
  /** Set by an admin alone; the wait after failed logins is kept elsewhere. */
  locked: boolean;
  deactivatedAt: Date | null;
  /** bcrypt. Never selected unless it is asked for. */
  passwordHash: string;
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
    passwordHash: { type: String, required: true, select: false },
    sessionEpoch: { type: Number, default: 0, select: false },
  },
  indexes: [
    { keys: { email: 1 }, unique: true, serves: 'login and registration: one live identity an address' },
    { keys: { createdAt: -1, _id: -1 }, serves: "the admin's list, newest first, and its total" },
    { keys: { typeId: 1 }, serves: 'whether there is an admin, at start' },
  ],
});
