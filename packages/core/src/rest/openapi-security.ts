import { ACCESS_COOKIE, FINGERPRINT_HEADER, FINGERPRINT_MAX_LENGTH, authenticationErrors } from '../authentication.js';
import type { AuthMode, CookiePrefix } from '../context.js';
import type { ErrorDefinition } from '../errors.js';
import type { DescribedOperation, Json, Parameter } from './openapi-types.js';

/** The ways to send an access token. @param used those that operations name */
export function securitySchemes(cookiePrefix: CookiePrefix, used: ReadonlySet<string>): Record<string, Json> {
  const schemes = {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description:
        'The access token, or an API key (`tdm_…`) with a scope that names the operation. Or the token of a link, where the operation says so.',
    },
    cookie: { type: 'apiKey', in: 'cookie', name: cookiePrefix + ACCESS_COOKIE, description: 'The access token in cookie mode.' },
  };
  return Object.fromEntries(Object.entries(schemes).filter(([name]) => used.has(name)));
}

/** A parameter, because as a security scheme generated clients would send the token in it. */
const FINGERPRINT: Parameter = {
  name: FINGERPRINT_HEADER,
  in: 'header',
  description: 'The device fingerprint, if one was given at login.',
  example: 'device-7f3a',
  schema: { type: 'string', maxLength: FINGERPRINT_MAX_LENGTH },
};

/**
 * The credentials of an operation. One that requires none reads a token all the same if it may refuse a wrong one, or the header
 * `Authorization` if it may refuse a malformed one.
 * @param errors all that it may answer
 * @param isKeyless no API key reaches it
 */
export function securityOf(
  isAuthenticated: boolean,
  errors: readonly ErrorDefinition[],
  { mode, isKeyless }: { mode: AuthMode; isKeyless: boolean },
): DescribedOperation['security'] {
  const schemes = (mode === 'cookie' && !isKeyless ? ['cookie', 'bearer'] : [mode]).map((name) => ({ [name]: [] }));
  if (isAuthenticated) return schemes;
  if (errors.includes(authenticationErrors.cookieMismatch)) return [...schemes, {}];
  return errors.includes(authenticationErrors.malformedHeader) ? [{ bearer: [] }, {}] : [];
}

/** The headers of credentials besides the token. */
export function credentialHeaders(errors: readonly ErrorDefinition[]): Parameter[] {
  return errors.includes(authenticationErrors.malformedFingerprint) ? [FINGERPRINT] : [];
}
