import { authenticationErrors, describeError, type ApiError, type Identity, type Log } from '@tandem/core';
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { newId, type Storage } from '@tandem/storage';
import type { AuditService } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import { enrolled, type Factor, type PasskeyFactor, type TotpFactor } from '../../identities/factor-records.js';
import { identityErrors } from '../../identities/identities.errors.js';
import type { SessionRef } from '../../identities/identity-changes.js';
import type { FactorsRecord, IdentityFactors } from '../../identities/identity-factors.js';
import { withoutWebAddresses } from '../../mail/web-addresses.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import type { SessionsService } from '../sessions/sessions.service.js';
import type { ShownFactor } from './factors.schemas.js';
import { SIGN_IN, type Passkeys } from './passkeys.js';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.js';
import type { SealedSecrets } from './sealed-secrets.js';

/** How long a new authenticator app can be confirmed (decisions F1). */
const PENDING_MS = 60 * 60_000;
const NAMES = { totp: 'Authenticator app', passkey: 'Passkey' } as const;

export type FactorsService = ReturnType<typeof createFactorsService>;

interface FactorsOptions {
  storage: Storage;
  factors: IdentityFactors;
  sessions: Pick<SessionsService, 'refOf'>;
  passkeys: Passkeys;
  secrets: SealedSecrets;
  audit: AuditService;
  log: Log;
  /** The product's name, which authenticator apps show. */
  issuer: string;
  /** Whether this identity must keep a factor (decisions F5). */
  isRequired(identityId: string): Promise<boolean>;
}

