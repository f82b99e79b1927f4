import type { Schema } from 'mongoose';
import type { BaseRecord, Model, ModelDefinition } from './model.js';
import type { StoredRecord } from './people-records.js';

/** Stands where somebody was named who has been erased. Nobody has this id. */
export const NOBODY = '00000000-0000-0000-0000-000000000000';

type Values = Readonly<Record<string, unknown>>;

/** How records name a person at one path, and what becomes of that when the person is erased (decisions F8). */
export interface Naming {
  /**
   * `keep`: the id stays; `remove`: the record goes; `replace`: `NOBODY` stands there, and a list loses the element; `own`: the
   * service does it in a step of its own.
   */
  erased: 'keep' | 'remove' | 'replace' | 'own';
  /** What the path holds; default: the person's id. `anyEmail` also finds addresses that nobody proved: for what is the account's own. */
  by?: 'id' | 'email' | 'anyEmail';
  /**
   * Fields of such a record that are the person's, with what stands there instead; undefined for nothing. Of a record that is
   * removed its events lose them; without it, all but ids and times.
   */
  cleared?: Values;
  /** The same for texts that may be kept (`ERASED_MESSAGES`). */
  texts?: Values;
  /** No event tells of the change: for records of which a person has very many. */
  untold?: true;
  /** What the person's export shows of such a record; default all of it; false for none. */
  exported?: readonly string[] | false;
  /** How it shows what it has read of the record; default as it is stored. */
  shown?: (record: StoredRecord) => StoredRecord;
}

/** Whom to erase or to export. */
export interface NamedPerson {
  id: string;
  /** All known addresses that the person has proved. */
  emails: readonly string[];
  /** Others that the account has or had: they may be a stranger's. */
  unproved?: readonly string[];
}

/** A model with its definition. */
export interface Held {
  definition: ModelDefinition<BaseRecord>;
  model: Model<BaseRecord>;
}

/** What a person is named by at a path. */
export function namesOf({ id, emails, unproved = [] }: NamedPerson, { by = 'id' }: Naming): readonly string[] {
  if (by === 'id') return [id];
  return by === 'email' ? emails : [...emails, ...unproved];
}

/** What stands in such a record instead of what is the person's. */
export function clearedBy({ cleared, texts }: Naming, isBlank: boolean): [string, unknown][] {
  return Object.entries({ ...cleared, ...(isBlank && texts) });
}

/** Matches records in which there still is something to clear. @param prefix of the fields */
export function notCleared(cleared: readonly (readonly [string, unknown])[], prefix = ''): object {
  const open = cleared.map(([field, value]) => ({ [prefix + field]: value === undefined ? { $exists: true } : { $ne: value } }));
  return open.length > 0 ? { $or: open } : {};
}

/** The stage that clears. */
export function clearing(cleared: readonly (readonly [string, unknown])[], prefix = ''): Record<string, unknown> {
  const stands = ([field, value]: readonly [string, unknown]) => [
    prefix + field,
    value === undefined ? '$$REMOVE' : { $literal: value },
  ];
  return Object.fromEntries(cleared.map(stands) as [string, unknown][]);
}

/** The stage that takes a person's name out of a path: a list loses it. */
export function replacing(path: string, names: readonly string[]): Record<string, unknown> {
  const here = `$${path}`;
  const others = { $filter: { input: here, cond: { $not: [{ $in: ['$$this', { $literal: names }] }] } } };
  return { [path]: { $cond: [{ $isArray: here }, others, NOBODY] } };
}

const NAMING = /(?:ids?|by|to|emails?)$/i;
const OF_EVERY_RECORD: readonly string[] = ['_id', 'deletionId', 'hiddenBy'];

/** The paths of a schema that may name people: those of ids, of `…By` and `…To`, and of emails. */
function namingPaths(schema: Schema, prefix = ''): string[] {
  return Object.entries(schema.paths).flatMap(([path, type]) => {
    const { schema: inner } = type as { schema?: Schema };
    if (inner) return namingPaths(inner, `${prefix}${path}.`);
    const isOne = NAMING.test(path) && !OF_EVERY_RECORD.includes(path) && ['String', 'Array'].includes(type.instance);
    return isOne ? [prefix + path] : [];
  });
}

/**
 * Paths of models that look as if they named people, of which nobody has said what becomes of them.
 * @param others the names of fields with ids of other things
 */
export function undeclared(models: Iterable<Held>, others: readonly string[]): string[] {
  return [...models].flatMap(({ definition: { collectionName, people }, model }) =>
    namingPaths(model.schema)
      .filter((path) => !(path in people) && !others.includes(path.split('.').at(-1) as string))
      .map((path) => `${collectionName}.${path}`),
  );
}
