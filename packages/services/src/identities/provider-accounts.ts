import { authenticationErrors } from '@tandem/core';
import { isDuplicateKey, newId, type Clock, type Storage } from '@tandem/storage';
import { countsSession, toState } from './access-state.js';
import { identityErrors } from './identities.errors.js';
import { countsInWrite, type IdentityChanges, type SessionRef } from './identity-changes.js';
import { identityModel, type IdentityRecord, type LinkedProvider } from './identity.model.js';

/** An account that somebody has at an identity provider. */
export interface ProviderAccount {
  /** Name of the provider, as configured: lower-case letters, digits and hyphens. */
  provider: string;
  /** The provider's own name for the account, which it never gives to another. */
  subject: string;
}

/** The one text of a provider account: a name of a provider has no colon, so that no two accounts have the same. */
function keyOf({ provider, subject }: ProviderAccount): string {
  return `${provider}:${subject}`;
}

/** An account as the record of an identity keeps it. */
export function toLinked(account: ProviderAccount, clock: Clock): LinkedProvider {
  return { id: newId(clock), key: keyOf(account), provider: account.provider, linkedAt: clock.now() };
}

/** What decides whether a session may link an account. */
const LINKING = ['providers', 'emailVerified', 'typeId', 'sessionEpoch', 'sparedSessionId', 'locked', 'deactivatedAt'] as const;

/** Provider accounts by which identities sign in. Each is of one live identity at most, by a unique index. */
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
    /** The live identity that signs in by this account, and the link by which it does; undefined when there is none. */
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
     * Lets an identity sign in by an account too, by one atomic write, which holds the mail about it; one account of each provider. Again
     * is fine.
     * @param session the one that asked for it. The write needs it to count still: a confirmed change of email, a new password, a lock or a
     * deletion at the same moment must not leave a way in behind for the session that it ended (decisions H6).
     * @throws authenticationErrors.unverified when the session has ended; identityErrors.notFound, emailNotVerified, providerTaken when the
     * account is another's, or the identity has another one of the provider
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
     * Ends the signing in by a provider and the sessions that came by it, by one atomic write that leaves another way to sign in: a
     * password, or another provider.
     * @param usable the providers by which anybody can sign in
     * @throws identityErrors.notFound, notLinked, onlyWayIn
     */
    async unlink(identityId: string, provider: string, usable: readonly string[]): Promise<void> {
      const others = usable.filter((other) => other !== provider);
      const anotherWay = { $or: [{ passwordHash: { $exists: true } }, { 'providers.provider': { $in: others } }] };
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
