import type { OpenApiDocument } from '@tandem/core';

/** A JSON schema without what is only said: descriptions, examples. */
export type Schema = Readonly<{ [keyword: string]: unknown }>;

export interface Input {
  required: boolean;
  schema: Schema;
}
export interface Contract {
  /** `GET /products/{productId}`. */
  route: string;
  /** Whether it answers without credentials. */
  isOpen: boolean;
  /** By place and name: `path productId`. */
  parameters: Record<string, Input>;
  body?: Input;
  /** The schema of each answer by its status; null without a body, and for errors, which share one envelope. */
  answers: Record<string, Schema | null>;
}

/** What callers of the interface depend on. */
export interface Interface {
  operations: Record<string, Contract>;
  schemas: Record<string, Schema>;
}

const SAID = new Set(['description', 'examples', 'example', 'title', 'deprecated', 'default']);

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => !SAID.has(key));
  // names of properties are no keywords
  const of = (key: string, one: unknown) =>
    key === 'properties'
      ? Object.fromEntries(Object.entries(one as object).map(([name, schema]) => [name, bare(schema)]))
      : bare(one);
  return Object.fromEntries(entries.map(([key, one]) => [key, of(key, one)]));
}

/** The interface that an OpenAPI document describes. */
export function interfaceOf({ paths, components }: OpenApiDocument): Interface {
  const { schemas, parameters: shared, responses: answers } = components;
  const last = ($ref: string) => $ref.split('/').at(-1) ?? '';
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId, parameters = [], requestBody, responses, security = [] }]): [string, Contract] => {
        const given = parameters.map((one) => ('$ref' in one ? shared[last(one.$ref)] : one)).filter((one) => one !== undefined);
        const body = requestBody?.content['application/json']?.schema;
        return [
          operationId,
          {
            route: `${method.toUpperCase()} ${path}`,
            isOpen: security.length === 0 || security.some((one) => Object.keys(one).length === 0),
            parameters: Object.fromEntries(
              given.map((one) => [
                `${one.in} ${one.name}`,
                { required: one.required === true, schema: bare(one.schema) as Schema },
              ]),
            ),
            ...(body && { body: { required: requestBody.required === true, schema: bare(body) as Schema } }),
            answers: Object.fromEntries(
              Object.entries(responses).map(([status, response]) => {
                const answer = '$ref' in response ? answers[last(response.$ref)] : response;
                const schema = Number(status) < 400 && answer?.content?.['application/json']?.schema;
                return [status, schema ? (bare(schema) as Schema) : null];
              }),
            ),
          },
        ];
      },
    ),
  );
  const { Error: _, ...named } = schemas;
  return {
    operations: Object.fromEntries(operations),
    schemas: (bare({ properties: named }) as { properties: Record<string, Schema> }).properties,
  };
}
