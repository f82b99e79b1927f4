import { createHash, randomUUID } from 'node:crypto';
import { TokenError, authenticationErrors, type TokenClaims, type Tokens } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { tokenRefusal } from '../authentication/authentication.errors.js';
import { identityErrors } from '../identities/identities.errors.js';
import { onetimeTokenErrors as errors } from './onetime-tokens.errors.js';
import type { OnetimeTarget } from './onetime-targets.js';
import { onetimeTokenModel, type OnetimeState, type OnetimeTokenRecord } from './onetime-token.model.js';

export type OnetimeTokensService = ReturnType<typeof createOnetimeTokensService>;

/** How long the state is kept after expiry, in milliseconds, so that admins can still see what became of a token. */
const KEPT_AFTER_EXPIRY_MS = 7 * 24 * 60 * 60_000;
const USABLE: OnetimeState[] = ['generated', 'restored'];

interface OnetimeTokensOptions {
  storage: Storage;
  tokens: Tokens;
  /** In milliseconds. */
  defaultLifetime: number;
  /** Epoch of an identity's one-time tokens; undefined when the identity is missing. */
  epochOf(identityId: string): Promise<number | undefined>;
}

/** The subject of a new token. An identity's epoch is read unless given. */
type Subject = { identityId: string; epoch?: number } | { invitationId: string };

export type OnetimeTokenRequest = Subject & {
  target: OnetimeTarget;
  /** In milliseconds. Default `onetimeTokenExpireTime`. */
  lifetimeMs?: number;
  /** Set if the same token may have to be created again: its state is stored once, and stays used once used. */
  jti?: string;
  email?: string;
  data?: Record<string, unknown>;
  /** Hash of the fingerprint to bind the next session to. */
  fph?: string;
  /** For a sign-in through a provider: its link. */
  linkId?: string | null;
  /** Hash of the cookie secret of the only browser that may use it. */
  browserHash?: string;
};

/** A valid token. */
export interface OnetimeToken {
  /** Id of the state record; `jti` is the token's own id. */
  id: string;
  jti: string;
  target: OnetimeTarget;
  /** The identity or invitation. */
  subject: string;
  epoch: number | null;
  email: string | null;
  data: Record<string, unknown> | null;
  fingerprintHash: string | undefined;
  linkId: string | null;
  browserHash: string | null;
  attempts: number;
  sends: number;
  expiresAt: Date;
}

function stateIdOf(jti: string): string {
  return createHash('sha256').update(jti).digest('base64url');
}

