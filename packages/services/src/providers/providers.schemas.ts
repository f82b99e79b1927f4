import { FINGERPRINT_MAX_LENGTH } from '@tandem/core';
import { z } from 'zod';
import { GivenPassword } from '../authentication/authentication.schemas.js';
import { Id, Timestamp } from '../shared/schemas.js';
import { isAllowedRedirect } from './redirect-urls.js';

/** From the path. An unconfigured provider is answered 404. */
const ProviderName = z.string().min(1).max(100);

/** Maximum length of a callback parameter, in characters. */
const CALLBACK_MAX_LENGTH = 4096;
const CallbackText = z.string().max(CALLBACK_MAX_LENGTH).optional();

/** A return address from the allow-list. */
function redirectUrl(allowed: ReadonlySet<string>) {
  return z.string().refine((text) => isAllowedRedirect(allowed, text), 'is not allowed');
}

export function startInput(allowed: ReadonlySet<string>) {
  return z.strictObject({
    provider: ProviderName,
    purpose: z.enum(['oauth-login', 'oauth-signup']),
    redirectUrl: redirectUrl(allowed),
    // trimmed, because HTTP strips spaces around the header value that must match it later
    fp: z.string().trim().min(1).max(FINGERPRINT_MAX_LENGTH).optional(),
  });
}

/** Ignores unknown parameters, which providers may add at any time (RFC 6749, 4.1.2). */
export const callbackInput = z.looseObject({
  provider: ProviderName,
  state: CallbackText,
  code: CallbackText,
  iss: CallbackText,
  error: CallbackText,
});

export const LocationSchema = z.object({ location: z.string() });

export function linkInput(allowed: ReadonlySet<string>) {
  return z.strictObject({
    identityId: Id,
    provider: ProviderName,
    redirectUrl: redirectUrl(allowed),
    password: GivenPassword.optional().meta({ description: 'Required if the identity has one' }),
  });
}
export const LinkSchema = z.object({ url: z.string() });

export const linkedInput = z.strictObject({ identityId: Id });
export const LinkedProvidersSchema = z.array(z.object({ provider: z.string(), linkedAt: Timestamp }));

export const unlinkInput = z.strictObject({
  identityId: Id,
  provider: ProviderName,
  password: GivenPassword.optional().meta({ description: 'Required for oneself later than ten minutes after the sign-in' }),
});
