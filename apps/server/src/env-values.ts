import { isIP } from 'node:net';
import { parseCookieDomain, parseLifetime, parseRedirectUrls, parseSecrets, parseSize } from '@tandem/services';
import { z } from 'zod';

// What variables of the environment may be, as text.

/** Accepts what a parser of a service accepts; the parser's message, without the name, becomes the problem. */
export function parsedBy<T>(parse: (name: string, value: T) => unknown, read: z.ZodType<T, string>) {
  return read.superRefine((value, check) => {
    try {
      parse('', value);
    } catch (error) {
      check.addIssue({ code: 'custom', message: (error as Error).message.trim() });
    }
  });
}

/** Text such as `1mb`. */
export const Size = parsedBy(parseSize, z.string().regex(/[1-9]/, { error: 'must be a size such as 1mb', abort: true }));
export const CookieDomain = parsedBy(parseCookieDomain, z.string());

export const Switch = z.enum(['on', 'off'], 'must be on or off').transform((text) => text === 'on');
export const Flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
const List = z.string().transform((text) => text.split(',').map((entry) => entry.trim()).filter((entry) => entry !== '')); // prettier-ignore
export const Origins = List.pipe(z.array(z.string().refine((origin) => URL.canParse(origin) && new URL(origin).origin === origin, 'must be origins such as https://app.example.org'))); // prettier-ignore
export const HttpAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).transform((url) => url.replace(/\/+$/, '')); // prettier-ignore
export const MAIL_SENDER = /^([^<>@\p{Cc}]+<[^\s<>,;@]+@[^\s<>,;@]+>|[^\s<>,;@]+@[^\s<>,;@]+)$/u;
export const RedirectUrls = parsedBy(parseRedirectUrls, List);
export const PROXIES_TEXT = 'must be true, false, a number from 1 to 10, or addresses such as 10.0.0.0/8';
export const Proxies = List.refine((entries) => entries.every(isProxy), PROXIES_TEXT);
export const Mode = z.enum(['bearer', 'cookie'], 'must be bearer or cookie');
export const Lifetime = parsedBy(parseLifetime, z.string());
/** A duration that may be none: `0s`. */
export const Delay = parsedBy((name, text) => parseLifetime(name, text, 0), z.string());
/** `off`, or a duration. */
export const Retention = parsedBy((name, text) => text === 'off' || parseLifetime(name, text), z.string());
// an empty entry is refused, not left out: while secrets rotate, the one after it would go on making tokens
export const Secrets = parsedBy(parseSecrets, z.string().transform((text) => text.split(',').map((entry) => entry.trim()))); // prettier-ignore
export const WholeNumber = (min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`)); // prettier-ignore

/** Whether it is an address, a subnet, or one of Express' names of subnets. */
function isProxy(entry: string): boolean {
  const [address = '', bits] = entry.split('/');
  if (bits === undefined && ['loopback', 'linklocal', 'uniquelocal'].includes(entry)) return true;
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return most > 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most));
}
