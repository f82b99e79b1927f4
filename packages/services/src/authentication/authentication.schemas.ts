import { FINGERPRINT_MAX_LENGTH } from '@tandem/core';
import { z } from 'zod';
import { SECOND_STEPS } from '../identities/factor-records.js';
import { ONETIME_TARGETS } from '../onetime-tokens/onetime-targets.js';
import { Email, Id, Timestamp } from '../shared/schemas.js';
import { NewPassword } from './passwords/passwords.js';

/** Maximum token length, in characters. */
const TOKEN_MAX_LENGTH = 4096;
export const TokenText = z.string().min(1).max(TOKEN_MAX_LENGTH).describe('The token of a mail, a link or a sign-in.');

/** A password to compare, not to set; its rules may be older than today's. */
export const GivenPassword = z.string().min(1).max(1000).describe('The present password.');
/** Trimmed, because HTTP strips spaces around the header value that it is compared with. */
export const Fingerprint = z
  .string()
  .trim()
  .min(1)
  .max(FINGERPRINT_MAX_LENGTH)
  .describe('A text that stands for the device; later requests must send it in the header `x-nb-fingerprint`.');

/** A new account with an email and password. */
export const accountInput = z.strictObject({ email: Email, password: NewPassword });
/** Registration by email, or by the token of an invitation, which determines the email. Exactly one of the two. */
export const registerInput = z
  .strictObject({
    email: Email.optional(),
    token: TokenText.optional().meta({ description: 'The token of an invitation, instead of the email' }),
    password: NewPassword,
  })
  .superRefine(
    ({ email, token }, check) => {
      if (email !== undefined && token !== undefined)
        check.addIssue({ code: 'custom', message: "must NOT have both 'email' and 'token'" });
      // first in the list, like any missing required property
      if (email === undefined && token === undefined)
        check.issues.unshift({ code: 'custom', path: [], message: "must have required property 'email'", input: check.value });
    },
    // runs even if other fields are invalid, so that all problems are listed at once
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  // no property alone is required, from which examples are made otherwise
  .meta({ examples: [{ email: 'ann@example.org', password: 'tea at the harbour' }] });
export const RegisteredSchema = z.object({ id: Id, email: z.string() });

/** Accepts any text as email: a malformed address is answered like an unknown one, so that the answer reveals nothing. */
export const loginInput = z.strictObject({
  email: z.string().trim().toLowerCase().min(1).max(1000).describe('The email address of the account.'),
  password: GivenPassword,
  fingerprint: Fingerprint.optional(),
});

/** A session with its tokens; in cookie mode the tokens are in cookies. */
export const SessionSchema = z.union([
  z.object({ id: Id, accessToken: z.string(), refreshToken: z.string() }),
  z.object({ id: Id }),
]);
/** With MFA, the first step returns a challenge token instead, and how to continue, unless a code was mailed. */
const ChallengeSchema = z.object({
  token: z.string(),
  factors: z.array(z.enum(SECOND_STEPS)).describe('What can follow, if the identity has a factor.').optional(),
});
export const SignInSchema = z.union([...SessionSchema.options, ChallengeSchema]);

export const refreshTokenInput = z.compile(
  z.strictObject({ refreshToken: TokenText.describe('The refresh token; in cookie mode it is in a cookie.').optional() }),
);
/** Undefined in cookie mode, where the tokens are in cookies. */
export const RefreshedSchema = z.compile(z.object({ accessToken: z.string(), refreshToken: z.string() }).optional());

export const checkTokenInput = z.strictObject({
  token: TokenText,
  target: z.string().max(100).describe('What a one-time token must be for, such as `login`.').optional(),
});
/** For an access token: identity and session. For a one-time token: its subject and target. */
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
