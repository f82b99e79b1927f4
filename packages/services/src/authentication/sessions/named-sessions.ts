import { TokenError, type TokenClaims, type Tokens } from '@tandem/core';
import type { Model } from '@tandem/storage';
import type { SessionRef } from '../../identities/identity-changes.js';
import type { SessionRecord } from './session.model.js';

const REF = { identityId: 1, epoch: 1, linkId: 1 } as const;

/** Finds sessions, ended ones included, by id or by a token, expired or not. */
export function createNamedSessions(Sessions: Model<SessionRecord>, tokens: Tokens) {
  /** The claims of a token; undefined when it is unreadable. */
  async function claimsOf(type: 'access' | 'refresh', token: string): Promise<TokenClaims | undefined> {
    return tokens.verifyEvenExpired(type, token).catch((error: unknown) => {
      if (!(error instanceof TokenError)) throw error;
      return undefined;
    });
  }

  /** The fields that decide whether the session survives a change of its identity; undefined when it is gone. */
  async function refOf(sessionId: string, identityId: string): Promise<SessionRef | undefined> {
    return (await Sessions.findOne({ _id: sessionId, identityId }, REF).lean<SessionRef>()) ?? undefined;
  }

  return {
    refOf,

    /** Whether an access token belongs to this identity. An unreadable one counts as its own. */
    async isOf(accessToken: string, identityId: string): Promise<boolean> {
      const claims = await claimsOf('access', accessToken);
      return claims === undefined || claims.sub === identityId;
    },

    /**
     * The identity's session named by one of these tokens; undefined when there is none. Skips tokens that are unreadable or
     * belong to another identity.
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

    /** When the holder of a session last proved themselves: at sign-in, or since; undefined when the session is gone. */
    async provedAt(sessionId: string): Promise<Date | undefined> {
      const session = await Sessions.findById(sessionId, { createdAt: 1, provenAt: 1 }).lean<SessionRecord>();
      return session?.provenAt ?? session?.createdAt;
    },
  };
}
