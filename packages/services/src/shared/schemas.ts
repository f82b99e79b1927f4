import { z } from 'zod';

/** Record id: a UUID; the server makes version 7 (decisions R1). */
export const Id = z.uuid().meta({ id: 'Id', examples: ['0198c0de-5a5a-7000-8000-2f9d1c4b7e60'] });

/** A time on the wire: ISO-8601, UTC, with milliseconds (decisions R1). */
export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ id: 'Timestamp', examples: ['2026-01-31T09:30:00.000Z'] });

/** Maximum length of an email address, in characters (RFC 5321). */
const EMAIL_MAX_LENGTH = 254;

/** An email address, trimmed and lower-cased (decisions A8). */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(EMAIL_MAX_LENGTH)
  .check(z.email())
  .meta({ id: 'Email', description: 'An email address, in any case.', examples: ['ann@example.org'] });

/** Maximum length of one line of text, such as a name, in characters. */
export const LINE_MAX = 200;
export const Line = z.string().trim().max(LINE_MAX);
export const Name = z.string().trim().min(1).max(LINE_MAX);

/** Maximum length of a description, in characters. */
const TEXT_MAX = 5000;
export const Text = z.string().max(TEXT_MAX);

/** An array without duplicates. */
export function distinct<Item extends z.ZodType>(item: Item) {
  return z.array(item).superRefine((items, check) => {
    const seen = new Set<unknown>();
    for (const [at, one] of items.entries()) {
      if (seen.has(one)) check.addIssue({ code: 'custom', path: [at], message: 'must NOT be repeated' });
      seen.add(one);
    }
  });
}

/** Maximum number of records in a bulk write (decisions R10). */
export const BULK_MAX = 100;
export const Ids = distinct(Id).min(1).max(BULK_MAX).describe('The ids of the records.');
