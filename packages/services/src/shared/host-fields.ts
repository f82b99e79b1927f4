import { extendListResource, type FieldSettings, type FieldType, type ListResource } from '@tandem/list-query';
import { extendedList } from '@tandem/lists';
import { z } from 'zod';
import { plain } from './record.js';

/** Where a record keeps the fields that a host declares. */
export type StoredHostFields = Record<string, unknown>;
export const HOST_FIELDS = 'hostFields';

/** A record that a host may add fields to. */
export interface Extendable {
  record: { fields: object; given: object; patch: object; resource: ListResource };
  /** The schema of its answers. */
  schema: z.ZodObject;
  /** Names that its routes use otherwise. */
  reserved: readonly string[];
}

/** Adds a host's fields to what is declared of one kind of records; all else stays as it is. */
export interface Extension {
  resource: ListResource;
  input<Schema extends z.ZodType>(schema: Schema): Schema;
  output<Schema extends z.ZodType>(schema: Schema): Schema;
  list<List>(list: List): List;
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
export function createExtension(setting: string, { record, schema, reserved }: Extendable, host: z.ZodObject): Extension {
  if (!(host instanceof z.ZodObject)) throw new Error(`${setting} must be a z.object(…)`);
  if ((host.def.checks?.length ?? 0) > 0)
    throw new Error(`${setting}: rules over several fields cannot be kept, because a change gives some of them`);
  const taken = new Set([...RESERVED, ...reserved, ...Object.keys(schema.shape), ...record.resource.relations.keys()]);
  const entries = Object.entries(host.shape as Record<string, z.ZodType>).map(([name, given]) => {
    const at = `${setting}.${name}`;
    if (!NAME.test(name) || name in Object.prototype) throw new Error(`${at}: a name has up to 40 letters, digits and _`);
    if (taken.has(name)) throw new Error(`${at}: there already is a field or parameter of this name`);
    const { bare, ...of } = bareOf(given, at);
    const { description = bare.description } = given;
    return [name, given, { ...of, bare: description === undefined ? bare : bare.describe(description) }] as const;
  });
  const added = Object.fromEntries(
    entries.map(([name, , { type }]): [string, FieldSettings] => [name, { type, stored: `${HOST_FIELDS}.${name}` }]),
  );
  const given = Object.fromEntries(entries.map(([name, one]) => [name, one]));
  const patch = Object.fromEntries(
    entries.map(([name, , { bare, isOptional }]) => [name, (isOptional ? bare.nullable() : bare).optional()]),
  );
  const shown = Object.fromEntries(entries.map(([name, , { bare }]) => [name, plain(bare).nullable().default(null)]));
  const id = z.globalRegistry.get(schema)?.id;
  const extended = schema.extend(shown).meta({ ...(id !== undefined && { id: `Extended${id}` }) });
  const resource = extendListResource(record.resource, added);
  const lists = new Map<unknown, unknown>();

  const hasAll = (shape: object, fields: object) => Object.entries(fields).every(([key, one]) => Reflect.get(shape, key) === one);

  function input<Schema extends z.ZodType>(one: Schema): Schema {
    if (one instanceof z.ZodArray) {
      const element = input(one.element as z.ZodType);
      return element === one.element ? one : one.clone({ ...one.def, element });
    }
    if (!(one instanceof z.ZodObject)) return one;
    const shape = one.shape as Record<string, z.ZodType>;
    if (hasAll(shape, record.given)) return one.extend(given) as unknown as Schema;
    if (hasAll(shape, record.patch)) return one.extend(patch) as unknown as Schema;
    const changed = Object.entries(shape).flatMap(([key, child]) => {
      const after = input(child);
      return after === child
        ? []
        : [[key, after.description === child.description ? after : after.describe(child.description ?? '')]];
    });
    return changed.length === 0 ? one : (one.extend(Object.fromEntries(changed) as z.ZodRawShape) as unknown as Schema);
  }

  return {
    resource,
    input,
    output: (one) => ((one as unknown) === schema ? (extended as never) : one),
    list(one) {
      const list = one as { resource: ListResource };
      if (list.resource.fields !== record.resource.fields) return one;
      const extendRow = (row: z.ZodObject) => (row === schema ? extended : row);
      const made = lists.get(one) ?? extendedList(list, () => resource, extendRow);
      lists.set(one, made);
      return made as typeof one;
    },
  };
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
  return { bare: given, isOptional: false, type: (element === given ? type : `${type}[]`) as FieldType };
}

/** Moves what a host's fields give to where the record keeps them. */
export function withHostFields<Given extends object>(
  { fields }: { fields: object },
  given: Given,
): Given & { [HOST_FIELDS]?: StoredHostFields } {
  const [own, others] = [{} as StoredHostFields, {} as StoredHostFields];
  for (const [name, value] of Object.entries(given)) (name in fields ? own : others)[name] = value as unknown;
  return { ...own, ...(Object.keys(others).length > 0 && { [HOST_FIELDS]: others }) } as Given;
}

/** The host's fields after a change, in which null clears one. */
export function mergeHostFields(before: StoredHostFields | null | undefined, patch: StoredHostFields): StoredHostFields {
  return Object.fromEntries(Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null));
}
