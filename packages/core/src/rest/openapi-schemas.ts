import type { Json } from './openapi-types.js';

/** What an id means, by its name: `productVariantId` is the id of a product variant. Undefined for other names. */
export function idText(name: string): string | undefined {
  const of = /^([a-z]\w*)Id$/.exec(name)?.[1];
  return of && `The id of the ${of.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}.`;
}

/** Describes the ids among the properties of a schema that nothing else describes. Changes the schema. */
export function describeIds(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { properties } = schema as { properties?: Record<string, Json> };
  for (const [name, property] of Object.entries(properties ?? {})) {
    const text = idText(name);
    if (text !== undefined && property['$ref'] !== undefined) property['description'] ??= text;
  }
  for (const inner of Object.values(schema)) describeIds(inner);
}

/** Removes the bounds that every integer has, which say nothing. Changes the value. */
export function dropIntegerBounds(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as Json;
  if (schema['type'] === 'integer') {
    if (schema['maximum'] === Number.MAX_SAFE_INTEGER) delete schema['maximum'];
    if (schema['minimum'] === Number.MIN_SAFE_INTEGER) delete schema['minimum'];
  }
  for (const inner of Object.values(schema)) dropIntegerBounds(inner);
}
