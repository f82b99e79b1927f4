import { validationError, type EventBus, type Identity } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { present, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import type { AccessState } from '../identities/access-state.js';
import { identityErrors } from '../identities/identities.errors.js';
import { freeNumber, withNumber } from '../shared/free-numbers.js';
import { apiKeyModel, type ApiKeyRecord } from './api-key.model.js';
import { KEY_ENDED, type KeyEnded } from './key-access.js';
import { hashOfKey, makeKey } from './key-text.js';
import { MAX_KEYS, apiKeyErrors as errors } from './keys.errors.js';
import { apiKeyList, type ApiKey, type CreatedApiKey, type NewApiKey } from './keys.schemas.js';

export type KeysService = ReturnType<typeof createKeysService>;

interface KeysOptions {
  storage: Storage;
  bus: EventBus;
  lists: Lists;
  audit: AuditService;
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  /**
   * @throws authenticationErrors.unverified when the caller's session has ended, as the store knows;
   * authenticationServiceErrors.freshProofNeeded unless it was signed in a moment ago (decisions F2)
   */
  proveFresh(caller: Identity, by: RequestFacts): Promise<void>;
}

/** An epoch that no key has, so that the filter matches nothing. */
const NO_EPOCH = -1;

function show(record: ApiKeyRecord): ApiKey {
  const { identityId, hash, epoch, slot, updatedAt, ...shown } = present(record);
  return shown;
}

/** The API keys of identities (decisions E4). */
export function createKeysService({ storage, bus, lists, audit, accessStateOf, proveFresh }: KeysOptions) {
  const Keys = storage.model(apiKeyModel);

  return {
    /**
     * Makes a key, which only this answer contains. Of concurrent calls, on any instances, none exceeds the limit.
     * @throws what `proveFresh` throws; validationError for an end that has passed; identityErrors.notFound; errors.tooMany
     */
    async create(identityId: string, given: NewApiKey, caller: Identity, by: RequestFacts): Promise<CreatedApiKey> {
      const { name, scopes, networks = null } = given;
      const now = storage.clock.now();
      const expiresAt = typeof given.expiresAt === 'string' ? new Date(given.expiresAt) : null;
      if (expiresAt && expiresAt <= now) throw validationError(['request body/expiresAt must be in the future']);
      // in this order: what ends the caller's session meanwhile leaves a key of an earlier epoch
      const state = await accessStateOf(identityId);
      await proveFresh(caller, by);
      if (!state) throw identityErrors.notFound();
      const { keyEpoch: epoch } = state;
      // those that have ended no longer count
      await Keys.deleteMany({ identityId, $or: [{ expiresAt: { $lte: now } }, { epoch: { $lt: epoch } }] });
      const key = makeKey();
      const fields = { identityId, name, scopes, networks, expiresAt, epoch, hash: hashOfKey(key) as string };
      const record = await withNumber(
        () => freeNumber(Keys, 'slot', MAX_KEYS, { identityId }),
        errors.tooMany,
        (slot) => Keys.create({ ...fields, slot }),
      );
      await audit.record('key.created', by, { identityId, details: { keyId: record._id, scopes } });
      return { ...show(record.toObject()), key };
    },

    /** The live keys, newest first. */
    async list(identityId: string, query: ListQuery): Promise<ListAnswer<ApiKey>> {
      const epoch = (await accessStateOf(identityId))?.keyEpoch ?? NO_EPOCH;
      const scope = { identityId, epoch, expiresAt: { $not: { $lte: storage.clock.now() } } };
      return lists.answer(apiKeyList, Keys, { scope, cursorScope: { identityId }, show }, query);
    },

    /** Ends a key. Of concurrent calls one succeeds. @throws errors.notFound when the identity has no such key */
    async delete(identityId: string, keyId: string, by: RequestFacts): Promise<void> {
      const { deletedCount } = await Keys.deleteOne({ _id: keyId, identityId });
      if (deletedCount === 0) throw errors.notFound();
      bus.publish(KEY_ENDED, { keyId } satisfies KeyEnded);
      await audit.record('key.deleted', by, { identityId, details: { keyId } });
    },
  };
}
