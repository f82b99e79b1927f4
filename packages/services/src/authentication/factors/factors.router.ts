import {
  admin,
  anyOf,
  authenticatedRoute,
  authenticationErrors,
  publicRoute,
  readFingerprint,
  router,
  self,
  type Rule,
} from '@tandem/core';
import { requestFactsOf } from '../../audit/request-facts.js';
import { identityErrors } from '../../identities/identities.errors.js';
import type { RateLimits } from '../../rate-limits/rate-limits.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { SessionSchema } from '../authentication.schemas.js';
import type { AuthenticationService } from '../authentication.service.js';
import type { MfaService } from '../mfa/mfa.service.js';
import type { Proofs } from '../proofs.js';
import type { SignInAnswers } from '../sign-in-answers.js';
import {
  CreationOptionsSchema,
  FactorSchema,
  FactorsSchema,
  RecoveryCodesSchema,
  RequestOptionsSchema,
  TotpSchema,
  confirmInput,
  factorInput,
  factorsInput,
  nothingInput,
  passkeyInput,
  passkeySignInInput,
  proofInput,
  stepPasskeyInput,
  stepTokenInput,
  totpInput,
} from './factors.schemas.js';
import type { FactorsService } from './factors.service.js';

interface FactorsRouterOptions {
  factors: FactorsService;
  mfa: MfaService;
  authentication: Pick<AuthenticationService, 'loginByPasskey'>;
  proofs: Proofs;
  freshProof: Rule;
  rateLimits: RateLimits;
  answers: SignInAnswers;
}

const { unverified, wrongType, fingerprintMismatch, malformedFingerprint } = authenticationErrors;
const ofIdentity = ({ identityId }: { identityId: string }) => identityId;
/** Who still has to enrol may call these. */
const withoutFactor = 'identityId';

