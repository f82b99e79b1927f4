import { parse } from 'tldts';

/** The start of a web address. */
const SCHEME = /[\p{L}][\p{L}\p{N}+.-]*:\/|(?:^|[^\p{L}\p{N}])(?:https?|ftp|mailto|tel|sms|data|javascript):/u;
const WWW = /(?:^|[^\p{L}\p{N}])www\d*\./u;
const IPV4 = /(?:^|[^\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/;
/** A label after a dot that follows other text: a possible top-level domain, also before a path, port or hyphen. */
const BEHIND_DOT = /(?<=[\p{L}\p{N}\p{M}_-])\.(?<label>xn--[a-z0-9-]+|[\p{L}\p{N}\p{M}]+)/gu;

function isTopLevelDomain(label: string): boolean {
  return parse(`a.${label}`, { allowPrivateDomains: false }).isIcann === true;
}

/** A word as mail clients may read it: normalized width and script variants of letters and dots, without invisible characters. */
function plain(word: string): string {
  return word.normalize('NFKC').replace(/\p{Cf}|\p{Mn}/gu, '').replace(/[。．｡]/g, '.').toLowerCase(); // prettier-ignore
}

function looksLikeAddress(word: string): boolean {
  const text = plain(word);
  if (SCHEME.test(text) || WWW.test(text) || IPV4.test(text)) return true;
  return [...text.matchAll(BEHIND_DOT)].some(({ groups }) => isTopLevelDomain(groups?.['label'] ?? ''));
}

/**
 * Makes a name safe for a mail to a stranger: one line, without words that look like web addresses, which mail clients turn into
 * links (decisions H7).
 */
export function withoutWebAddresses(name: string): string {
  const words = name.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '').split(/[\s\p{Cc}\p{Z}]+/u); // prettier-ignore
  return words.filter((word) => word !== '' && !looksLikeAddress(word)).join(' ');
}
