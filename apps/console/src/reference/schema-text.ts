import type { Resolve, Schema } from './document.js';

/** The alternatives of a schema. */
export function alternativesOf({ anyOf, oneOf }: Schema): Schema[] {
  return anyOf ?? oneOf ?? [];
}

const isNull = ({ type, const: value }: Schema) => type === 'null' || value === null;

/** The schema with its reference followed and its `allOf` merged. */
export function flatten(schema: Schema, resolve: Resolve): Schema {
  const { allOf, ...own } = resolve(schema);
  if (!allOf) return own;
  return allOf.map((part) => flatten(part, resolve)).reduce(merge, own);
}

function merge(one: Schema, other: Schema): Schema {
  const properties = { ...one.properties };
  for (const [name, schema] of Object.entries(other.properties ?? {}))
    properties[name] = properties[name] ? { allOf: [properties[name], schema] } : schema;
  return {
    ...one,
    ...other,
    ...(one.properties || other.properties ? { properties } : {}),
    ...(one.required || other.required ? { required: [...(one.required ?? []), ...(other.required ?? [])] } : {}),
  };
}

/** The name by which a schema is referred to. */
export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1);
}

/** The type in words: `list of strings or null`. */
export function typeText(schema: Schema, resolve: Resolve): string {
  const flat = flatten(schema, resolve);
  const alternatives = alternativesOf(flat);
  if (alternatives.length > 0) return unique(alternatives.map((one) => typeText(one, resolve))).join(' or ');
  const types = [flat.type ?? (flat.properties ? 'object' : flat.enum || 'const' in flat ? 'value' : 'anything')].flat();
  const texts = types.map((type) => {
    if (type === 'array') return flat.items ? `list of ${typeText(flat.items, resolve)}` : 'list';
    if (type === 'object') return nameOf(schema) ?? 'object';
    return type === 'string' && flat.format !== undefined ? flat.format : type;
  });
  return texts.join(' or ');
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}

const inWords = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** What else a value has to be, as phrases: `at most 50`. */
export function limitsOf(schema: Schema): string[] {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  return [
    ...rangeText(minimum, maximum),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
    ...(exclusiveMaximum === undefined ? [] : [`less than ${exclusiveMaximum}`]),
    // a length of at least none says nothing
    ...rangeText(minLength || undefined, maxLength, ' characters'),
    ...rangeText(minItems || undefined, maxItems, ' items'),
    ...(schema.default === undefined ? [] : [`default ${inWords(schema.default)}`]),
  ];
}

function rangeText(least: number | undefined, most: number | undefined, unit = ''): string[] {
  if (least === undefined && most === undefined) return [];
  if (least === most) return [`exactly ${least}${unit}`];
  if (most === undefined) return [`at least ${least}${unit}`];
  return [least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`];
}

/** The values that are allowed, if only some are. */
export function valuesOf(schema: Schema, resolve: Resolve): string[] {
  const { enum: values, const: only } = flatten(schema, resolve);
  return (values ?? (only === undefined ? [] : [only])).map(inWords);
}

/** The parts of a schema that have fields of their own, each with its title. */
export function objectsIn(schema: Schema, resolve: Resolve): { title: string | undefined; schema: Schema }[] {
  const flat = flatten(schema, resolve);
  const alternatives = alternativesOf(flat).filter((one) => !isNull(resolve(one)));
  if (alternatives.length > 0) return alternatives.flatMap((one) => objectsIn(one, resolve));
  if (flat.items) return objectsIn(flat.items, resolve);
  const hasFields = Object.keys(flat.properties ?? {}).length > 0;
  return hasFields ? [{ title: nameOf(schema), schema: flat }] : [];
}
