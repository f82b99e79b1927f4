import { FINGERPRINT_MAX_LENGTH } from '@tandem/core';
import { z } from 'zod';
import { ONETIME_TARGETS } from '../onetime-tokens/onetime-targets.js';
import { Email, Id, Timestamp } from '../shared/schemas.js';
import { NewPassword } from './passwords.js';

/** Longest token that is read, in characters. */
const TOKEN_MAX_LENGTH = 4096;
export const TokenText = z.string().min(1).max(TOKEN_MAX_LENGTH);

/** A password that is compared, not chosen. */
export const GivenPassword = z.string().min(1).max(1000);
/** Trimmed as the header will be: no server sees the spaces around a header's value. */
export const Fingerprint = z.string().trim().min(1).max(FINGERPRINT_MAX_LENGTH);

/** A new account of whoever gives an address. */
export const accountInput = z.strictObject({ email: Email, password: NewPassword });
/** By an address, or by the token of an invitation, which says the address: one of the two. */
export const registerInput = z
  .strictObject({
    email: Email.optional(),
    token: TokenText.optional().meta({ description: 'Of an invitation, in place of the email' }),
    password: NewPassword,
  })
  .superRefine(
    ({ email, token }, check) => {
      if (email !== undefined && token !== undefined)
        check.addIssue({ code: 'custom', message: "must NOT have both 'email' and 'token'" });
      // first, as if it were required
      if (email === undefined && token === undefined)
        check.issues.unshift({ code: 'custom', path: [], message: "must have required property 'email'", input: check.value });
    },
    // with the problems of the other fields, all at once
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
export const RegisteredSchema = z.object({ id: Id, email: z.string() });

/** Any text may be tried: what is no address is no identity's, and says no more than that. */
export const loginInput = z.strictObject({
  email: z.string().trim().toLowerCase().min(1).max(1000),
  password: GivenPassword,
  fingerprint: Fingerprint.optional(),
});

/** In bearer mode with both tokens; in cookie mode they are in cookies. */
export const SessionSchema = z.union([
  z.object({ id: Id, accessToken: z.string(), refreshToken: z.string() }),
  z.object({ id: Id }),
]);
/** With MFA the first step answers the token of a challenge instead. */
export const SignInSchema = z.union([...SessionSchema.options, z.object({ token: z.string() })]);

export const refreshTokenInput = z.compile(z.strictObject({ refreshToken: TokenText.optional() }));
/** Absent in cookie mode, where the tokens are in cookies. */
export const RefreshedSchema = z.compile(z.object({ accessToken: z.string(), refreshToken: z.string() }).optional());

export const checkTokenInput = z.strictObject({ token: TokenText, target: z.string().max(100).optional() });
/** Of an access token its identity and session; of a one-time token whose it is, and what it is for. */
export const CheckedTokenSchema = z.object({
  identityId: Id.optional(),
  invitationId: Id.optional(),
  sessionId: Id.optional(),
  target: z.enum(ONETIME_TARGETS).optional(),
  email: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  expiresAt: Timestamp,
});

export const identityTokensInput = z.strictObject({ identityId: Id });
