import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { DELETION_FIELDS, TRACE, defineModel, deletionFields, type Deletable } from '@tandem/storage';
import type { Factor } from './factor-records.js';
import type { QueuedMail } from '../mail/queued-mail.js';
import { METADATA_LIST_FIELD, PRIVATE_LIST_FIELD, type Metadata } from '../shared/metadata.js';
import { HOST_FIELDS_PATH, searchedFields } from '../shared/record.js';

/** A provider account with which an identity signs in. */
export interface LinkedProvider {
  /** Id of this link, which sessions that came by it carry: removing the link ends them. Linking again makes a new id. */
  id: string;
  /** `<provider>:<subject>`, one string for the unique index. */
  key: string;
  provider: string;
  linkedAt: Date;
}

export interface IdentityRecord extends Deletable {
  /** Trimmed and lower-cased. Service accounts have none. */
  email: string;
  emailVerified: boolean;
  /** The last addresses before this one, each with the end of its time: what was sent there was for this identity. */
  formerEmails?: { email: string; until: Date }[];
  /** One of the configured identity type ids. */
  typeId: string;
  /** Set by an admin only. Locks after failed logins are stored elsewhere. */
  locked: boolean;
  deactivatedAt: Date | null;
  /** The organization that a service account belongs to, and its name; missing for a person (decisions E4). */
  serviceAccountOf?: string;
  name?: string;
  metadata?: Metadata;
  privateMetadata?: Metadata;
  /** bcrypt hash. Not selected by default; missing if the identity was created through a provider and has no password. */
  passwordHash?: string;
  /** At most one per provider; missing if there never was one. Not selected by default. */
  providers?: LinkedProvider[];
  /**
   * Sessions store the value current at sign-in. Raising it ends them all, in the write that causes it, so that neither a crash
   * nor a concurrent login leaves a session alive.
   */
  sessionEpoch: number;
  /** The session, if any, that survived the last raise of the epoch. */
  sparedSessionId?: string | null;
  /** Works like `sessionEpoch` for API keys, which outlive sessions that end for other reasons (decisions E4). */
  keyEpoch: number;
  /** Works like `sessionEpoch` for one-time tokens (decisions A13). */
  onetimeEpoch: number;
  /** Second factors, unconfirmed ones included; missing if there never was one. Not selected by default. */
  factors?: Factor[];
  /** SHA-256 hashes of recovery codes that were not used; missing without a factor. Not selected by default. */
  recoveryCodes?: string[];
  /** When it is erased, or looked at again; missing or null for who stays. */
  eraseAt?: Date | null;
  /** How far its erasure has come, and the addresses that it is about. */
  erasure?: { begunAt?: Date; round?: number; emails?: string[]; unproved?: string[] };
  /** Mails that a change has stored but that are not queued yet, and the time of the first. */
  outbox: (QueuedMail & { id: string })[];
  outboxAt: Date | null;
}

/** Defaults of fields that a host or an import may have left out. */
export const ABSENT = {
  emailVerified: false,
  locked: false,
  deactivatedAt: null,
  sessionEpoch: 0,
  keyEpoch: 0,
  onetimeEpoch: 0,
} as const;

/** Fields that are neither shown nor read with a record. Only sign-in reads them. */
export const HIDDEN = [
  'formerEmails',
  'passwordHash',
  'sessionEpoch',
  'sparedSessionId',
  'keyEpoch',
  'onetimeEpoch',
  'providers',
  'factors',
  'recoveryCodes',
  'outbox',
  'outboxAt',
  'eraseAt',
  'erasure',
  ...DELETION_FIELDS,
] as const;

export const identityResource = defineListResource({
  name: 'identities',
  fields: {
    email: { type: 'string', absent: '' },
    emailVerified: { type: 'boolean', absent: false, sort: false },
    typeId: { type: 'string', sort: false },
    locked: { type: 'boolean', absent: false, sort: false },
    deactivatedAt: { type: 'date', sort: false },
    metadata: METADATA_LIST_FIELD,
    privateMetadata: PRIVATE_LIST_FIELD,
    createdAt: 'date',
    updatedAt: 'date',
  },
  hidden: [...HIDDEN, TRACE],
  ...searchedFields(['email']),
  defaultOrder: 'createdAt desc, id desc',
});

