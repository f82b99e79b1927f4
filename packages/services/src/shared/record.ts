import {
  defineListResource,
  type FieldSettings as ListField,
  type FieldType,
  type ListResource,
  type Searched,
} from '@tandem/list-query';
import { HOST_FIELDS, SEARCH, TRACE, containing } from '@tandem/storage';
import type { SchemaDefinition } from 'mongoose';
import { z } from 'zod';
import { Id, Timestamp } from './schemas.js';

export interface FieldSettings {
  /** What answers show; default: the type of the given value, without its checks, which a host's records need not pass. */
  shown?: z.ZodType;
  /** What a change gives; default: the same as at creation. */
  patch?: z.ZodType;
  /** May be left out at creation. Nullable fields always may. */
  optional?: true;
  /** Does not change after creation. */
  fixed?: true;
  /** The Mongoose path, where it does not follow from the schema; false if it is not stored in the record. */
  stored?: SchemaDefinition[string] | false;
  /** What lists may ask of it; default: nothing. */
  list?: FieldType | ListField;
}
/** A field that callers give. */
export interface GivenField<Given extends z.ZodType = z.ZodType, Settings extends FieldSettings = FieldSettings> {
  given: Given;
  settings: Settings;
}
/** A field that only the server sets. */
export interface ServerField<Shown extends z.ZodType = z.ZodType, Settings extends Omit<FieldSettings, 'shown'> = FieldSettings> {
  given?: never;
  settings: Settings & { shown: Shown };
}
type Fields = Record<string, GivenField | ServerField>;

/** Declares a field that callers give. Null clears it, where its schema allows null (decisions R3). */
export function field<Given extends z.ZodType, const Settings extends FieldSettings = object>(
  given: Given,
  settings?: Settings,
): GivenField<Given, Settings> {
  return { given, settings: settings ?? ({} as Settings) };
}

/** Declares a field that only the server sets. */
export function serverField<Shown extends z.ZodType, const Settings extends Omit<FieldSettings, 'shown'> = object>(
  shown: Shown,
  settings?: Settings,
): ServerField<Shown, Settings> {
  return { settings: { ...(settings as Settings), shown } };
}

type GivenKeys<F extends Fields> = { [K in keyof F]: F[K] extends GivenField ? K : never }[keyof F];
type GivenOf<F> = F extends GivenField<infer Given> ? Given : never;
type IsOptional<F> = F extends { settings: { optional: true } } ? true : GivenOf<F> extends z.ZodNullable ? true : false;
type ShownOf<F> = F extends { settings: { shown: infer Shown extends z.ZodType } } ? Shown : z.ZodType<z.output<GivenOf<F>>>;
type PatchOf<F> = F extends { settings: { patch: infer Patch extends z.ZodType } } ? Patch : GivenOf<F>;

type GivenShape<F extends Fields> = {
  [K in GivenKeys<F>]: IsOptional<F[K]> extends true ? z.ZodOptional<GivenOf<F[K]>> : GivenOf<F[K]>;
};
type PatchShape<F extends Fields> = {
  [K in GivenKeys<F> as F[K] extends { settings: { fixed: true } } ? never : K]: z.ZodOptional<PatchOf<F[K]>>;
};
type ShownShape<F extends Fields> = { id: typeof Id } & { [K in keyof F]: ShownOf<F[K]> } & typeof times;
type ListedFields<F extends Fields> = {
  [K in keyof F as F[K] extends { settings: { list: FieldType | ListField } } ? K : never]: F[K] extends {
    settings: { list: infer List extends FieldType | ListField };
  }
    ? List
    : never;
};

/** The stored fields that follow from the declaration, for the interface of the record. A host may leave optional ones out. */
export type StoredFields<R extends { fields: Fields }> = StoredFieldsOf<R['fields']>;
type StoredFieldsOf<F extends Fields> = {
  [K in StoredKeys<F> as IsOptional<F[K]> extends true ? never : K]: z.output<GivenOf<F[K]>>;
} & {
  [K in StoredKeys<F> as IsOptional<F[K]> extends true ? K : never]?: OrNull<z.output<GivenOf<F[K]>>>;
};
/** The default of a text that may be left out is null. */
type OrNull<Value> = Value extends string ? Value | null : Value;
type StoredKeys<F extends Fields> = {
  [K in GivenKeys<F>]: F[K] extends { settings: { stored: unknown } } ? never : K;
}[GivenKeys<F>];

const times = { createdAt: Timestamp, updatedAt: Timestamp };
const LISTED_TIMES = { createdAt: 'date', updatedAt: 'date' } as const;
/** The Mongoose path of the fields that a host declares: records with metadata may have some. */
export const HOST_FIELDS_PATH = { [HOST_FIELDS]: { type: Object } } as const;
const NEWEST_FIRST = 'createdAt desc, id desc';

/**
 * Declares the fields of a record once, each with its schema, its storage and what lists may ask of it. The model, the
 * inputs, the answer and the list follow.
 * @param name of the collection and the list resource
 */
export function defineRecord<
  const F extends Fields,
  // oxlint-disable-next-line typescript/ban-types -- no others
  const Listed extends Record<string, FieldType | ListField> = {},
  const Times extends Partial<typeof LISTED_TIMES> = typeof LISTED_TIMES,
