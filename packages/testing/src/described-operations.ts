import type { OpenApiDocument } from '@tandem/core';

/** As much of JSON Schema as the OpenAPI document has. */
export type JsonSchema = Record<string, unknown> & {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  description?: string;
  examples?: unknown[];
  enum?: unknown[];
  const?: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  allOf?: JsonSchema[];
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
};

/** An operation of the OpenAPI document, with what it takes. */
export interface DescribedOperation {
  name: string;
  /** In lower case, as in the document. */
  method: string;
  path: string;
  /** Whether anybody may call it. */
  isOpen: boolean;
  parameters: { name: string; in: 'path' | 'query' | 'header'; required?: boolean; schema: JsonSchema }[];
  body: JsonSchema | undefined;
}

/** All operations of a document. */
export function describedOperations(document: OpenApiDocument): DescribedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security, requestBody, parameters = [] }]) => ({
      name: operationId,
      method,
      path,
      isOpen: !security,
      parameters: parameters as DescribedOperation['parameters'],
      body: requestBody?.content['application/json']?.schema,
    })),
  );
}

/** The schema that a reference names; any other schema is itself. */
export function resolveSchema(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const found = schema.$ref.slice(2).split('/').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document); // prettier-ignore
  return resolveSchema(document, found as JsonSchema);
}

/** A place in a value, by the keys that lead there. */
export type Place = (string | number)[];

/** Where in a value something stands that could be replaced: every leaf and every object, but for the whole. */
export function placesIn(value: unknown, at: Place = []): Place[] {
  const own = at.length > 0 ? [at] : [];
  if (typeof value !== 'object' || value === null) return own;
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...at, Array.isArray(value) ? Number(key) : key])),
  ];
}

/** The value with something else in one place. */
export function replacePlace(value: unknown, [head, ...rest]: Place, by: unknown): unknown {
  if (head === undefined) return by;
  if (Array.isArray(value)) return value.with(head as number, replacePlace(value[head as number], rest, by));
  const record = value as Record<string, unknown>;
  // computed keys are defined, not assigned: `__proto__` stays a key
  return { ...record, [head]: replacePlace(record[head], rest, by) };
}
