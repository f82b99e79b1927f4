import { isTrustedAddress } from './trusted-address.js';

/** Maximum length of a return address, in characters. */
const MAX_LENGTH = 2048;

/** The parameter that the server, and nobody else, appends to a return address. */
export type RedirectResult = { onetimeToken: string } | { error: string } | { linked: string };
const RESULT_NAMES = ['onetimeToken', 'error', 'linked'];

/** Characters that browsers parse differently and honest clients never send: backslashes, spaces, control characters. */
const AMBIGUOUS = /[\\\s\p{Cc}]/u;

/** Parses a possible return address: https, or http on loopback, without user, password or fragment. */
function readAddress(text: string): URL | undefined {
  if (text.length > MAX_LENGTH || AMBIGUOUS.test(text) || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '' && !text.includes('#');
  return isPlain && isTrustedAddress(url) ? url : undefined;
}

function placeOf({ origin, pathname }: URL): string {
  return origin + pathname;
}

/**
 * Parses the allow-list. Each entry allows its origin and path with any query.
 * @throws Error naming the setting
 */
export function parseRedirectUrls(name: string, addresses: readonly string[]): ReadonlySet<string> {
  return new Set(
    addresses.map((text) => {
      const url = readAddress(text);
      if (!url || url.search !== '')
        throw new Error(`${name} must be https addresses, or http on loopback, without query and fragment, not "${text}"`);
      return placeOf(url);
    }),
  );
}

/** Whether the list contains the origin and path of an address, after resolving both; the query may differ. */
export function isAllowedRedirect(allowed: ReadonlySet<string>, text: string): boolean {
  const url = readAddress(text);
  return url !== undefined && allowed.has(placeOf(url));
}

/** Adds a result to an allowed address, and removes query parameters of the same names that the caller sent. */
export function withResult(redirectUrl: string, result: RedirectResult): string {
  const url = new URL(redirectUrl);
  for (const name of RESULT_NAMES) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(result)) url.searchParams.set(name, value);
  return url.href;
}
