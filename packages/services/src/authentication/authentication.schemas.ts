import { FINGERPRINT_MAX_LENGTH } from '@tandem/core';
import { z } from 'zod';
import { Email, Id, Timestamp } from '../shared/schemas.js';
import { NewPassword, refuseEmailAsPassword } from './passwords.js';

/** Longest token that is read, in characters. */
const TOKEN_MAX_LENGTH = 4096;
const TokenText = z.string().min(1).max(TOKEN_MAX_LENGTH);

export const registerInput = z.strictObject({ email: Email, password: NewPassword }).superRefine(refuseEmailAsPassword);
export const RegisteredSchema = z.object({ id: Id, email: z.string() });

/** Any text may be tried: what is no address is no identity's, and says no more than that. */
export const loginInput = z.strictObject({
  email: z.string().trim().toLowerCase().min(1).max(1000),
  password: z.string().min(1).max(1000),
  // trimmed as the header will be: no server sees the spaces around a header's value
  fingerprint: z.string().trim().min(1).max(FINGERPRINT_MAX_LENGTH).optional(),
});

/** In bearer mode with both tokens; in cookie mode they are in cookies. */
export const LoginSchema = z.union([
  z.object({ id: Id, accessToken: z.string(), refreshToken: z.string() }),
  z.object({ id: Id }),
]);

export const refreshTokenInput = z.compile(z.strictObject({ refreshToken: TokenText.optional() }));
/** Absent in cookie mode, where the tokens are in cookies. */
export const RefreshedSchema = z.compile(z.object({ accessToken: z.string(), refreshToken: z.string() }).optional());

export const checkTokenInput = z.strictObject({ token: TokenText, target: z.string().max(100).optional() });
export const CheckedTokenSchema = z.object({ identityId: Id, sessionId: Id, expiresAt: Timestamp });

export const identityTokensInput = z.strictObject({ identityId: Id });
