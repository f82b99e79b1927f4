import { createHmac } from 'node:crypto';
import { addressNetwork, deriveKey } from '@tandem/core';
import { defineModel, type BaseRecord, type JointWrite, type Storage } from '@tandem/storage';

/** For how long a place is known after a sign-in, in milliseconds (decisions H9). */
const KNOWN_MS = 30 * 24 * 60 * 60_000;

/** A network or a fingerprint from which an identity has signed in. `_id` is a keyed hash of the two: neither can be read from it. */
interface KnownPlaceRecord extends BaseRecord {
  expiresAt: Date;
}

const knownPlaceModel = defineModel<KnownPlaceRecord>('knownPlaces', {
  softDelete: false,
  fields: { expiresAt: { type: Date, required: true } },
  expires: 'expiresAt',
  indexes: [],
});

/** Where somebody is, and with which device. */
export interface Place {
  ip: string;
  fingerprintHash?: string | undefined;
}

export type KnownPlaces = ReturnType<typeof createKnownPlaces>;

/**
 * The networks and fingerprints from which people have signed in lately.
 * @param secret of which the key of the hashes is made
 */
export function createKnownPlaces(storage: Storage, secret: string) {
  const key = deriveKey(secret, 'known places');
  const { collection } = storage.model(knownPlaceModel);
  const hash = (...parts: string[]) => createHmac('sha256', key).update(parts.join(' ')).digest('base64url');

  function idsOf(identityId: string, { ip, fingerprintHash }: Place): string[] {
    const device = fingerprintHash === undefined ? [] : [hash('fingerprint', identityId, fingerprintHash)];
    return [hash('network', identityId, addressNetwork(ip)), ...device];
  }

  return {
    /** A network as it may stand in a record: a keyed hash. */
    hashNetwork: (ip: string): string => hash('network', addressNetwork(ip)),

    /** The writes that note a sign-in, for the caller to do beside that of the session. They never fail it. */
    remembering(identityId: string, place: Place): JointWrite[] {
      const now = storage.clock.now();
      const set = { expiresAt: new Date(now.getTime() + KNOWN_MS), updatedAt: now };
      return idsOf(identityId, place).map((id) => ({
        model: knownPlaceModel,
        put: { id, set },
        // of two sign-ins at once both have written the same; without it the place is unknown, and no login fails for that
        settled() {},
      }));
    },

    /**
     * Whether the identity has signed in from this network or with this fingerprint within 30 days. Asks the store for nobody's too, so
     * that the time says nothing of whose an address is.
     */
    async areKnown(identityId: string, place: Place): Promise<boolean> {
      const filter = { _id: { $in: idsOf(identityId, place) }, expiresAt: { $gt: storage.clock.now() } };
      return (await collection.findOne(filter as object, { projection: { _id: 1 } })) !== null;
    },
  };
}
