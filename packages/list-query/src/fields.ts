import type { StoreFilter } from './filter.js';

export type Absent = false | '';

/** Type of a single value. */
export type ScalarType = 'string' | 'number' | 'boolean' | 'date';
/** A field's declared type: a single value, or a list. */
export type FieldType = ScalarType | `${ScalarType}[]`;

/** A declared field: its type alone, or its type and exceptions from the rule that every use is allowed. */
export interface FieldSettings {
  type: FieldType;
  /** Path in the stored documents, if it differs from the name. */
  stored?: string;
  /**
   * For a boolean or text: the value that a record without it counts as. It must be the least value, so that such
   * records sort beside those that have it.
   */
  absent?: Absent;
  /** A map from keys to texts, numbers and booleans: `$filter`, and nothing else, compares the value of a key, `metadata.erp`. */
  open?: true;
  /** For an open field: read and asked of by `resource.whole` alone; to all others it does not exist. */
  guarded?: true;
  /** For a number: the most decimals that it has. Its sums are rounded to them, so that 0.1 and 0.2 are 0.3. */
  places?: number;
  /** Allowed in `$filter`. Default true. */
  filter?: boolean;
  /** Allowed in `$orderby`. Default true; never for lists. */
  sort?: boolean;
  /** Allowed as a key of `groupby`. Default true; never for lists. */
  group?: boolean;
  /** Allowed in `aggregate`. Default true; never for lists. */
  aggregate?: boolean;
}

/** A field visible at some place of a query, and its allowed uses there. */
export interface Field {
  /** As the caller writes it. */
  name: string;
  /** Its path in the documents at that place. */
  path: string;
  type: ScalarType;
  isList: boolean;
  /** Its values are texts, numbers and booleans. */
  isOpen?: true;
  absent: Absent | undefined;
  places: number | undefined;
  filter: boolean;
  sort: boolean;
  group: boolean;
  aggregate: boolean;
  /** In this condition, its text in lower case. */
  lower?: true;
  /** Finds by an index at least the records where a text stands in this one, in any case; undefined where it cannot. */
  containing?: (text: string, place: TextPlace) => StoreFilter | undefined;
}

/** Where one text stands in another. */
export type TextPlace = 'anywhere' | 'at the start' | 'whole';

/** The visible fields. A Map, so that caller text never reaches an object's prototype. */
export type Fields = ReadonlyMap<string, Field>;

/** A key of an open field; the store reads none as an operator or a path. */
const KEY = /^[A-Za-z]\w{0,39}$/;

/** Fields by name, and the keys of open fields. */
export function withKeys(fields: Fields, open: Fields): Pick<Fields, 'get'> {
  return {
    get(name) {
      const [first = '', key = ''] = name.split(/\.(.*)/s, 2);
      const field = KEY.test(key) ? open.get(first) : undefined;
      return field ? { ...field, name, path: `${field.path}.${key}` } : fields.get(name);
    },
  };
}

const NAME = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** @throws Error for a name that query texts cannot express, or that the store would read as an operator */
export function declareField(name: string, declared: FieldType | FieldSettings): Field {
  const { type, stored, ...may } = typeof declared === 'string' ? ({ type: declared } as FieldSettings) : declared;
  const path = stored ?? (name === 'id' ? '_id' : name);
  for (const text of [name, path]) {
    if (!NAME.test(text) || text.split('.').includes('__proto__')) throw new Error(`${text} cannot be the name of a field`);
  }
  const isList = type.endsWith('[]');
  const scalar = (isList ? type.slice(0, -2) : type) as ScalarType;
  if (!['string', 'number', 'boolean', 'date'].includes(scalar)) throw new Error(`${name} has the unknown type ${type}`);
  const { absent } = may;
  if (absent !== undefined && (isList || typeof absent !== scalar)) throw new Error(`${name} cannot count as ${String(absent)}`);
  return {
    name,
    path,
    type: scalar,
    isList,
    ...(may.open && { isOpen: true as const }),
    absent,
    places: may.places,
    filter: may.filter ?? true,
    sort: !isList && (may.sort ?? true),
    group: !isList && (may.group ?? true),
    aggregate: !isList && (may.aggregate ?? true),
  };
}

/** A field of computed rows, stored under its own name. */
export function computedField(name: string, type: ScalarType, places?: number): Field {
  const may = { filter: true, sort: true, group: true, aggregate: true };
  return { name, path: name, type, isList: false, absent: undefined, places, ...may };
}

/** Whether two names cannot be in one row: they are equal, or one is inside the other. */
export function clash(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

/** A field's value as a store expression. */
export function valueOf({ path, absent }: Pick<Field, 'path' | 'absent'>): unknown {
  return absent === undefined ? `$${path}` : { $ifNull: [`$${path}`, absent] };
}

const STORE_TYPES = { string: 'string', boolean: 'bool', date: 'date' } as const;

/**
 * The same, but null where the stored value is not of the field's type: only a host application can have written it,
 * and it must not be shown (decisions H20).
 */
export function fittingValueOf({ type, ...field }: Pick<Field, 'path' | 'absent' | 'type'>): unknown {
  const stored = `$${field.path}`;
  const fits = type === 'number' ? { $isNumber: stored } : { $eq: [{ $type: stored }, STORE_TYPES[type]] };
  return { $cond: [fits, stored, field.absent ?? null] };
}