const show = ({ id, type, name, createdAt, lastUsedAt }: Factor): ShownFactor => ({
  id,
  type,
  name,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

const isPasskey = (factor: Factor): factor is PasskeyFactor => factor.type === 'passkey';
/** Loaded when the first code is asked for. */
const totp = () => import('./totp.js');
const handleOf = (identityId: string) => Buffer.from(identityId).toString('base64url');

/** Why a use of a passkey is refused; undefined when it is not. @throws what is no refusal */
export async function refusalOfPasskey(use: () => Promise<void>): Promise<ApiError | undefined> {
  try {
    await use();
    return undefined;
  } catch (error) {
    if (errors.passkeyRefused.matches(error)) return error;
    throw error;
  }
}

/** The second factors of identities (decisions F1, F3, F4). */
export function createFactorsService(options: FactorsOptions) {
  const { storage, factors, sessions, passkeys, secrets, audit, log, issuer, isRequired } = options;

  /** @throws identityErrors.notFound */
  async function read(identityId: string): Promise<FactorsRecord> {
    const record = await factors.read(identityId);
    if (!record) throw identityErrors.notFound();
    return record;
  }

  /** @throws authenticationErrors.unverified when the caller's session has ended */
  async function sessionOf({ id, sessionId }: Identity): Promise<SessionRef> {
    const session = await sessions.refOf(sessionId, id);
    if (!session) throw authenticationErrors.unverified();
    return session;
  }

  /** The secret of an app; undefined, and logged, when no configured secret opens it. */
  function secretOf(identityId: string, factor: TotpFactor): Buffer | undefined {
    try {
      return secrets.open(factor, identityId);
    } catch (error) {
      log.error({ err: describeError(error), identityId, factorId: factor.id }, 'a factor cannot be used');
      return undefined;
    }
  }

  /** A limit on what is stored, or a passkey that is known already. @throws errors.tooMany, passkeyRefused */
  function refuseUnlessAdded(outcome: Awaited<ReturnType<IdentityFactors['add']>>): void {
    if (outcome === 'full') throw errors.tooManyFactors();
    if (outcome === 'taken') throw errors.passkeyRefused();
  }

  const purposeOf = ({ id, sessionId }: Identity) => `enrol ${id} ${sessionId}`;
  /** The name is the caller's, who may have given somebody else's address (decisions H7). */
  const told = (template: 'factor-added' | 'factor-removed', { name, type }: Pick<Factor, 'name' | 'type'>) =>
    ({ template, values: { factor: withoutWebAddresses(name) || NAMES[type] } }) as const;

  /** Uses a passkey that is this identity's. @throws errors.passkeyRefused, passkeysOff */
  async function usePasskey(
    identityId: string,
    given: { response: AuthenticationResponseJSON; passkey: PasskeyFactor; needsVerification: boolean },
    purpose: string,
  ): Promise<void> {
    const { userHandle } = given.response.response;
    const counter = await passkeys.verify(given, purpose);
    if (userHandle && userHandle !== handleOf(identityId)) throw errors.passkeyRefused();
    if (!(await factors.usePasskey(identityId, given.passkey, counter))) throw errors.passkeyRefused();
  }

  return {
    /** Whether the server makes passkeys. */
    hasPasskeys: passkeys.isOn,

    /** The factors that count, in the order in which they were added. @throws identityErrors.notFound */
    async list(identityId: string): Promise<{ data: ShownFactor[]; recoveryCodesLeft: number }> {
      const record = await read(identityId);
      return { data: enrolled(record).map(show), recoveryCodesLeft: record.recoveryCodes?.length ?? 0 };
    },

    /**
     * Begins to add an authenticator app, which counts once `confirm` was called within the hour. The answer alone has its secret.
     * @throws errors.tooManyFactors; authenticationErrors.unverified; identityErrors.notFound
     */
    async addTotp(caller: Identity, name: string = NAMES.totp): Promise<{ id: string; secret: string; uri: string }> {
      const { email } = await read(caller.id);
      const { newTotpSecret, totpUri } = await totp();
      const secret = newTotpSecret();
      const now = storage.clock.now();
      const id = newId(storage.clock);
      const factor: TotpFactor = {
        id,
        key: id,
        type: 'totp',
        name,
        createdAt: now,
        lastUsedAt: null,
        ...secrets.seal(secret.bytes, caller.id),
        step: 0,
        pendingUntil: new Date(now.getTime() + PENDING_MS),
      };
      refuseUnlessAdded(await factors.add(caller.id, factor, await sessionOf(caller)));
      return { id, secret: secret.base32, uri: totpUri(secret, { issuer, label: email }) };
    },

    /**
     * Lets an authenticator app count, whose code this is; that is used by it.
     * @returns false for a wrong code
     * @throws errors.factorNotFound when none waits for it; authenticationErrors.unverified
     */
    async confirm(caller: Identity, factorId: string, code: string, by: RequestFacts): Promise<boolean> {
      const now = storage.clock.now();
      const { factors: all = [] } = await read(caller.id);
      const factor = all.find((one): one is TotpFactor => one.id === factorId && one.type === 'totp');
      if (!factor?.pendingUntil || factor.pendingUntil <= now) throw errors.factorNotFound();
      const secret = secretOf(caller.id, factor);
      const step = secret && (await totp()).stepOf(code, secret, now);
      if (step === undefined) return false;
      const session = await sessionOf(caller);
      if (!(await factors.confirm(caller.id, factorId, step, session, told('factor-added', factor))))
        throw errors.factorNotFound();
      await audit.record('factor.added', by, { identityId: caller.id, details: { factorId, type: 'totp' } });
      return true;
    },

    /** @throws errors.passkeysOff; identityErrors.notFound */
    async passkeyOptions(caller: Identity) {
      const record = await read(caller.id);
      const known = enrolled(record).filter(isPasskey);
      return passkeys.creationOptions({ id: caller.id, email: record.email }, known, purposeOf(caller));
    },

    /**
     * Adds a passkey.
     * @throws errors.passkeyRefused, passkeysOff, tooManyFactors; authenticationErrors.unverified; identityErrors.notFound
     */
    async addPasskey(
      caller: Identity,
      { response, name = NAMES.passkey }: { response: RegistrationResponseJSON; name?: string | undefined },
      by: RequestFacts,
    ): Promise<ShownFactor> {
      const credential = await passkeys.register(response, purposeOf(caller));
      const createdAt = storage.clock.now();
      const factor: PasskeyFactor = {
        id: newId(storage.clock),
        type: 'passkey',
        name,
        createdAt,
        lastUsedAt: null,
        ...credential,
      };
      refuseUnlessAdded(await factors.add(caller.id, factor, await sessionOf(caller), told('factor-added', factor)));
      await audit.record('factor.added', by, { identityId: caller.id, details: { factorId: factor.id, type: 'passkey' } });
      return show(factor);
    },

    /**
     * New recovery codes in place of earlier ones. The answer alone has them.
     * @throws errors.noFactor; authenticationErrors.unverified; identityErrors.notFound
     */
    async renewRecoveryCodes(caller: Identity, by: RequestFacts): Promise<string[]> {
      const codes = newRecoveryCodes();
      const mail = { template: 'recovery-codes-made' } as const;
      const isSet = await factors.setRecoveryCodes(caller.id, codes.map(recoveryCodeHash), await sessionOf(caller), mail);
      if (!isSet) throw errors.noFactor();
      await audit.record('recovery-codes.created', by, { identityId: caller.id });
      return codes;
    },

    /** @throws errors.factorNotFound; errors.lastFactor while one is required */
    async remove(identityId: string, factorId: string, by: RequestFacts): Promise<void> {
      const record = await factors.read(identityId);
      const factor = record?.factors?.find(({ id }) => id === factorId);
      if (!factor) throw errors.factorNotFound();
      const mayBeLast = !(await isRequired(identityId));
      const removal = await factors.remove(identityId, factorId, mayBeLast, told('factor-removed', factor));
      if ('refused' in removal) throw removal.refused === 'last' ? errors.lastFactor() : errors.factorNotFound();
      const { type } = removal.removed;
      await audit.record('factor.removed', by, { identityId, details: { factorId, type } });
    },

    /** Removes all factors of somebody who has lost them, required or not. @throws identityErrors.notFound */
    async reset(identityId: string, by: RequestFacts): Promise<void> {
      const removed = await factors.removeAll(identityId, { template: 'factors-reset' });
      if (removed === undefined) throw identityErrors.notFound();
      await audit.record('factors.reset', by, { identityId, details: { removed } });
    },

    /**
     * Uses a code of an authenticator app, or a recovery code. Of concurrent calls with one code, one succeeds.
     * @returns whether it was right, and not used before
     */
    async useCode(identityId: string, code: string, by: RequestFacts): Promise<boolean> {
      const record = await factors.read(identityId);
      if (!record) return false;
      const { stepOf } = await totp();
      for (const factor of enrolled(record)) {
        const secret = factor.type === 'totp' ? secretOf(identityId, factor) : undefined;
        const step = secret && stepOf(code, secret, storage.clock.now());
        if (!secret || step === undefined || factor.type !== 'totp') continue;
        const resealed = factor.sealedBy === secrets.currentKey ? {} : secrets.seal(secret, identityId);
        if (await factors.useStep(identityId, factor, step, resealed)) return true;
      }
      if (enrolled(record).length === 0 || !(await factors.useRecoveryCode(identityId, recoveryCodeHash(code)))) return false;
      await audit.record('recovery-code.used', by, { identityId });
      return true;
    },

    /** The options to answer with one of an identity's passkeys. @throws errors.passkeysOff */
    async requestOptions(identityId: string, purpose: string) {
      const record = await factors.read(identityId);
      return passkeys.requestOptions(purpose, record ? enrolled(record).filter(isPasskey) : []);
    },

    /** The options to answer with any passkey. @throws errors.passkeysOff */
    signInOptions: () => passkeys.requestOptions(SIGN_IN),

    /** Uses one of an identity's passkeys as a second step. @throws errors.passkeyRefused, passkeysOff */
    async useOwnPasskey(identityId: string, response: AuthenticationResponseJSON, purpose: string): Promise<void> {
      const found = await factors.byKey(response.id);
      if (found?.identityId !== identityId) throw errors.passkeyRefused();
      await usePasskey(identityId, { response, passkey: found.passkey, needsVerification: purpose === SIGN_IN }, purpose);
    },

    /**
     * Uses a passkey of anybody.
     * @param readOf reads whose it is before it is used: what changes from then on is noticed
     * @returns what was read
     * @throws errors.passkeyRefused, passkeysOff
     */
    async usePasskey<Read>(response: AuthenticationResponseJSON, readOf: (identityId: string) => Promise<Read>): Promise<Read> {
      const found = await factors.byKey(response.id);
      if (!found) throw errors.passkeyRefused();
      const { identityId, passkey } = found;
      const read = await readOf(identityId);
      await usePasskey(identityId, { response, passkey, needsVerification: true }, SIGN_IN);
      return read;
    },

    /** How many people have an authenticator app that an older secret sealed. */
    countSealedBefore: () => factors.countSealedByOthers(secrets.currentKey),
  };
}
