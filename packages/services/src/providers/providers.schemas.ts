import { FINGERPRINT_MAX_LENGTH } from '@tandem/core';
import { z } from 'zod';
import { GivenPassword } from '../authentication/authentication.schemas.js';
import { Id, Timestamp } from '../shared/schemas.js';
import { isAllowedRedirect } from './redirect-urls.js';

/** From the path. An unconfigured provider is answered 404. */
const ProviderName = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'The name of the identity provider.', examples: ['google'] });

/** Maximum length of a callback parameter, in characters. */
const CALLBACK_MAX_LENGTH = 4096;
const callbackText = (description: string, example: string) =>
  z
    .string()
    .max(CALLBACK_MAX_LENGTH)
    .meta({ description, examples: [example] })
    .optional();

/** A return address from the allow-list. */
function redirectUrl(allowed: ReadonlySet<string>) {
  return z
    .string()
    .refine((text) => isAllowedRedirect(allowed, text), 'is not allowed')
    .meta({
      description: 'Where to return to: an address that the server allows.',
      examples: ['https://app.example.org/signed-in'],
    });
}

export function startInput(allowed: ReadonlySet<string>) {
  return z.strictObject({
    provider: ProviderName,
    purpose: z.enum(['oauth-login', 'oauth-signup']).describe('Whether to sign in or to sign up.'),
    redirectUrl: redirectUrl(allowed),
    // trimmed, because HTTP strips spaces around the header value that must match it later
    fp: z
      .string()
      .trim()
      .min(1)
      .max(FINGERPRINT_MAX_LENGTH)
      .meta({ description: 'The device fingerprint of the session to come.', examples: ['device-7f3a'] })
      .optional(),
  });
}

/** Ignores unknown parameters, which providers may add at any time (RFC 6749, 4.1.2). */
export const callbackInput = z.looseObject({
  provider: ProviderName,
  state: callbackText('What the server sent along.', '8f1c2d3e'),
  code: callbackText('The code to exchange for tokens.', '4/0AbCdEf'),
  iss: callbackText('The provider that answers.', 'https://accounts.google.com'),
  error: callbackText('Why there is no code.', 'access_denied'),
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