>(
  name: string,
  settings: {
    fields: F;
    /** Stored fields that answers never show. */
    internal?: SchemaDefinition;
    /** What lists may ask besides the fields. */
    listed?: Listed;
    /** The times that lists may ask of; default: both. */
    listedTimes?: Times;
    /** Text fields whose words `$search` finds, names first; the model takes them too. */
    searched?: readonly (keyof F & string)[];
    defaultOrder?: string;
  },
) {
  const { fields, internal = {}, listed, listedTimes = LISTED_TIMES, searched = [], defaultOrder = NEWEST_FIRST } = settings;
  const entries = Object.entries(fields);
  const given = entries.filter((entry): entry is [string, GivenField] => entry[1].given !== undefined);
  const pick = <T>(pairs: readonly (readonly [string, T | undefined])[]) =>
    Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
  return {
    fields,
    /** The shape of an input that creates a record. */
    given: pick(given.map(([key, one]) => [key, isOptional(one) ? one.given.optional() : one.given])) as unknown as GivenShape<F>,
    /** The shape of a change. */
    patch: pick(
      given.map(([key, one]) => [
        key,
        one.settings.fixed ? undefined : likewise(one.given, one.settings.patch ?? one.given).optional(),
      ]),
    ) as unknown as PatchShape<F>,
    /** The answer. */
    schema: z.object({
      id: Id,
      ...pick(entries.map(([key, one]) => [key, shownAs(one)])),
      ...times,
    }) as unknown as z.ZodObject<ShownShape<F>>,
    /** Mongoose paths. */
    stored: {
      ...pick(entries.map(([key, one]) => [key, storedAs(one)])),
      ...('metadata' in fields && HOST_FIELDS_PATH),
      ...internal,
    } as SchemaDefinition,
    resource: defineListResource({
      name,
      fields: {
        ...pick(entries.map(([key, one]) => [key, one.settings.list])),
        ...listed,
        ...(listedTimes as typeof LISTED_TIMES),
      },
      hidden: [...Object.keys(internal), TRACE],
      ...searchedFields(searched),
      defaultOrder,
    }) as unknown as ListResource<ListedFields<F> & Listed & Times>,
  };
}

/** The setting of a resource for the fields that `$search` looks into. */
export function searchedFields(fields: readonly string[]): { searched?: Searched } {
  return fields.length === 0 ? {} : { searched: { fields, path: SEARCH, containing } };
}

function isOptional({ given, settings }: GivenField): boolean {
  return settings.optional === true || given instanceof z.ZodNullable;
}

function shownAs({ given, settings: { shown } }: GivenField | ServerField): z.ZodType {
  if (given === undefined) return shown as z.ZodType;
  return likewise(given, shown ?? plain(given));
}

/** The second schema, described like the first unless it has its own description. */
function likewise({ description }: z.ZodType, schema: z.ZodType): z.ZodType {
  return description === undefined || schema.description !== undefined ? schema : schema.describe(description);
}

/** A schema of the same type without checks. @throws TypeError for a type that must say itself what it shows */
export function plain(schema: z.ZodType): z.ZodType {
  return likewise(schema, withoutChecks(schema));
}
function withoutChecks(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodNullable) return plain(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodArray) return z.array(plain(schema.element as z.ZodType));
  if (schema instanceof z.ZodObject)
    return z.object(Object.fromEntries(Object.entries(schema.shape).map(([key, one]) => [key, plain(one as z.ZodType)])));
  return scalarOf(schema).shown();
}

/** The types of single values: how one is shown, and stored. */
const SCALARS: Partial<Record<z.ZodType['type'], { shown: () => z.ZodType; stored: unknown }>> = {
  string: { shown: () => z.string(), stored: String },
  enum: { shown: () => z.string(), stored: String },
  number: { shown: () => z.number(), stored: Number },
  boolean: { shown: () => z.boolean(), stored: Boolean },
};
function scalarOf({ type }: z.ZodType) {
  const scalar = SCALARS[type];
  if (!scalar) throw new TypeError(`a field of the type ${type} must declare what is shown and stored`);
  return scalar;
}

/** The Mongoose path of a field. Values that a caller must give are required, others have the default that reads as empty. */
function storedAs(one: GivenField | ServerField): SchemaDefinition[string] | undefined {
  const { stored } = one.settings;
  if (stored !== undefined) return stored === false ? undefined : stored;
  const { given } = one;
  if (given === undefined) return undefined;
  const type = storedType(given);
  if (given instanceof z.ZodArray) return { type, default: [] };
  if (given instanceof z.ZodBoolean) return { type, default: false };
  if (isOptional(one)) return { type, default: null };
  return given.safeParse('').success ? { type, default: '' } : { type, required: true };
}

/** @throws TypeError for a type that must say itself how it is stored */
function storedType(schema: z.ZodType): unknown {
  if (schema instanceof z.ZodNullable) return storedType(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) return [storedType(schema.element as z.ZodType)];
  if (schema instanceof z.ZodObject) {
    const paths = Object.entries(schema.shape).map(([key, one]) => [key, storedType(one as z.ZodType)]);
    return { ...Object.fromEntries(paths), _id: false };
  }
  return scalarOf(schema).stored;
}
