import { defineListResource } from '@tandem/list-query';
import { defineModel, type Live } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
import type { QueuedMail } from '../mail/queued-mail.js';

/** An account at an identity provider by which an identity signs in. */
export interface LinkedProvider {
  /** Of this link: sessions that came by it bear it, and end in the write that removes it. Linked again it is another one. */
  id: string;
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
  /** The one session that the last raise of the epoch has left alive, if any. */
  sparedSessionId?: string | null;
  /** One-time tokens likewise: raising it voids all that are outstanding (decisions A13). */
  onetimeEpoch: number;
  /** Of the deletion that took it last; missing where there was none. Never selected unless it is asked for. */
  deletionId?: string;
  /** Mails about a change, stored by the same write, until they are in the queue; and since when. */
  outbox: (QueuedMail & { id: string })[];
  outboxAt: Date | null;
}

/** What a host, or an import, may have left out of a record. */
export const ABSENT = { emailVerified: false, locked: false, deactivatedAt: null, sessionEpoch: 0, onetimeEpoch: 0 } as const;

/** What is not shown, and not read where a record is: it never leaves the service but to the flows of sign-in. */
export const HIDDEN = [
  'passwordHash',
  'sessionEpoch',
  'sparedSessionId',
  'onetimeEpoch',
  'providers',
  'deletionId',
  'outbox',
  'outboxAt',
] as const;

export const identityResource = defineListResource({
  name: 'identities',
  fields: {
    email: 'string',
    emailVerified: { type: 'boolean', absent: false, sort: false },
    typeId: { type: 'string', sort: false },
    locked: { type: 'boolean', absent: false, sort: false },
    deactivatedAt: { type: 'date', sort: false },
    createdAt: 'date',
    updatedAt: 'date',
  },
  hidden: HIDDEN,
  defaultOrder: 'createdAt desc, id desc',
});

export const identityModel = defineModel<IdentityRecord>('identities', {
  fields: {
    email: { type: String, required: true },
    emailVerified: { type: Boolean, default: false },
    typeId: { type: String, required: true },
    locked: { type: Boolean, default: false },
    deactivatedAt: { type: Date, default: null },
    passwordHash: { type: String, select: false },
    providers: {
      type: [
        {
          _id: false,
          id: { type: String, required: true },
          key: { type: String, required: true },
          provider: String,
          linkedAt: Date,
        },
      ],
      default: undefined,
      select: false,
    },
    sessionEpoch: { type: Number, default: 0, select: false },
    sparedSessionId: { type: String, default: null, select: false },
    onetimeEpoch: { type: Number, default: 0, select: false },
    deletionId: { type: String, select: false },
    outbox: { type: [Object], default: [], select: false },
    outboxAt: { type: Date, default: null, select: false },
  },
  indexes: [
    { keys: { email: 1 }, unique: true, serves: 'login and registration: one live identity an address' },
    {
      keys: { 'providers.key': 1 },
      unique: true,
      where: { 'providers.key': { $exists: true } },
      serves: 'sign-in through a provider: one live identity a provider account',
    },
    ...listIndexes(identityResource),
    {
      keys: { outboxAt: 1 },
      where: { outboxAt: { $gt: new Date(0) } },
      deletedToo: true,
      serves: 'mails that a process left behind when it died',
    },
  ],
});