const SERVICE_ACCOUNTS = { serviceAccountOf: { $exists: true } };
/** The service accounts of one organization. */
export const serviceAccountResource = defineListResource({
  name: 'serviceAccounts',
  fields: { name: 'string', createdAt: 'date', updatedAt: 'date' },
  hidden: HIDDEN,
  defaultOrder: 'createdAt desc, id desc',
});

const EXPORTED = [
  'email',
  'formerEmails.email',
  'formerEmails.until',
  'emailVerified',
  'typeId',
  'locked',
  'deactivatedAt',
  'metadata',
  'providers.provider',
  'providers.key',
  'providers.linkedAt',
  'factors.type',
  'factors.name',
  'factors.createdAt',
  'factors.lastUsedAt',
  'createdAt',
  'updatedAt',
  'hostFields',
] as const;

export const identityModel = defineModel<IdentityRecord>('identities', {
  traced: {
    kind: 'identity',
    hidden: HIDDEN,
    // a new password ends the sessions, too, which is told
    untold: ['outbox', 'outboxAt', 'factors', 'recoveryCodes', 'passwordHash', 'eraseAt', 'erasure'],
  },
  searched: identityResource.searched,
  // see `erasures.service.ts`: the record goes last
  people: {
    _id: {
      erased: 'own',
      cleared: { email: '', metadata: undefined, privateMetadata: undefined, hostFields: undefined },
      exported: EXPORTED,
    },
    email: { erased: 'own', by: 'email', exported: false },
    formerEmails: { erased: 'own', exported: false },
  },
  cascades: [{ with: 'organizations', by: 'serviceAccountOf' }],
  fields: {
    email: { type: String },
    formerEmails: { type: [Object], default: undefined, select: false },
    emailVerified: { type: Boolean, default: false },
    typeId: { type: String, required: true },
    locked: { type: Boolean, default: false },
    deactivatedAt: { type: Date, default: null },
    serviceAccountOf: { type: String },
    name: { type: String },
    metadata: { type: Object },
    privateMetadata: { type: Object },
    ...HOST_FIELDS_PATH,
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
    keyEpoch: { type: Number, default: 0, select: false },
    onetimeEpoch: { type: Number, default: 0, select: false },
    factors: { type: [Object], default: undefined, select: false },
    recoveryCodes: { type: [String], default: undefined, select: false },
    outbox: { type: [Object], default: [], select: false },
    outboxAt: { type: Date, default: null, select: false },
    eraseAt: { type: Date, select: false },
    erasure: { type: Object, select: false },
    ...deletionFields,
  },
  indexes: [
    {
      keys: { eraseAt: 1 },
      where: { eraseAt: { $gt: new Date(0) } },
      deletedToo: true,
      serves: 'who is to be erased',
    },
    {
      keys: { email: 1 },
      unique: true,
      where: { email: { $exists: true } },
      replaces: 'email_1_unique',
      serves: 'login and registration: one live identity an address',
    },
    {
      keys: { 'providers.key': 1 },
      unique: true,
      where: { 'providers.key': { $exists: true } },
      serves: 'sign-in through a provider: one live identity a provider account',
    },
    {
      keys: { 'factors.key': 1 },
      unique: true,
      where: { 'factors.key': { $exists: true } },
      serves: 'sign-in with a passkey: one live identity a credential',
    },
    {
      keys: { 'factors.sealedBy': 1 },
      where: { 'factors.sealedBy': { $exists: true } },
      serves: 'secrets of authenticator apps that an earlier key sealed',
    },
    ...listIndexes(identityResource),
    ...listIndexes(serviceAccountResource, { within: ['serviceAccountOf'] }).map((index) => ({
      ...index,
      where: SERVICE_ACCOUNTS,
    })),
    {
      keys: { serviceAccountOf: 1, deletionId: 1 },
      where: SERVICE_ACCOUNTS,
      deletedToo: true,
      serves: 'what a deletion of an organization has taken',
    },
    {
      keys: { outboxAt: 1 },
      where: { outboxAt: { $gt: new Date(0) } },
      deletedToo: true,
      serves: 'mails that a process left behind when it died',
    },
  ],
});
