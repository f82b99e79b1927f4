import { isTrustedAddress } from './trusted-address.js';

/** Longest return address that is taken, in characters. */
const MAX_LENGTH = 2048;

/** What is appended to a return address: one of these, and only by us. */
export type RedirectResult = { onetimeToken: string } | { error: string } | { linked: string };
const RESULT_NAMES = ['onetimeToken', 'error', 'linked'];

/** What no honest client writes into an address, and browsers read in their own ways: backslashes, spaces, control characters. */
const AMBIGUOUS = /[\\\s\p{Cc}]/u;

/** The address, if it can be one to return to: https, or http on loopback, without user, password or fragment. */
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
 * The allow-list of return addresses: each allows its own origin and path, with any query.
 * @throws Error that names the setting
 */
export function parseRedirectUrls(name: string, addresses: readonly string[]): ReadonlySet<string> {
  return new Set(
    addresses.map((text) => {
      const url = readAddress(text);
      if (!url || url.search !== '')
        throw new Error(`${name}: "${text}" must be an https address, or http on loopback, without query and fragment`);
      return placeOf(url);
    }),
  );
}

/** Whether the list allows an address: the same origin and path once both are resolved; the query is free. */
export function isAllowedRedirect(allowed: ReadonlySet<string>, text: string): boolean {
  const url = readAddress(text);
  return url !== undefined && allowed.has(placeOf(url));
}

/** An allowed address with a result in its query, which never has two: what the caller put there under such a name goes. */
export function withResult(redirectUrl: string, result: RedirectResult): string {
  const url = new URL(redirectUrl);
  for (const name of RESULT_NAMES) url.searchParams.delete(name);
  for (const [name, value] of Object.entries(result)) url.searchParams.set(name, value);
  return url.href;
}
