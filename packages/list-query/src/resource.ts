import { declareField, type Field, type FieldSettings, type FieldType, type Fields } from './fields.js';
import { bindOrder, type SortKey } from './order.js';
import { parseOrder } from './parse-order.js';
import { without } from './transformation.js';

/** A relation from a field that holds ids, or lists of ids, to the records that they name. */
export interface RelationSettings {
  /** Path of the stored field with the ids. */
  from: string;
  /** `collection.field` that they name; the field is `id` unless it is said. */
  to?: string;
  /** What the related records are, for their hidden fields and their own relations; a function where two name each other. */
  resource?: ListResource | (() => ListResource);
}

export interface ListResourceSettings<Declared extends Record<string, FieldType | FieldSettings>> {
  /** Of the collection, in messages and cursors. */
  name: string;
  /** Everything that may be asked for, by name; `id` is there by itself, as a string. */
  fields: Declared;
  /** Stored paths that never leave. */
  hidden?: readonly string[];
  relations?: Record<string, RelationSettings>;
  /** `createdAt desc`; without it the order is that of the ids. */
  defaultOrder?: string;
  /** Whether records with `deletedAt` are deleted ones, which no query sees. Default true. */
  softDelete?: boolean;
}

export interface Relation {
  from: string;
  /** Path in the stored related records. */
  to: string;
  resource(): ListResource | undefined;
}

/** What can be asked of one kind of record. */
export interface ListResource<
  Declared extends Record<string, FieldType | FieldSettings> = Record<string, FieldType | FieldSettings>,
> {
  readonly name: string;
  readonly fields: Fields;
  readonly hidden: readonly string[];
  /** All of a record but what is hidden. */
  readonly projection: Readonly<Record<string, 0>>;
  readonly relations: ReadonlyMap<string, Relation>;
  readonly defaultOrder: readonly SortKey[];
  readonly softDelete: boolean;
  /** The declaration, from which the typed builder takes its types. */
  readonly declared: Declared;
}

/** What is the store's own and never shown. */
const NEVER_SHOWN = ['__v', 'deletedAt'];

/**
 * Declares what can be asked of a resource.
 * @throws Error for a declaration that contradicts itself
 */
export function defineListResource<const Declared extends Record<string, FieldType | FieldSettings>>(
  settings: ListResourceSettings<Declared>,
): ListResource<Declared> {
  const { name, hidden = [], relations = {}, defaultOrder, softDelete = true } = settings;
  const fields = new Map<string, Field>([['id', declareField('id', 'string')]]);
  for (const [field, declared] of Object.entries(settings.fields)) fields.set(field, declareField(field, declared));
  for (const { name: shown, path } of fields.values()) {
    const hides = hidden.find((entry) => path === entry || path.startsWith(`${entry}.`));
    if (hides !== undefined) throw new Error(`${name}: ${shown} is declared and hidden`);
  }
  for (const relation of Object.keys(relations)) {
    if (fields.has(relation)) throw new Error(`${name}: ${relation} is a field and a relation`);
  }
  const unshown = [...new Set([...hidden, ...NEVER_SHOWN])];
  return {
    name,
    fields,
    hidden: unshown,
    projection: without(unshown),
    relations: new Map(Object.entries(relations).map(([key, relation]) => [key, declareRelation(relation)])),
    defaultOrder: defaultOrder === undefined ? [] : bindOrder(parseOrder(defaultOrder), fields, 'defaultOrder'),
    softDelete,
    declared: settings.fields,
  };
}

function declareRelation({ from, to = 'id', resource }: RelationSettings): Relation {
  const field = to.slice(to.indexOf('.') + 1);
  return { from, to: field === 'id' ? '_id' : field, resource: typeof resource === 'function' ? resource : () => resource };
}
