import { declareField, withKeys, type Field, type FieldSettings, type FieldType, type Fields, type TextPlace } from './fields.js';
import type { StoreFilter } from './filter.js';
import { bindOrder, type SortKey } from './order.js';
import { parseOrder } from './parse-order.js';
import { without } from './transformation.js';

/** A relation from a field with an id or a list of ids to the records with these ids. */
export interface RelationSettings {
  /** Path of the stored field with the ids. */
  from: string;
  /** The target as `collection.field`; the field defaults to `id`. */
  to?: string;
  /**
   * The declaration of the related records, for their hidden fields and relations; a function where two resources refer
   * to each other.
   */
  resource?: ListResource | (() => ListResource);
}

export interface ListResourceSettings<Declared extends Record<string, FieldType | FieldSettings>> {
  /** Name of the collection, used in messages and cursors. */
  name: string;
  /** Every field that may be queried, by name; `id` is added automatically, as a string. */
  fields: Declared;
  /** Stored paths that are never sent. */
  hidden?: readonly string[];
  /** Text fields whose words `$search` finds, names first. */
  searched?: Searched;
  relations?: Record<string, RelationSettings>;
  /** For example `createdAt desc`; default: ordered by id. */
  defaultOrder?: string;
  /** Whether records with `deletedAt` are deleted and invisible to queries. Default true. */
  softDelete?: boolean;
}

/** An index of words, which whoever stores the records keeps beside them. */
export interface Searched {
  fields: readonly string[];
  /** The stored path of the index, which is never sent. */
  path: string;
  /** A filter by the index that finds at least the records where the text stands in the field, in any case. */
  containing(field: string, text: string, place: TextPlace): StoreFilter | undefined;
}

export interface Relation {
  from: string;
  /** Path in the stored related records. */
  to: string;
  resource(): ListResource | undefined;
}

/** What can be queried of one kind of record. */
export interface ListResource<
  Declared extends Record<string, FieldType | FieldSettings> = Record<string, FieldType | FieldSettings>,
> {
  readonly name: string;
  readonly fields: Fields;
  /** The fields of which `$filter` compares the keys. */
  readonly open: Fields;
  /** What `$filter` may name. */
  readonly filterable: Pick<Fields, 'get'>;
  readonly hidden: readonly string[];
  /** The fields that `$search` looks into. */
  readonly searched: readonly string[];
  /** Excludes the hidden fields. */
  readonly projection: Readonly<Record<string, 0>>;
  readonly relations: ReadonlyMap<string, Relation>;
  readonly defaultOrder: readonly SortKey[];
  readonly softDelete: boolean;
  /** The same with its guarded fields, for those who may know of them; undefined where it has none. */
  readonly whole?: ListResource;
  /** The declaration, from which the typed builder takes its types. */
  readonly declared: Declared;
}

/** The store's own fields, never shown. */
const NEVER_SHOWN = ['__v', 'deletedAt'];

/**
 * Declares what can be queried of a resource.
 * @throws Error for a declaration that contradicts itself
 */
export function defineListResource<const Declared extends Record<string, FieldType | FieldSettings>>(
  settings: ListResourceSettings<Declared>,
): ListResource<Declared> {
  const { name, hidden = [], relations = {}, defaultOrder, softDelete = true, searched } = settings;
  const fields = new Map<string, Field>([['id', declareField('id', 'string')]]);
  const open = new Map<string, Field>();
  const guarded = new Map<string, Field>();
  for (const [field, declared] of Object.entries(settings.fields)) {
    const one = declareField(field, declared);
    const isGuarded = typeof declared === 'object' && declared.guarded === true;
    if (isGuarded && !one.isOpen) throw new Error(`${name}: ${field} is guarded, and not open`);
    (isGuarded ? guarded : one.isOpen ? open : fields).set(field, one);
  }
  for (const one of searched?.fields ?? []) {
    const field = fields.get(one);
    if (field?.type !== 'string' || field.isList) throw new Error(`${name}: ${one} is searched, and no text`);
    fields.set(one, { ...field, containing: (text, place) => searched?.containing(one, text, place) });
  }
  for (const { name: shown, path } of [...fields.values(), ...open.values(), ...guarded.values()]) {
    const hides = hidden.find((entry) => path === entry || path.startsWith(`${entry}.`));
    if (hides !== undefined) throw new Error(`${name}: ${shown} is declared and hidden`);
  }
  for (const relation of Object.keys(relations)) {
    if (fields.has(relation)) throw new Error(`${name}: ${relation} is a field and a relation`);
  }
  const unshown = [...new Set([...hidden, ...(searched ? [searched.path] : []), ...NEVER_SHOWN])];
  const made = {
    name,
    fields,
    searched: searched?.fields ?? [],
    relations: new Map(Object.entries(relations).map(([key, relation]) => [key, declareRelation(relation)])),
    defaultOrder: defaultOrder === undefined ? [] : bindOrder(parseOrder(defaultOrder), fields, 'defaultOrder'),
    softDelete,
    declared: settings.fields,
  };
  const asking = (asked: Fields, hides: readonly string[]) => ({
    ...made,
    open: asked,
    filterable: withKeys(fields, asked),
    hidden: hides,
    projection: without(hides),
  });
  if (guarded.size === 0) return asking(open, unshown);
  const whole = asking(new Map([...open, ...guarded]), unshown);
  return { ...asking(open, [...unshown, ...[...guarded.values()].map(({ path }) => path)]), whole };
}

function declareRelation({ from, to = 'id', resource }: RelationSettings): Relation {
  const field = to.slice(to.indexOf('.') + 1);
  return { from, to: field === 'id' ? '_id' : field, resource: typeof resource === 'function' ? resource : () => resource };
}

/**
 * The resource with further fields.
 * @throws Error for a name that is taken
 */
export function extendListResource(resource: ListResource, added: Record<string, FieldSettings>): ListResource {
  const fields = new Map(resource.fields);
  for (const [name, declared] of Object.entries(added)) {
    if (fields.has(name) || resource.relations.has(name)) throw new Error(`${resource.name}: there already is a field ${name}`);
    fields.set(name, declareField(name, declared));
  }
  const { whole, open } = resource;
  const extended = { ...resource, fields, filterable: withKeys(fields, open), declared: { ...resource.declared, ...added } };
  return whole ? { ...extended, whole: { ...whole, fields, filterable: withKeys(fields, whole.open) } } : extended;
}
