import { TokenError, type TokenClaims, type Tokens } from '@tandem/core';
import type { Model } from '@tandem/storage';
import type { SessionRef } from '../identities/identity-changes.js';
import type { SessionRecord } from './session.model.js';

const REF = { identityId: 1, epoch: 1, linkId: 1 } as const;

/** Sessions by what names them, living or dead: an id, or a token, expired or not. */
export function createNamedSessions(Sessions: Model<SessionRecord>, tokens: Tokens) {
  /** What a token says; undefined when it cannot be read. */
  async function claimsOf(type: 'access' | 'refresh', token: string): Promise<TokenClaims | undefined> {
    return tokens.verifyEvenExpired(type, token).catch((error: unknown) => {
      if (!(error instanceof TokenError)) throw error;
      return undefined;
    });
  }

  /** A session as it is judged when its identity changes; undefined when it is gone. */
  async function refOf(sessionId: string, identityId: string): Promise<SessionRef | undefined> {
    return (await Sessions.findOne({ _id: sessionId, identityId }, REF).lean<SessionRef>()) ?? undefined;
  }

  return {
    refOf,

    /** Whether an access token is of this identity; one that cannot be read is nobody else's. */
    async isOf(accessToken: string, identityId: string): Promise<boolean> {
      const claims = await claimsOf('access', accessToken);
      return claims === undefined || claims.sub === identityId;
    },

    /**
     * A session of the identity that one of these tokens is of; undefined when none is. Tokens that cannot be read, or are of another identity,
     * are passed over.
     */
    async namedBy(
      { access, refresh }: Record<'access' | 'refresh', readonly (string | undefined)[]>,
      identityId: string,
    ): Promise<SessionRef | undefined> {
      const all = [...access.map((token) => ['access', token] as const), ...refresh.map((token) => ['refresh', token] as const)];
      const given = all.flatMap(([type, token]) => (token === undefined ? [] : [claimsOf(type, token)]));
      const read = await Promise.all(given);
      const claims = read.find((one) => one?.sub === identityId);
      return claims ? refOf(claims.sid ?? '', identityId) : undefined;
    },

    /** When the sign-in of a session was; undefined when it is gone. */
    async signedInAt(sessionId: string): Promise<Date | undefined> {
      const session = await Sessions.findById(sessionId, { createdAt: 1 }).lean<Pick<SessionRecord, 'createdAt'>>();
      return session?.createdAt;
    },
  };
}
