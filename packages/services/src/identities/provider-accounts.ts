import { isDuplicateKey, newId, type Storage } from '@tandem/storage';
import { identityErrors } from './identities.errors.js';
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
export function toLinked(account: ProviderAccount, linkedAt: Date): LinkedProvider {
  return { key: keyOf(account), provider: account.provider, linkedAt };
}

/** Provider accounts by which identities sign in. Each is of one live identity at most, by a unique index. */
export function createProviderAccounts(storage: Storage, relay: (identityId: string) => Promise<void>) {
  const Identities = storage.model(identityModel);

  async function fieldsOf<Field extends keyof IdentityRecord>(identityId: string, fields: readonly Field[]) {
    const projection = Object.fromEntries(fields.map((field) => [field, 1]));
    const record = await Identities.findById(identityId, projection).lean<Pick<IdentityRecord, Field>>();
    if (!record) throw identityErrors.notFound();
    return record;
  }

  return {
    /** The live identity that signs in by this account; undefined when there is none. */
    async identityOf(account: ProviderAccount): Promise<{ id: string } | undefined> {
      const record = await Identities.findOne({ 'providers.key': keyOf(account) }, { _id: 1 }).lean<IdentityRecord>();
      return record ? { id: record._id } : undefined;
    },

    /** @throws identityErrors.notFound */
    async list(identityId: string): Promise<Pick<LinkedProvider, 'provider' | 'linkedAt'>[]> {
      const { providers } = await fieldsOf(identityId, ['providers']);
      return (providers ?? []).map(({ provider, linkedAt }) => ({ provider, linkedAt }));
    },

    /**
     * Lets an identity sign in by an account too, by one atomic write, which holds the mail about it; one account of each provider. Again
     * is fine.
     * @throws identityErrors.notFound, providerTaken when the account is another's, or the identity has another one of the provider
     */
    async link(identityId: string, account: ProviderAccount): Promise<void> {
      const key = keyOf(account);
      const { provider } = account;
      const now = storage.clock.now();
      const mail = { id: newId(storage.clock), template: 'provider-linked', identityId, values: { provider } } as const;
      try {
        const { matchedCount } = await Identities.updateOne(
          { _id: identityId, 'providers.provider': { $ne: provider } },
          { $push: { providers: toLinked(account, now), outbox: mail }, $set: { outboxAt: now } },
        );
        if (matchedCount > 0) return await relay(identityId);
      } catch (error) {
        throw isDuplicateKey(error) ? identityErrors.providerTaken({ cause: error }) : error;
      }
      const { providers } = await fieldsOf(identityId, ['providers']);
      if (!providers?.some((linked) => linked.key === key)) throw identityErrors.providerTaken();
    },

    /**
     * Ends the signing in by a provider, by one atomic write that leaves another way to sign in: a password, or another provider.
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
      if (matchedCount > 0) return;
      const { providers } = await fieldsOf(identityId, ['providers']);
      throw providers?.some((linked) => linked.provider === provider) ? identityErrors.onlyWayIn() : identityErrors.notLinked();
    },
  };
}
export type ProviderAccounts = ReturnType<typeof createProviderAccounts>;
