import { z } from 'zod';
import { authenticationErrors, originErrors } from '../authentication.js';
import { requestErrors } from '../errors.js';
import type { Operation } from '../operation.js';
import { errorsOf, whoOf } from '../rest/openapi.js';
import { dropIntegerBounds } from '../rest/openapi-schemas.js';

type Json = Record<string, unknown>;

/** Longest schema of an output, in characters: about 3,000 tokens. Of a longer one the innermost parts are left out. */
const OUTPUT_MAX = 12_000;
/** Formats that say what their patterns say. */
const PLAIN_FORMATS = new Set(['uuid', 'date-time', 'date', 'email']);
/** Most values that are listed: more, as of currencies, are of a standard that the description names. */
const ENUM_MAX = 50;

/** Errors of requests that are not made by this face. */
const ELSEWHERE = new Set<unknown>([
  ...Object.values(originErrors),
  authenticationErrors.missingCookie,
  authenticationErrors.cookieMismatch,
  requestErrors.unsupportedType,
]);

/** What a call does to stored records, as far as its method tells. */
export type Effect = 'reads' | 'writes' | 'deletes';

/** What an agent needs to call an operation. */
export interface DescribedOperation {
  operation: string;
  summary: string;
  /** Who may call it, as a phrase. */
  who: string;
  effect: Effect;
  /** JSON Schema of the input: what REST has in path, query and body, side by side. */
  input: Json;
  /** Status of success. */
  status: number;
  /** JSON Schema of the body of success; absent where there is none. */
  output?: Json;
  /** Status and message of each error. */
  errors: string[];
}

export function effectOf({ method }: Operation): Effect {
  return method === 'GET' ? 'reads' : method === 'DELETE' ? 'deletes' : 'writes';
}

/** Removes what agents know: patterns that say the same as a format, and long lists of codes. Changes the schema. */
function shorten(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const one = schema as Json;
  if (PLAIN_FORMATS.has(one['format'] as string)) delete one['pattern'];
  if (Array.isArray(one['enum']) && one['enum'].length > ENUM_MAX) delete one['enum'];
  for (const inner of Object.values(schema)) shorten(inner);
}

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  dropIntegerBounds(json);
  shorten(json);
  return json;
}

/** The value with what is nested below `depth` replaced by `{}`, in a schema anything. */
function cut(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cut(item, depth - 1));
  if (depth <= 0) return {};
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, depth - 1)]));
}

/** The schema, without its innermost parts if it would be longer than `max` characters. */
export function fitting(schema: Json, max: number): Json {
  if (JSON.stringify(schema).length <= max) return schema;
  for (let depth = 12; depth > 0; depth--) {
    const shorter = { $comment: 'The innermost parts are left out.', ...(cut(schema, depth) as Json) };
    if (JSON.stringify(shorter).length <= max) return shorter;
  }
  return {};
}

/** Describes an operation. Converts its schemas, which takes milliseconds. */
export function describeOperation(operation: Operation): DescribedOperation {
  const { output } = operation.procedure._def as unknown as { output?: z.ZodType };
  const shown = operation.status === 204 || !output ? undefined : fitting(jsonSchemaOf(output, 'output'), OUTPUT_MAX);
  const errors = errorsOf(operation).filter((error) => !ELSEWHERE.has(error));
  return {
    operation: operation.name,
    summary: operation.options.summary,
    who: whoOf(operation),
    effect: effectOf(operation),
    input: operation.schema ? jsonSchemaOf(operation.schema, 'input') : { type: 'object', properties: {} },
    status: operation.status,
    ...(shown && { output: shown }),
    errors: [...new Set(errors.map(({ status, message }) => `${status} ${message}`))],
  };
}
