export type Absent = false | '';

/** What one value of a field is. */
export type ScalarType = 'string' | 'number' | 'boolean' | 'date';
/** A field's declared type: one value, or a list of them. */
export type FieldType = ScalarType | `${ScalarType}[]`;

/** A declared field: its type alone, or the type and what differs from the rule that everything may be asked of it. */
export interface FieldSettings {
  type: FieldType;
  /** Path in the stored documents, where it is not the name. */
  stored?: string;
  /** Of a boolean or a text: what a record without it counts as. The least value, so that such records are sorted beside those that have it. */
  absent?: Absent;
  /** May stand in `$filter`. Default true. */
  filter?: boolean;
  /** May stand in `$orderby`. Default true; lists never can. */
  sort?: boolean;
  /** May be a key of `groupby`. Default true; lists never can. */
  group?: boolean;
  /** May be computed with in `aggregate`. Default true; lists never can. */
  aggregate?: boolean;
}

/** A field that a query can see at some place, and what may be asked of it there. */
export interface Field {
  /** As the caller writes it. */
  name: string;
  /** Where it is in the documents at that place. */
  path: string;
  type: ScalarType;
  isList: boolean;
  absent: Absent | undefined;
  filter: boolean;
  sort: boolean;
  group: boolean;
  aggregate: boolean;
}

/** The fields that can be seen at some place. A map: no name of the caller's ever meets an object's prototype. */
export type Fields = ReadonlyMap<string, Field>;

const NAME = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** @throws Error for a name that texts could not write, or that the store would read as an operator */
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
    absent,
    filter: may.filter ?? true,
    sort: !isList && (may.sort ?? true),
    group: !isList && (may.group ?? true),
    aggregate: !isList && (may.aggregate ?? true),
  };
}

/** A field of computed rows, stored under its own name. */
export function computedField(name: string, type: ScalarType): Field {
  return { name, path: name, type, isList: false, absent: undefined, filter: true, sort: true, group: true, aggregate: true };
}

/** Whether two names cannot stand in one row: the same, or one inside the other. */
export function clash(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}.`) || other.startsWith(`${one}.`);
}

/** A field's value as an expression of the store's aggregations. */
export function valueOf({ path, absent }: Pick<Field, 'path' | 'absent'>): unknown {
  return absent === undefined ? `$${path}` : { $ifNull: [`$${path}`, absent] };
}

const STORE_TYPES = { string: 'string', boolean: 'bool', date: 'date' } as const;

/** The same, null where what is stored is not of the field's type: only a host can have written that, and nobody is shown it (decisions H20). */
export function fittingValueOf({ type, ...field }: Pick<Field, 'path' | 'absent' | 'type'>): unknown {
  const stored = `$${field.path}`;
  const fits = type === 'number' ? { $isNumber: stored } : { $eq: [{ $type: stored }, STORE_TYPES[type]] };
  return { $cond: [fits, stored, field.absent ?? null] };
}
