import type { z } from 'zod';
import { validationError, type ApiError } from './errors.js';
import { unwrap } from './operation.js';

/** Unknown keys that validation sees: one more than an answer lists, so that it says that there are more (decisions H5). */
const MOST_UNKNOWN = 21;

/** The parts of schemas that say what is too much. */
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
    // not by `Object.entries`: what is left out costs no pair
    for (const key in value) {
      const field = Object.hasOwn(shape, key) ? shape[key] : undefined;
      const inner = field ? cut(field, value[key], budget) : value[key];
      const isKept = field !== undefined || budget.unknown-- > 0;
      if (isKept) kept.push([key, inner]);
      isChanged ||= !isKept || inner !== value[key];
    }
    // fromEntries defines where assigning would call a setter: a `__proto__` key stays a key
    return isChanged ? Object.fromEntries(kept) : value;
  }
  if (type === 'array' && element && Array.isArray(value)) {
    const maximum = checks.find(({ _zod }) => _zod.def.check === 'max_length')?._zod.def.maximum;
    // one too many is as wrong as thousands
    const items: unknown[] = maximum !== undefined && value.length > maximum + 1 ? value.slice(0, maximum + 1) : value;
    const inner = items.map((item) => cut(element, item, budget));
    return items !== value || inner.some((item, at) => item !== items[at]) ? inner : value;
  }
  return value;
}

/**
 * The input without most of what its schema refuses anyway: unknown keys, and items beyond a list's bound. What is left is refused by
 * the same words, at the cost of reading it once.
 */
export function withoutExcess(schema: z.core.$ZodType, input: unknown): unknown {
  return cut(schema, input, { unknown: MOST_UNKNOWN });
}

/** The answer to an input whose nesting is too much for the stack; undefined for another error. */
export function tooDeep(error: unknown): ApiError | undefined {
  return error instanceof RangeError ? validationError(['request body must NOT be nested so deeply']) : undefined;
}
