import { parse } from 'tldts';

/** What stands in an address of the web in front of all else. */
const SCHEME = /[\p{L}][\p{L}\p{N}+.-]*:\/|(?:^|[^\p{L}\p{N}])(?:https?|ftp|mailto|tel|sms|data|javascript):/u;
const WWW = /(?:^|[^\p{L}\p{N}])www\d*\./u;
const IPV4 = /(?:^|[^\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/;
/** A label behind a dot that follows on something: what may be a top-level domain, also in front of a path, a port or a hyphen. */
const BEHIND_DOT = /(?<=[\p{L}\p{N}\p{M}_-])\.(?<label>xn--[a-z0-9-]+|[\p{L}\p{N}\p{M}]+)/gu;

function isTopLevelDomain(label: string): boolean {
  return parse(`a.${label}`, { allowPrivateDomains: false }).isIcann === true;
}

/** The word as mail clients may read it: letters and dots of other scripts and widths as the plain ones, what is invisible left out. */
function plain(word: string): string {
  return word.normalize('NFKC').replace(/\p{Cf}|\p{Mn}/gu, '').replace(/[。．｡]/g, '.').toLowerCase(); // prettier-ignore
}

function looksLikeAddress(word: string): boolean {
  const text = plain(word);
  if (SCHEME.test(text) || WWW.test(text) || IPV4.test(text)) return true;
  return [...text.matchAll(BEHIND_DOT)].some(({ groups }) => isTopLevelDomain(groups?.['label'] ?? ''));
}

/**
 * A name as it may stand in a mail to somebody who does not know it: without the words that look like addresses of the web, which mail
 * clients make links of, and on one line (decisions H7).
 */
export function withoutWebAddresses(name: string): string {
  const words = name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').split(/[\s\p{Cc}\p{Z}]+/u); // prettier-ignore
  return words.filter((word) => word !== '' && !looksLikeAddress(word)).join(' ');
}
