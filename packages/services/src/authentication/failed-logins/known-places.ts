import { createHmac } from 'node:crypto';
import { addressNetwork, deriveKey } from '@tandem/core';
import { defineModel, type BaseRecord, type JointWrite, type Storage } from '@tandem/storage';

/** How long a place stays known after a sign-in, in milliseconds (decisions H9). */
const KNOWN_MS = 30 * 24 * 60 * 60_000;

/**
 * A network or fingerprint from which an identity has signed in. `_id` is a keyed hash of the two, so that neither can be read.
 */
interface KnownPlaceRecord extends BaseRecord {
  expiresAt: Date;
}

const knownPlaceModel = defineModel<KnownPlaceRecord>('knownPlaces', {
  softDelete: false,
  fields: { expiresAt: { type: Date, required: true } },
  expires: 'expiresAt',
  indexes: [],
});

/** The network and device of a caller. */
export interface Place {
  ip: string;
  fingerprintHash?: string | undefined;
}

export type KnownPlaces = ReturnType<typeof createKnownPlaces>;

/**
 * Remembers the networks and fingerprints of recent sign-ins.
 * @param secret the hash key is derived from it
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
    /** A network as records store it: a keyed hash. */
    hashNetwork: (ip: string): string => hash('network', addressNetwork(ip)),

    /** The writes that record a sign-in, to be performed with the session's write. They never fail it. */
    remembering(identityId: string, place: Place): JointWrite[] {
      const now = storage.clock.now();
      const set = { expiresAt: new Date(now.getTime() + KNOWN_MS), updatedAt: now };
      return idsOf(identityId, place).map((id) => ({
        model: knownPlaceModel,
        put: { id, set },
        // parallel sign-ins write the same; if the write fails, the place stays unknown, which fails no login
        settled() {},
      }));
    },

    /**
     * Whether the identity has signed in from this network or fingerprint within 30 days. Also queries the store for unknown
     * addresses, so that timing does not reveal whether an address exists.
     */
    async areKnown(identityId: string, place: Place): Promise<boolean> {
      const filter = { _id: { $in: idsOf(identityId, place) }, expiresAt: { $gt: storage.clock.now() } };
      return (await collection.findOne(filter as object, { projection: { _id: 1 } })) !== null;
    },
  };
}
