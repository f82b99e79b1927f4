import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** What an authenticator can get wrong, or a thief try. */
export interface Deviation {
  origin?: string;
  rpId?: string;
  challenge?: string;
  /** Another credential's id with this one's signature. */
  credentialId?: string;
  counter?: number;
  userHandle?: string;
  type?: string;
  isVerified?: boolean;
  isPresent?: boolean;
  /** Changes the signature. */
  signature?: (bytes: Buffer) => Buffer;
}

/** The parts of options that an authenticator reads. */
interface Options {
  challenge: string;
}

export interface SoftPasskey {
  readonly credentialId: string;
  /** The answer to creation options. */
  create(options: Options & { rp: { id?: string | undefined }; user: { id: string } }, deviation?: Deviation): Credential;
  /** The answer to request options. */
  get(options: Options & { rpId?: string | undefined }, deviation?: Deviation): Credential;
}

/** A `PublicKeyCredential` as JSON. */
export interface Credential extends Record<string, unknown> {
  id: string;
  rawId: string;
  type: 'public-key';
  clientExtensionResults: object;
  response: Record<string, unknown>;
}

const b64 = (bytes: Uint8Array | string) => Buffer.from(bytes).toString('base64url');
const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();
const IS_PRESENT = 0x01;
const IS_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;
/** COSE: key type EC2, ES256, curve P-256. */
const coseOf = (key: KeyObject) => {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const decoded = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, decoded(x)],
    [-3, decoded(y)],
  ]);
};

/** A WebAuthn authenticator with one ES256 credential, whose answers a test can bend. */
export function createPasskey(origin: string): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rawId = randomBytes(32);
  let counter = 0;
  let userHandle = '';

  function clientData(type: string, challenge: string, deviation: Deviation): Buffer {
    const said = {
      type: deviation.type ?? type,
      challenge: deviation.challenge ?? challenge,
      origin: deviation.origin ?? origin,
    };
    return Buffer.from(JSON.stringify({ ...said, crossOrigin: false }));
  }

  function authenticatorData(rpId: string, deviation: Deviation, credential: Uint8Array = new Uint8Array()): Buffer {
    const { isVerified = true, isPresent = true } = deviation;
    const flags = (isPresent ? IS_PRESENT : 0) | (isVerified ? IS_VERIFIED : 0) | (credential.length > 0 ? HAS_CREDENTIAL : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(deviation.counter ?? ++counter);
    return Buffer.concat([sha256(deviation.rpId ?? rpId), Buffer.from([flags]), count, credential]);
  }

  const credentialOf = (response: Record<string, unknown>, id = b64(rawId)): Credential => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });

  return {
    credentialId: b64(rawId),

    create({ challenge, rp, user }, deviation = {}) {
      userHandle = user.id;
      const length = Buffer.from([0, rawId.length]);
      const key = isoCBOR.encode(coseOf(publicKey));
      const id = deviation.credentialId ? Buffer.from(deviation.credentialId, 'base64url') : rawId;
      const attested = Buffer.concat([Buffer.alloc(16), length, id, key]);
      const authData = new Uint8Array(authenticatorData(rp.id ?? '', deviation, attested));
      const attestation = new Map<string, unknown>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]);
      const attestationObject = b64(isoCBOR.encode(attestation as unknown as Map<string, never>));
      const clientDataJSON = b64(clientData('webauthn.create', challenge, deviation));
      return credentialOf({ clientDataJSON, attestationObject, transports: ['internal'] }, b64(id));
    },

    get({ challenge, rpId = '' }, deviation = {}) {
      const data = authenticatorData(rpId, deviation);
      const client = clientData('webauthn.get', challenge, deviation);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      return credentialOf(
        {
          clientDataJSON: b64(client),
          authenticatorData: b64(data),
          signature: b64(deviation.signature?.(signature) ?? signature),
          userHandle: deviation.userHandle ?? userHandle,
        },
        deviation.credentialId,
      );
    },
  };
}