/** Second factors, proofs, and sign-in with a passkey; part of the service `auth` (decisions F1 to F4). */
export function createFactorsRouter(options: FactorsRouterOptions) {
  const { factors, mfa, authentication, proofs, freshProof, rateLimits, answers } = options;
  const oneself = [self('identityId'), freshProof] as const;

  return router({
    factors: authenticatedRoute('GET /auth/{identityId}/factors', {
      summary: 'List the second factors of an identity',
      failure: 'Failed to find factors',
      errors: [identityErrors.notFound],
      allow: [anyOf(admin, self('identityId'))],
      withoutFactor,
    })
      .input(factorsInput)
      .output(FactorsSchema)
      .query(({ input }) => factors.list(input.identityId)),

    addTotp: authenticatedRoute('POST /auth/{identityId}/factors/totp', {
      status: 201,
      summary: 'Begin to add an authenticator app, whose secret is shown once',
      failure: 'Failed to create factor',
      errors: [identityErrors.notFound, errors.tooManyFactors],
      allow: oneself,
      withoutFactor,
    })
      .input(totpInput)
      .output(TotpSchema)
      .mutation(({ ctx, input }) => factors.addTotp(ctx.identity, input.name)),

    confirmTotp: authenticatedRoute('POST /auth/{identityId}/factors/{factorId}/confirm', {
      status: 204,
      summary: 'Finish adding an authenticator app with its code',
      failure: 'Failed to confirm factor',
      errors: [identityErrors.notFound, errors.factorNotFound, errors.wrongCode, errors.locked],
      allow: oneself,
      withoutFactor,
    })
      .use(rateLimits.address('mfaVerify'))
      .input(confirmInput)
      .use(rateLimits.account('mfaVerify', ofIdentity))
      .use(rateLimits.caller('factors', ofIdentity))
      .mutation(({ ctx, input: { factorId, code } }) => {
        const by = requestFactsOf(ctx);
        return proofs.counted(ctx.identity.id, by, () => factors.confirm(ctx.identity, factorId, code, by));
      }),

    passkeyOptions: authenticatedRoute('POST /auth/{identityId}/factors/passkeys/options', {
      summary: 'Get the options to make a passkey',
      failure: 'Failed to create passkey options',
      errors: [identityErrors.notFound, errors.passkeysOff],
      allow: oneself,
      withoutFactor,
    })
      .input(factorsInput)
      .output(CreationOptionsSchema)
      .mutation(({ ctx }) => factors.passkeyOptions(ctx.identity)),

    addPasskey: authenticatedRoute('POST /auth/{identityId}/factors/passkeys', {
      status: 201,
      summary: 'Add a passkey',
      failure: 'Failed to create factor',
      errors: [identityErrors.notFound, errors.passkeysOff, errors.passkeyRefused, errors.tooManyFactors],
      allow: oneself,
      withoutFactor,
    })
      .input(passkeyInput)
      .use(rateLimits.caller('factors', ofIdentity))
      .output(FactorSchema)
      .mutation(({ ctx, input }) => factors.addPasskey(ctx.identity, input, requestFactsOf(ctx))),

    renewRecoveryCodes: authenticatedRoute('POST /auth/{identityId}/factors/recovery-codes', {
      status: 201,
      summary: 'Make recovery codes in place of earlier ones, which are shown once',
      failure: 'Failed to create recovery codes',
      errors: [identityErrors.notFound, errors.noFactor],
      allow: oneself,
      withoutFactor,
    })
      .input(factorsInput)
      .use(rateLimits.caller('factors', ofIdentity))
      .output(RecoveryCodesSchema)
      .mutation(async ({ ctx }) => ({ codes: await factors.renewRecoveryCodes(ctx.identity, requestFactsOf(ctx)) })),

    deleteFactor: authenticatedRoute('DELETE /auth/{identityId}/factors/{factorId}', {
      status: 204,
      summary: 'Remove a second factor',
      failure: 'Failed to delete factor',
      errors: [errors.factorNotFound, errors.lastFactor],
      allow: [anyOf(admin, self('identityId')), freshProof],
    })
      .input(factorInput)
      // for each network: who has stolen a session could use up what its owner needs to remove a passkey of the thief's
      .use(rateLimits.account('factors', ofIdentity))
      .mutation(({ ctx, input }) => factors.remove(input.identityId, input.factorId, requestFactsOf(ctx))),

    deleteFactors: authenticatedRoute('DELETE /auth/{identityId}/factors', {
      status: 204,
      summary: 'Remove all second factors of an identity that has lost them',
      failure: 'Failed to delete factors',
      errors: [identityErrors.notFound],
      allow: [admin, freshProof],
    })
      .input(factorsInput)
      .mutation(({ ctx, input }) => factors.reset(input.identityId, requestFactsOf(ctx))),

    prove: authenticatedRoute('POST /auth/{identityId}/proof', {
      status: 204,
      summary: 'Prove oneself anew, for ten minutes of this session',
      failure: 'Failed to verify proof',
      errors: [
        identityErrors.notFound,
        errors.invalidInput,
        errors.wrongCode,
        errors.passkeyRefused,
        errors.passkeysOff,
        errors.locked,
      ],
      allow: [self('identityId')],
      withoutFactor,
    })
      .use(rateLimits.address('passwordProof'))
      .input(proofInput)
      .use(rateLimits.account('passwordProof', ofIdentity))
      .mutation(({ ctx, input }) => proofs.renew(ctx.identity, input, requestFactsOf(ctx))),

    passkeySignInOptions: publicRoute('POST /auth/passkeys/options', {
      summary: 'Get the options to sign in with a passkey, or to prove oneself with it',
      failure: 'Failed to create passkey options',
      errors: [errors.passkeysOff],
    })
      .use(rateLimits.address('passkeyOptions'))
      .input(nothingInput)
      .output(RequestOptionsSchema)
      .mutation(() => factors.signInOptions()),

    passkeySignIn: publicRoute('POST /auth/passkeys/verify', {
      summary: 'Sign in with a passkey',
      failure: 'Failed to create session',
      errors: [errors.passkeyRefused, errors.passkeysOff, errors.locked],
    })
      .use(rateLimits.address('passkeyVerify'))
      .input(passkeySignInInput)
      .output(SessionSchema)
      .mutation(({ ctx, input: { response, fingerprint } }) =>
        answers.signIn(ctx, fingerprint, (device) => authentication.loginByPasskey(response, device)),
      ),

    mfaPasskeyOptions: publicRoute('POST /auth/mfa/passkey/options', {
      summary: 'Get the options to finish a sign-in with a passkey',
      failure: 'Failed to create passkey options',
      errors: [errors.locked, errors.passkeysOff, unverified, wrongType],
    })
      .use(rateLimits.address('passkeyOptions'))
      .input(stepTokenInput)
      .output(RequestOptionsSchema)
      .mutation(({ input }) => mfa.passkeyOptions(input.token)),

    mfaPasskey: publicRoute('POST /auth/mfa/passkey', {
      summary: 'Finish a sign-in with a passkey',
      failure: 'Failed to verify passkey',
      errors: [
        errors.passkeyRefused,
        errors.passkeysOff,
        errors.locked,
        unverified,
        wrongType,
        fingerprintMismatch,
        malformedFingerprint,
      ],
    })
      .use(rateLimits.address('mfaVerify'))
      .input(stepPasskeyInput)
      .output(SessionSchema)
      .mutation(({ ctx, input: { token, response } }) =>
        answers.signIn(ctx, readFingerprint(ctx), (device) => mfa.verify(token, { response }, device)),
      ),
  });
}
