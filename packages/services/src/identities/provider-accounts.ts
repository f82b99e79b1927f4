import { authenticationErrors } from '@tandem/core';
import { isDuplicateKey, newId, type Clock, type Storage } from '@tandem/storage';
import { countsSession, toState } from './access-state.js';
import { identityErrors } from './identities.errors.js';
import { countsInWrite, type IdentityChanges, type SessionRef } from './identity-changes.js';
import { identityModel, type IdentityRecord, type LinkedProvider } from './identity.model.js';

/** An account at an identity provider. */
export interface ProviderAccount {
  /** Configured name of the provider: lower-case letters, digits and hyphens. */
  provider: string;
  /** The provider's permanent id of the account. */
  subject: string;
}

/** What people can sign in with but a password. */
export interface WaysIn {
  providers: readonly string[];
  passkeys: boolean;
}

/** The unique key of a provider account. Provider names contain no colon, so keys cannot collide. */
function keyOf({ provider, subject }: ProviderAccount): string {
  return `${provider}:${subject}`;
}

/** A provider account in the form stored with an identity. */
export function toLinked(account: ProviderAccount, clock: Clock): LinkedProvider {
  return { id: newId(clock), key: keyOf(account), provider: account.provider, linkedAt: clock.now() };
}

/** The fields that decide whether a session may link an account. */
const LINKING = [
  'providers',
  'emailVerified',
  'typeId',
  'sessionEpoch',
  'keyEpoch',
  'sparedSessionId',
  'locked',
  'deactivatedAt',
] as const;

/** Provider accounts that identities sign in with. A unique index allows one live identity per account. */
export function createProviderAccounts(
  storage: Storage,
  { announce, relay }: Pick<IdentityChanges, 'announce'> & { relay(identityId: string): Promise<void> },
) {
  const Identities = storage.model(identityModel);

  async function fieldsOf<Field extends keyof IdentityRecord>(identityId: string, fields: readonly Field[]) {
    const projection = Object.fromEntries(fields.map((field) => [field, 1]));
    const record = await Identities.findById(identityId, projection).lean<Pick<IdentityRecord, Field>>();
    if (!record) throw identityErrors.notFound();
    return record;
  }

  return {
    /** The live identity with this account, and the link; undefined when there is none. */
    async identityOf(account: ProviderAccount): Promise<{ id: string; linkId: string } | undefined> {
      const key = keyOf(account);
      const projection = { providers: { $elemMatch: { key } } };
      const record = await Identities.findOne({ 'providers.key': key }, projection).lean<IdentityRecord>();
      const [linked] = record?.providers ?? [];
      return record && linked ? { id: record._id, linkId: linked.id } : undefined;
    },

    /** @throws identityErrors.notFound */
    async list(identityId: string): Promise<Pick<LinkedProvider, 'provider' | 'linkedAt'>[]> {
      const { providers } = await fieldsOf(identityId, ['providers']);
      const linked = Array.isArray(providers) ? providers : [];
      return linked.filter(({ linkedAt }) => linkedAt instanceof Date).map(({ provider, linkedAt }) => ({ provider, linkedAt }));
    },

    /**
     * Links an account, at most one per provider, by one atomic write that also stores the mail about it. Idempotent.
     * @param session the session that asked for it. The write requires it to be live, so that a concurrent change of email, new
     * password, lock or deletion, which ends the session, does not leave a provider behind (decisions H6).
     * @throws authenticationErrors.unverified when the session has ended; identityErrors.notFound, emailNotVerified,
     * providerTaken when another identity has the account, or this one has another account of the provider
     */
    async link(identityId: string, account: ProviderAccount, session: SessionRef): Promise<void> {
      const key = keyOf(account);
      const { provider } = account;
      const now = storage.clock.now();
      const mail = { id: newId(storage.clock), template: 'provider-linked', identityId, values: { provider } } as const;
      try {
        const { matchedCount } = await Identities.updateOne(
          { _id: identityId, emailVerified: true, 'providers.provider': { $ne: provider }, $expr: countsInWrite(session) },
          { $push: { providers: toLinked(account, storage.clock), outbox: mail }, $set: { outboxAt: now } },
        );
        if (matchedCount > 0) return await relay(identityId);
      } catch (error) {
        throw isDuplicateKey(error) ? identityErrors.providerTaken({ cause: error }) : error;
      }
      const record = await fieldsOf(identityId, LINKING);
      if (!countsSession(toState(record), session)) throw authenticationErrors.unverified();
      const { providers, emailVerified } = record;
      if (providers?.some((linked) => linked.key === key)) return;
      throw emailVerified ? identityErrors.providerTaken() : identityErrors.emailNotVerified();
    },

    /**
     * Unlinks a provider and ends the sessions that came by it, by one atomic write that requires another way to sign in: a
     * password, a passkey, or another provider.
     * @param usable the providers that are configured, and whether passkeys are
     * @throws identityErrors.notFound, notLinked, onlyWayIn
     */
    async unlink(identityId: string, provider: string, usable: WaysIn): Promise<void> {
      const others = usable.providers.filter((other) => other !== provider);
      const anotherWay = {
        $or: [
          { passwordHash: { $exists: true } },
          { 'providers.provider': { $in: others } },
          ...(usable.passkeys ? [{ 'factors.type': 'passkey' }] : []),
        ],
      };
      const { matchedCount } = await Identities.updateOne(
        { _id: identityId, 'providers.provider': provider, ...(anotherWay as object) },
        { $pull: { providers: { provider } } },
      );
      if (matchedCount > 0) return announce(identityId);
      const { providers } = await fieldsOf(identityId, ['providers']);
      throw providers?.some((linked) => linked.provider === provider) ? identityErrors.onlyWayIn() : identityErrors.notLinked();
    },
  };
}
export type ProviderAccounts = ReturnType<typeof createProviderAccounts>;