/** Creates, checks and uses one-time tokens (decisions A7). */
export function createOnetimeTokensService({ storage, tokens, defaultLifetime, epochOf }: OnetimeTokensOptions) {
  const OnetimeTokens = storage.model(onetimeTokenModel);

  function after(milliseconds: number): Date {
    return new Date(storage.clock.now().getTime() + milliseconds);
  }

  function usable(id: string) {
    return { _id: id, state: { $in: USABLE }, expiresAt: { $gt: storage.clock.now() } };
  }

  function expiring(expiresAt: Date) {
    return { expiresAt, removeAt: new Date(expiresAt.getTime() + KEPT_AFTER_EXPIRY_MS) };
  }

  async function ownerOf(request: Subject): Promise<{ subject: string; epoch: number | null }> {
    if ('invitationId' in request) return { subject: request.invitationId, epoch: null };
    const epoch = request.epoch ?? (await epochOf(request.identityId));
    if (epoch === undefined) throw identityErrors.notFound();
    return { subject: request.identityId, epoch };
  }

  /** @throws authenticationErrors.unverified, wrongType */
  async function open(token: string, target?: OnetimeTarget): Promise<TokenClaims> {
    const claims = await tokens.verify('onetime', token).catch((error: unknown) => {
      throw error instanceof TokenError ? tokenRefusal(error) : error;
    });
    if (target !== undefined && claims.target !== target) throw authenticationErrors.wrongType();
    return claims;
  }

  async function isVoid({ subject, epoch }: OnetimeTokenRecord): Promise<boolean> {
    return epoch !== null && (await epochOf(subject)) !== epoch;
  }

  return {
    /**
     * Creates a token.
     * @throws identityErrors.notFound
     */
    async create(request: OnetimeTokenRequest): Promise<{ token: string; jti: string; expiresAt: Date }> {
      const { target, lifetimeMs = defaultLifetime, jti = randomUUID(), email = null, data = null, fph = null } = request;
      const { linkId = null, browserHash = null } = request;
      const owner = await ownerOf(request);
      const expiresAt = after(lifetimeMs);
      const isChallenge = target === 'mfa-challenge';
      await OnetimeTokens.updateOne(
        { _id: stateIdOf(jti) },
        {
          $set: expiring(expiresAt),
          $setOnInsert: {
            ...owner,
            target,
            state: 'generated',
            email,
            data: data && JSON.stringify(data),
            fingerprintHash: fph,
            linkId,
            browserHash,
            attempts: 0,
            sends: isChallenge ? 1 : 0,
            sentAt: isChallenge ? storage.clock.now() : null,
          },
        },
        { upsert: true },
      );
      return { token: tokens.issue('onetime', { sub: owner.subject, jti, target, expiresAt }), jti, expiresAt };
    },

    /**
     * Reads a usable token without using it.
     * @throws authenticationErrors.unverified; wrongType for a token of another type or target
     */
    async read(token: string, target?: OnetimeTarget): Promise<OnetimeToken> {
      const { jti } = await open(token, target);
      const record = await OnetimeTokens.findOne(usable(stateIdOf(jti))).lean<OnetimeTokenRecord>();
      if (!record || (await isVoid(record))) throw authenticationErrors.unverified();
      const { _id: id, fingerprintHash, linkId = null, browserHash = null, data, ...said } = record;
      return {
        id,
        jti,
        ...said,
        data: data === null ? null : (JSON.parse(data) as Record<string, unknown>),
        fingerprintHash: fingerprintHash ?? undefined,
        linkId,
        browserHash,
      };
    },

    /**
     * Uses a token by one atomic write; of concurrent calls one succeeds.
     * @param id of the state, from `read`
     * @throws authenticationErrors.unverified for the others
     */
    async use(id: string): Promise<void> {
      const { matchedCount } = await OnetimeTokens.updateOne(usable(id), { $set: { state: 'used' } });
      if (matchedCount === 0) throw authenticationErrors.unverified();
    },

    /** Marks a token used whose work is done and which another write has voided already, so nothing depends on this write. */
    async markUsed(id: string): Promise<void> {
      await OnetimeTokens.updateOne({ _id: id, state: { $in: USABLE } }, { $set: { state: 'used' } });
    },

    /** Undoes a use. For units of work that made it. */
    async giveBack(id: string): Promise<void> {
      await OnetimeTokens.updateOne({ _id: id, state: 'used' }, { $set: { state: 'generated' } });
    },

    /** Voids tokens by id, as far as they exist, because their subject is gone. */
    async withdraw(jtis: readonly string[]): Promise<void> {
      const filter = { _id: { $in: jtis.map(stateIdOf) }, state: { $in: USABLE } };
      await OnetimeTokens.updateMany(filter, { $set: { state: 'invalidated' } });
    },

    /**
     * Counts an attempt at a challenge's code before it is compared.
     * @throws authenticationErrors.unverified when there were `most` already
     */
    async countAttempt(id: string, most: number): Promise<void> {
      const { matchedCount } = await OnetimeTokens.updateOne(
        { ...usable(id), attempts: { $lt: most } },
        { $inc: { attempts: 1 } },
      );
      if (matchedCount === 0) throw authenticationErrors.unverified();
    },

    /**
     * Counts another code of a challenge and restarts its lifetime.
     * @returns a new token and the number of the code; undefined if it is too early, or there were `most` already
     */
    async countSend({ id, jti, subject, target }: OnetimeToken, limits: { most: number; waitMs: number; lifetimeMs: number }) {
      const expiresAt = after(limits.lifetimeMs);
      const record = await OnetimeTokens.findOneAndUpdate(
        { ...usable(id), sends: { $lt: limits.most }, sentAt: { $lte: after(-limits.waitMs) } },
        { $inc: { sends: 1 }, $set: { sentAt: storage.clock.now(), ...expiring(expiresAt) } },
        { returnDocument: 'after' },
      ).lean<OnetimeTokenRecord>();
      if (!record) return undefined;
      return { token: tokens.issue('onetime', { sub: subject, jti, target, expiresAt }), send: record.sends };
    },

    /**
     * Invalidates a token until it is restored. A used or invalidated token stays as it is.
     * @returns the token's identity; null for an invitation
     * @throws authenticationErrors.unverified, wrongType
     */
    async invalidate(token: string): Promise<string | null> {
      const { jti, sub, target } = await open(token);
      await OnetimeTokens.updateOne(usable(stateIdOf(jti)), { $set: { state: 'invalidated' } });
      return target === 'invitation' ? null : sub;
    },

    /**
     * Makes an invalidated token usable again. A usable token stays as it is.
     * @throws errors.notRestorable for a used or voided token; authenticationErrors.unverified for an expired one; wrongType
     * @returns the token's identity; null for an invitation
     */
    async restore(token: string): Promise<string | null> {
      const { jti } = await open(token);
      const id = stateIdOf(jti);
      const record = await OnetimeTokens.findById(id).lean<OnetimeTokenRecord>();
      if (!record || record.state === 'used' || (await isVoid(record))) throw errors.notRestorable();
      await OnetimeTokens.updateOne({ _id: id, state: 'invalidated' }, { $set: { state: 'restored' } });
      return record.epoch === null ? null : record.subject;
    },
  };
}
