import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import type { ClientAuth } from 'openid-client';

/** What an Apple developer signs client secrets with: the ids of the team and the key, and the key. */
export interface AppleSigner {
  teamId: string;
  keyId: string;
  key: KeyObject;
}

/** Lifetime of a client secret, in seconds. Apple accepts up to six months. */
const LIFETIME_SECONDS = 300;

/** Parses the text of a key's file, whose line ends may be written `\n`, as one line needs. @returns undefined for another text */
export function readAppleKey(text: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(text.replaceAll('\\n', '\n'));
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Sends a client secret in the body, made for each request: a token signed by ES256. */
export function appleSecret({ teamId, keyId, key }: AppleSigner): ClientAuth {
  return (server, client, body) => {
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: teamId, iat: now, exp: now + LIFETIME_SECONDS, aud: server.issuer, sub: client.client_id };
    const signed = `${encode({ alg: 'ES256', kid: keyId })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
    body.set('client_id', client.client_id);
    body.set('client_secret', `${signed}.${signature}`);
  };
}
