import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { z } from 'zod';
import { Id, Line, Timestamp } from '../../shared/schemas.js';
import { GivenPassword, TokenText, Fingerprint } from '../authentication.schemas.js';

const base64url = (max: number, text: string) => z.string().min(1).max(max).describe(text);
const CREDENTIAL_ID_MAX = 1400;
const DATA_MAX = 40_000;

/** The parts of a browser's answer that both ceremonies have; browsers may add others. */
const credential = {
  id: base64url(CREDENTIAL_ID_MAX, 'The id of the credential, in base64url.'),
  rawId: base64url(CREDENTIAL_ID_MAX, 'The same.'),
  type: z.literal('public-key').describe('Its kind.'),
  authenticatorAttachment: z.string().max(100).nullish().describe('Whether the authenticator is part of the device.'),
  clientExtensionResults: z.record(z.string(), z.unknown()).describe('What extensions answered.').default({}),
};

const RegistrationResponse = z
  .looseObject({
    ...credential,
    response: z
      .looseObject({
        clientDataJSON: base64url(DATA_MAX, 'What the browser saw, in base64url.'),
        attestationObject: base64url(DATA_MAX, 'The new credential, in base64url.'),
        transports: z.array(z.string().max(100)).max(20).describe('How its authenticator can be reached.').optional(),
      })
      .describe("The authenticator's answer."),
  })
  .describe('What the browser made of the options: `PublicKeyCredential.toJSON()`.')
  .transform((response) => response as unknown as RegistrationResponseJSON);

export const PasskeyResponse = z
  .looseObject({
    ...credential,
    response: z
      .looseObject({
        clientDataJSON: base64url(DATA_MAX, 'What the browser saw, in base64url.'),
        authenticatorData: base64url(DATA_MAX, 'What the authenticator saw, in base64url.'),
        signature: base64url(DATA_MAX, 'Its signature of both, in base64url.'),
        userHandle: z.string().max(200).nullish().describe('Whose credential it is, in base64url.'),
      })
      .describe("The authenticator's answer."),
  })
  .describe('What the browser made of the options: `PublicKeyCredential.toJSON()`.')
  .transform((response) => response as unknown as AuthenticationResponseJSON);

const Descriptor = z.object({
  id: z.string(),
  type: z.string(),
  transports: z.array(z.string()).optional(),
});
/** Options for `navigator.credentials`, as `PublicKeyCredential.parse…OptionsFromJSON` reads them. */
export const CreationOptionsSchema = z
  .object({
    challenge: z.string(),
    rp: z.object({ id: z.string().optional(), name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.number() })),
    timeout: z.number().optional(),
    excludeCredentials: z.array(Descriptor).optional(),
    authenticatorSelection: z
      .object({
        residentKey: z.enum(['discouraged', 'preferred', 'required']).optional(),
        requireResidentKey: z.boolean().optional(),
        userVerification: z.enum(['discouraged', 'preferred', 'required']).optional(),
      })
      .optional(),
    attestation: z.enum(['direct', 'enterprise', 'indirect', 'none']).optional(),
    hints: z.array(z.string()).optional(),
  })
  .describe('Options for `navigator.credentials.create`, as JSON.');
export const RequestOptionsSchema = z
  .object({
    challenge: z.string(),
    rpId: z.string().optional(),
    timeout: z.number().optional(),
    allowCredentials: z.array(Descriptor).optional(),
    userVerification: z.enum(['discouraged', 'preferred', 'required']).optional(),
  })
  .describe('Options for `navigator.credentials.get`, as JSON.');

export const FactorSchema = z.object({
  id: Id,
  type: z.enum(['totp', 'passkey']).describe('An authenticator app, or a passkey.'),
  name: z.string(),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.nullable(),
});
export type ShownFactor = z.infer<typeof FactorSchema>;
export const FactorsSchema = z.object({
  data: z.array(FactorSchema),
  recoveryCodesLeft: z.number().int().describe('How many recovery codes were not used.'),
});
export const TotpSchema = z.object({
  id: Id,
  secret: z.string().describe('The secret, in base32, for an app that cannot read the address.'),
  uri: z.string().describe('The address for the app, usually shown as a QR code.'),
});
export const RecoveryCodesSchema = z.object({ codes: z.array(z.string()).describe('Each signs in once, in place of a factor.') });

const identityId = Id;
const name = Line.describe('What its owner calls it.').optional();
const Code = z.string().min(1).max(20);

export const factorsInput = z.strictObject({ identityId });
export const factorInput = z.strictObject({ identityId, factorId: Id });
export const totpInput = z.strictObject({ identityId, name });
export const confirmInput = z.strictObject({ identityId, factorId: Id, code: Code.describe('The code that the app shows.') });
export const passkeyInput = z.strictObject({ identityId, response: RegistrationResponse, name });
export const proofInput = z
  .strictObject({
    identityId,
    password: GivenPassword.optional(),
    code: Code.describe('A code of an authenticator app, or a recovery code.').optional(),
    response: PasskeyResponse.optional(),
  })
  .superRefine(({ password, code, response }, check) => {
    if ([password, code, response].filter((one) => one !== undefined).length !== 1)
      check.addIssue({ code: 'custom', message: "must have exactly one of 'password', 'code' and 'response'" });
  })
  .meta({ examples: [{ identityId: '', password: 'tea at the harbour' }] });
export type Proof = Omit<z.infer<typeof proofInput>, 'identityId'>;

export const nothingInput = z.strictObject({});
export const stepTokenInput = z.strictObject({ token: TokenText });
export const stepPasskeyInput = z.strictObject({ token: TokenText, response: PasskeyResponse });
export const passkeySignInInput = z.strictObject({ response: PasskeyResponse, fingerprint: Fingerprint.optional() });
