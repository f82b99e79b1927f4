import {
  atMost,
  authenticationErrors,
  describeError,
  type EventBus,
  type Identity,
  type Log,
  type VerifiedAccess,
} from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { LRUCache } from 'lru-cache';
import type { AccessState } from '../identities/access-state.js';
import { IDENTITY_CHANGED, type IdentityChanged } from '../identities/identity-changes.js';
import { createShortCopies } from '../shared/short-copies.js';
import { apiKeyModel, type ApiKeyRecord } from './api-key.model.js';
import { hashOfKey } from './key-text.js';
import { withinNetworks } from './networks.js';

export type KeyAccess = ReturnType<typeof createKeyAccess>;

/** Published when a key has been deleted. */
export const KEY_ENDED = 'apiKeys.ended';
export interface KeyEnded {
  keyId: string;
}

/** Least time between two writes of a key's `lastUsedAt`, in milliseconds. */
const USE_NOTED_MS = 60_000;
const USES_KEPT = 10_000;
/** The end of access by a key that does not expire, in seconds since 1970: the last that a date can hold. */
const NEVER = 8_640_000_000_000;

/** A key as it was read, with the test of addresses. */
type ReadKey = ApiKeyRecord & { isAcceptedFrom(ip: string): boolean };

interface KeyAccessOptions {
  storage: Storage;
  bus: EventBus;
  log: Log;
  accessStateOf(identityId: string): Promise<AccessState | undefined>;
  accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>>;
}

/** What API keys give access to, and until when (decisions E4). */
export function createKeyAccess({ storage, bus, log, accessStateOf, accessStatesOf }: KeyAccessOptions) {
  const Keys = storage.model(apiKeyModel);
  /** By text, like the claims of tokens, and by identity: at most a second old, so that the end of a key takes effect within that on every instance. */
  const keys = createShortCopies<ReadKey | undefined>();
  const states = createShortCopies<AccessState | undefined>();
  const stops = [
    bus.subscribe(KEY_ENDED, () => keys.clear()),
    bus.subscribe(IDENTITY_CHANGED, (event) => states.drop((event as IdentityChanged).identityId)),
  ];
  /** When a use was last noted, by key, in epoch milliseconds. */
  const notedAt = new LRUCache<string, number>(atMost(USES_KEPT));
  const noting = new Set<Promise<void>>();

  /** @throws authenticationErrors.unverified for a text that cannot be a key; it leaves no copy */
  async function readByText(text: string): Promise<ReadKey | undefined> {
    const hash = hashOfKey(text);
    if (hash === undefined) throw authenticationErrors.unverified();
    return read({ hash });
  }

  async function read(filter: object): Promise<ReadKey | undefined> {
    const key = await Keys.findOne(filter).lean<ApiKeyRecord>();
    return key ? { ...key, isAcceptedFrom: key.networks ? withinNetworks(key.networks) : () => true } : undefined;
  }

  function isLive({ epoch, expiresAt }: ApiKeyRecord, state: AccessState | undefined): state is AccessState {
    const isEnded = expiresAt !== null && expiresAt <= storage.clock.now();
    return state !== undefined && !state.isBarred && epoch === state.keyEpoch && !isEnded;
  }

  /** @throws authenticationErrors.unverified unless the key is live and accepted from this address */
  function accessBy(key: ReadKey, state: AccessState | undefined, ip: string): VerifiedAccess {
    if (!isLive(key, state) || !key.isAcceptedFrom(ip)) throw authenticationErrors.unverified();
    const { _id: id, identityId, scopes, expiresAt } = key;
    return {
      identity: {
        id: identityId,
        typeId: state.typeId,
        sessionId: id,
        key: { id, scopes },
        ...(state.hasFactor && { hasFactor: true as const }),
      },
      fingerprintHash: undefined,
      expiresAt: expiresAt ? expiresAt.getTime() / 1000 : NEVER,
    };
  }

  /** Notes the use of a key, at most once a minute over all instances. The request does not wait for it. */
  function noteUse({ _id, lastUsedAt }: ApiKeyRecord): void {
    const now = storage.clock.now();
    const due = new Date(now.getTime() - USE_NOTED_MS);
    if (Math.max(notedAt.get(_id) ?? 0, lastUsedAt?.getTime() ?? 0) > due.getTime()) return;
    notedAt.set(_id, now.getTime());
    const isDue = { _id, $or: [{ lastUsedAt: null }, { lastUsedAt: { $lte: due } }] };
    const write = async () => {
      try {
        await Keys.updateOne(isDue, { $set: { lastUsedAt: now } });
      } catch (error) {
        log.warn({ err: describeError(error), keyId: _id }, 'the use of an API key was not noted');
      }
    };
    const written = write().finally(() => noting.delete(written));
    noting.add(written);
  }

  return {
    /**
     * Verifies a key and its identity.
     * @param ip the caller's address
     * @throws authenticationErrors.unverified
     */
    async verify(text: string, ip: string): Promise<VerifiedAccess> {
      const key = await keys.get(text, () => readByText(text));
      if (!key) throw authenticationErrors.unverified();
      const { identityId } = key;
      const access = accessBy(key, await states.get(identityId, () => accessStateOf(identityId)), ip);
      noteUse(key);
      return access;
    },

    /**
     * The identity that a key acts as, read from the store without copies.
     * @throws authenticationErrors.unverified when the key has ended, or is not accepted from this address
     */
    async identityOf(keyId: string, ip: string): Promise<Identity> {
      const key = await read({ _id: keyId });
      if (!key) throw authenticationErrors.unverified();
      return accessBy(key, await accessStateOf(key.identityId), ip).identity;
    },

    /** Those of the callers' keys that have ended, or whose identity has changed its type or has no factor left, read from the store. */
    async endedAmong(callers: readonly Identity[]): Promise<Set<string>> {
      if (callers.length === 0) return new Set();
      const [found, current] = await Promise.all([
        Keys.find({ _id: { $in: callers.map(({ sessionId }) => sessionId) } }).lean<ApiKeyRecord[]>(),
        accessStatesOf([...new Set(callers.map(({ id }) => id))]),
      ]);
      const byId = new Map(found.map((key) => [key._id, key]));
      const isEnded = ({ id, sessionId, typeId, hasFactor }: Identity) => {
        const [key, state] = [byId.get(sessionId), current.get(id)];
        return !key || !isLive(key, state) || state.typeId !== typeId || (hasFactor === true && !state.hasFactor);
      };
      return new Set(callers.filter(isEnded).map(({ sessionId }) => sessionId));
    },

    /** Removes the keys of earlier epochs, which have ended. A failure only leaves records behind. */
    async removeEnded(identityId: string, { keyEpoch }: AccessState): Promise<void> {
      try {
        await Keys.deleteMany({ identityId, epoch: { $lt: keyEpoch } });
      } catch (error) {
        log.warn({ err: describeError(error) }, 'ended API keys were not removed');
      }
    },

    /** Waits for pending writes. */
    async settle(): Promise<void> {
      await Promise.all(noting);
    },

    /** Unsubscribes from the bus and waits for pending writes. */
    async close(): Promise<void> {
      for (const stop of stops) stop();
      await this.settle();
    },
  };
}
