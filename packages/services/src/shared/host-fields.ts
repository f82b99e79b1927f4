import { extendListResource, type FieldSettings, type FieldType, type ListResource } from '@tandem/list-query';
import { HOST_FIELDS } from '@tandem/storage';
import { z } from 'zod';
import { plain } from './record.js';

/** Where a record keeps the fields that a host declares. */
export type StoredHostFields = Record<string, unknown>;
/** Inputs give a host's fields there too: their schemas move them. */
export interface HostGiven {
  hostFields?: StoredHostFields | undefined;
}

/** A kind of records that a host may add fields to. Its inputs are those with its metadata. */
export interface Extendable {
  given: { readonly metadata?: z.ZodType };
  patch: { readonly metadata?: z.ZodType };
  /** The fields by which its answers are known. */
  schema: z.ZodObject;
  /** Schemas that show it with some field in another form. */
  variants?: readonly z.ZodObject[];
  resource: ListResource;
  model: { readonly collectionName: string; readonly fields: object };
}

/** Adds a host's fields to what is declared of one kind of records. */
export interface ExtendedKind {
  resource: ListResource;
  /** The object schema with the host's fields, if it is one of an input or answer of the kind. */
  object(schema: z.ZodObject): z.ZodObject | undefined;
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;
/** Names of every list, batch and record. */
const RESERVED = ['id', 'ids', 'data', 'page', 'limit', 'deletedAt', HOST_FIELDS];
const SCALARS: Partial<Record<z.ZodType['type'], FieldType>> = {
  string: 'string',
  enum: 'string',
  number: 'number',
  boolean: 'boolean',
};

/**
 * Prepares the fields that a host declares for one kind of records.
 * @param setting names them in errors
 * @throws Error for a name that is taken, and for a type that cannot be stored or asked for
 */
export function extendKind(
  setting: string,
  { given, patch, schema, variants = [], resource, model }: Extendable,
  host: z.ZodObject,
): ExtendedKind {
  if (!(host instanceof z.ZodObject)) throw new Error(`${setting} must be a z.object(…)`);
  if ((host.def.checks?.length ?? 0) > 0)
    throw new Error(`${setting}: rules over several fields cannot be kept, because a change gives some of them`);
  // what is stored under a name, shown or not, stands before a field of the host
  const stored = [...Object.keys(model.fields), ...resource.hidden];
  const taken = new Set([...RESERVED, ...Object.keys(schema.shape), ...resource.relations.keys(), ...stored]);
  const entries = Object.entries(host.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const at = `${setting}.${name}`;
    if (!NAME.test(name) || name in Object.prototype) throw new Error(`${at}: a name has up to 40 letters, digits and _`);
    if (taken.has(name)) throw isTaken(name);
    const { bare, ...of } = bareOf(field, at);
    const { description = bare.description } = field;
    return [name, field, { ...of, bare: description === undefined ? bare : bare.describe(description) }] as const;
  });
  const shape = (of: (field: z.ZodType, bare: Bare) => z.ZodType) =>
    Object.fromEntries(entries.map(([name, field, bare]) => [name, of(field, bare)]));
  const added = Object.fromEntries(
    entries.map(([name, , { type }]): [string, FieldSettings] => [name, { type, stored: `${HOST_FIELDS}.${name}` }]),
  );
  const ofGiven = shape((field) => field);
  const ofPatch = shape((_, { bare, isOptional }) => (isOptional ? bare.nullable() : bare).optional());
  const move = z.overwrite((value: object) => withHostFields(added, value)) as z.core.$ZodCheck;
  const ofShown = shape((_, { bare }) => plain(bare).nullable().default(null));

  function isTaken(name: string): Error {
    return new Error(`${setting}.${name}: there already is a field or parameter of this name`);
  }

  function extended(object: z.ZodObject, fields: Record<string, z.ZodType>, ...checks: z.core.$ZodCheck[]) {
    const both = Object.keys(fields).find((name) => name in object.shape);
    if (both !== undefined) throw isTaken(both);
    const { def } = object;
    return object.clone({ ...def, shape: { ...def.shape, ...fields }, checks: [...(def.checks ?? []), ...checks] });
  }

  return {
    resource: extendListResource(resource, added),
    object(one) {
      const { metadata } = one.shape as { metadata?: z.ZodType };
      if (metadata && metadata === given.metadata) return extended(one, ofGiven, move);
      if (metadata && metadata === patch.metadata) return extended(one, ofPatch, move);
      return [schema, ...variants].some((known) => isLike(one, known)) ? extended(one, ofShown) : undefined;
    },
  };
}

/** Whether a schema has all fields of another, described or not. */
function isLike({ shape }: z.ZodObject, { shape: known }: z.ZodObject): boolean {
  const isSame = (one: z.ZodType | undefined, field: z.ZodType) => one === field || one?._zod.parent === field;
  return Object.entries(known).every(([name, field]) => isSame(shape[name] as z.ZodType | undefined, field as z.ZodType));
}

interface Bare {
  bare: z.ZodType;
  isOptional: boolean;
  type: FieldType;
}

/** A field's schema without what lets it be left out, and what lists may ask of it. @throws Error */
function bareOf(given: z.ZodType, at: string): Bare {
  if (given instanceof z.ZodOptional || given instanceof z.ZodDefault || given instanceof z.ZodNullable)
    return { ...bareOf(given.unwrap() as z.ZodType, at), isOptional: true };
  const element = given instanceof z.ZodArray ? (given.element as z.ZodType) : given;
  const type = SCALARS[element.type];
  if (type === undefined) throw new Error(`${at}: a ${element.type} can be neither stored nor asked for`);
  if (element instanceof z.ZodEnum && element.options.some((value) => typeof value !== 'string'))
    throw new Error(`${at}: an enum must have texts alone`);
  return { bare: given, isOptional: false, type: (element === given ? type : `${type}[]`) as FieldType };
}

/** What was moved: other data may have a key of the same name. */
const moved = new WeakSet<object>();

/** Moves what a host's fields give to where the record keeps them. */
function withHostFields(fields: object, given: object): object {
  const [own, others] = [{} as StoredHostFields, {} as StoredHostFields];
  for (const [name, value] of Object.entries(given))
    if (value !== undefined) (name in fields ? others : own)[name] = value as unknown;
  moved.add(others);
  return { ...own, ...(Object.keys(others).length > 0 && { [HOST_FIELDS]: others }) };
}

/** What was given before `withHostFields`, at any depth: an input that passes its validation again. */
export function withoutHostFields(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(withoutHostFields);
  if (typeof input !== 'object' || input === null || input instanceof Date) return input;
  const entries = Object.entries(input).flatMap(([key, value]: [string, unknown]) =>
    key === HOST_FIELDS && moved.has(value as object) ? Object.entries(value as object) : [[key, withoutHostFields(value)]],
  );
  return Object.fromEntries(entries) as object;
}

/** The host's fields after a change, in which null clears one. */
export function mergeHostFields(before: StoredHostFields | null | undefined, patch: StoredHostFields): StoredHostFields {
  return Object.fromEntries(Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null));
}
