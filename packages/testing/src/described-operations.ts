import type { OpenApiDocument, OpenApiParameter } from '@tandem/core';

/** The part of JSON Schema that the OpenAPI document uses. */
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

/** An operation of the OpenAPI document, with its input. */
export interface DescribedOperation {
  name: string;
  /** In lower case, as in the document. */
  method: string;
  path: string;
  /** Whether it needs no credentials. */
  isOpen: boolean;
  parameters: {
    name: string;
    in: 'path' | 'query' | 'header';
    required?: boolean;
    example?: unknown;
    /** With the description of the parameter. */
    schema: JsonSchema;
  }[];
  body: JsonSchema | undefined;
}

/** All operations of a document. */
export function describedOperations(document: OpenApiDocument): DescribedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, security = [], requestBody, parameters = [] }]) => ({
      name: operationId,
      method,
      path,
      isOpen: security.length === 0 || security.some((one) => Object.keys(one).length === 0),
      parameters: parameters.map((given) => {
        const { description, ...parameter } = resolveReference<OpenApiParameter>(document, given);
        return { ...parameter, schema: { ...parameter.schema, description } };
      }) as DescribedOperation['parameters'],
      body: requestBody?.content['application/json']?.schema,
    })),
  );
}

/** What a reference stands for, with what stands beside it; anything else is returned unchanged. */
export function resolveReference<T extends object>(document: OpenApiDocument, given: T | { $ref: string }): T {
  const { $ref, ...beside } = given as { $ref?: string };
  if ($ref === undefined) return given as T;
  const keys = $ref.slice(2).split('/');
  const found = keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document) as T;
  return { ...resolveReference(document, found), ...beside };
}

/** Resolves a reference; any other schema is returned unchanged. */
export function resolveSchema(document: OpenApiDocument, schema: JsonSchema): JsonSchema {
  return resolveReference<JsonSchema>(document, schema);
}

/** A place in a value, as the keys that lead there. */
export type Place = (string | number)[];

/** The replaceable places in a value: every leaf and every object, except the whole. */
export function placesIn(value: unknown, at: Place = []): Place[] {
  const own = at.length > 0 ? [at] : [];
  if (typeof value !== 'object' || value === null) return own;
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...at, Array.isArray(value) ? Number(key) : key])),
  ];
}

/** The value with one place replaced. */
export function replacePlace(value: unknown, [head, ...rest]: Place, by: unknown): unknown {
  if (head === undefined) return by;
  if (Array.isArray(value)) return value.with(head as number, replacePlace(value[head as number], rest, by));
  const record = value as Record<string, unknown>;
  // computed keys define properties: `__proto__` stays a key
  return { ...record, [head]: replacePlace(record[head], rest, by) };
}
