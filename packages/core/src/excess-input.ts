import type { z } from 'zod';
import { MOST_PROBLEMS, validationError, type ApiError } from './errors.js';
import { unwrap } from './operation.js';

/**
 * Unknown keys that validation sees: one more than an answer lists, so that the answer says that there are more
 * (decisions H5).
 */
const MOST_UNKNOWN = MOST_PROBLEMS + 1;

/** The parts of a schema that bound its input. */
interface Definition {
  type: string;
  shape?: Record<string, z.core.$ZodType>;
  catchall?: z.core.$ZodType;
  element?: z.core.$ZodType;
  checks?: readonly { _zod: { def: { check: string; maximum?: number } } }[];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function cut(given: z.core.$ZodType, value: unknown, budget: { unknown: number }): unknown {
  const schema = unwrap(given);
  const { type, shape, catchall, element, checks = [] } = schema._zod.def as Definition;
  if (type === 'object' && shape && catchall?._zod.def.type === 'never' && isRecord(value)) {
    const kept: [string, unknown][] = [];
    let isChanged = false;
    // Object.entries would allocate a pair for each dropped key
    for (const key in value) {
      const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
      const inner = field ? cut(field, value[key], budget) : value[key];
      const isKept = field !== undefined || budget.unknown-- > 0;
      if (isKept) kept.push([key, inner]);
      isChanged ||= !isKept || inner !== value[key];
    }
    // fromEntries defines properties; assigning `__proto__` would call its setter
    return isChanged ? Object.fromEntries(kept) : value;
  }
  if (type === 'array' && element && Array.isArray(value)) {
    const maximum = checks.find(({ _zod }) => _zod.def.check === 'max_length')?._zod.def.maximum;
    // one item too many fails validation as thousands do
    const items: unknown[] = maximum !== undefined && value.length > maximum + 1 ? value.slice(0, maximum + 1) : value;
    const inner = items.map((item) => cut(element, item, budget));
    return items !== value || inner.some((item, at) => item !== items[at]) ? inner : value;
  }
  return value;
}

/**
 * The input without most of what its schema refuses anyway: unknown keys, and items beyond a list's bound. The rest is
 * refused with the same texts, but is read only once.
 */
export function withoutExcess(schema: z.core.$ZodType, input: unknown): unknown {
  return cut(schema, input, { unknown: MOST_UNKNOWN });
}

/** The error for an input nested too deeply for the stack; undefined for any other error. */
export function tooDeep(error: unknown): ApiError | undefined {
  return error instanceof RangeError ? validationError(['request body must NOT be nested so deeply']) : undefined;
}
