import type { Where } from './builder-conditions.js';
import type { BuilderFields, Intersection, Merged, NamesOf, Nested, Shown, Use, UsesOf } from './builder-fields.js';
import type { ScalarType } from './fields.js';
import type { AggregateFunction, AggregateItem, OrderKey, Step } from './tree.js';

/** A step as a type: what it requires, and what it leaves visible. */
type Does =
  | { kind: 'filter'; uses: Use }
  | { kind: 'orderby'; name: string }
  | { kind: 'top' }
  | { kind: 'aggregate'; items: Aggregates }
  | { kind: 'groupby'; keys: string; inside: readonly AnyStep[] };

/** A transformation; its type says what it does. */
export interface BuiltStep<What extends Does> {
  readonly tree: Step;
  readonly does?: What;
}
export type AnyStep = BuiltStep<Does>;

/** A value computed by `aggregate`: a function and its field. */
export interface Aggregate<
  Called extends AggregateFunction | 'count' = AggregateFunction | 'count',
  Name extends string = string,
> {
  readonly called: Called;
  readonly name: Name;
}
type Aggregates = Readonly<Record<string, Aggregate>>;

/** Counts the rows. */
export function count(): Aggregate<'count', never> {
  return { called: 'count', name: '' as never };
}
const valueOf =
  <Called extends AggregateFunction>(called: Called) =>
  <const Name extends string>(name: Name): Aggregate<Called, Name> => ({ called, name });
export const sum = valueOf('sum');
export const average = valueOf('average');
export const min = valueOf('min');
export const max = valueOf('max');
export const countDistinct = valueOf('countdistinct');

/** One row of computed values: `aggregate({ n: count(), total: sum('price') })`. */
export function aggregate<const Items extends Aggregates>(items: Items): BuiltStep<{ kind: 'aggregate'; items: Items }> {
  const trees = Object.entries(items).map(([alias, { called, name }]): AggregateItem =>
    called === 'count' ? { kind: 'count', alias } : { kind: 'value', path: name, with: called, alias },
  );
  return { tree: { kind: 'aggregate', items: trees } };
}

/** One row per group. Inside, steps for each group: `filter`, `aggregate`, `orderBy`, `top`. */
export function groupBy<const Key extends string, const Inside extends readonly AnyStep[]>(
  keys: readonly [Key, ...Key[]],
  ...inside: Inside
): BuiltStep<{ kind: 'groupby'; keys: Key; inside: Inside }> {
  return { tree: { kind: 'groupby', keys: keys.map((path) => ({ path })), steps: inside.map(({ tree }) => tree) } };
}

/** Keeps the rows that meet a condition. */
export function filter<Uses extends Use>(condition: Where<Uses>): BuiltStep<{ kind: 'filter'; uses: Uses }> {
  return { tree: { kind: 'filter', condition: condition.tree } };
}

/** Sorts the rows; further keys as pairs: `orderBy('price', 'desc', ['name', 'asc'])`. */
export function orderBy<const Name extends string, const Other extends string = never>(
  name: Name,
  direction: 'asc' | 'desc' = 'asc',
  ...others: (readonly [Other, 'asc' | 'desc'])[]
): BuiltStep<{ kind: 'orderby'; name: Name | Other }> {
  const keys: OrderKey[] = [{ path: name, direction }, ...others.map(([path, turn]) => ({ path, direction: turn }))];
  return { tree: { kind: 'orderby', keys } };
}

/** Keeps the first rows. */
export function top(rows: number): BuiltStep<{ kind: 'top' }> {
  return { tree: { kind: 'top', count: rows } };
}

/** The visible fields at a place of a chain, and its row type. */
export interface Place {
  fields: BuilderFields;
  row: unknown;
}

/** The place after a chain of steps. */
export type Behind<At extends Place, Steps> = Steps extends readonly [BuiltStep<infer What>, ...infer Rest]
  ? Behind<BehindStep<At, What>, Rest>
  : At;

type BehindStep<At extends Place, What> = What extends { kind: 'aggregate'; items: infer Items }
  ? { fields: ComputedFields<At, Items>; row: Merged<ComputedRow<At, Items>> }
  : What extends { kind: 'groupby'; keys: infer Key extends string; inside: infer Inside }
    ? {
        fields: { [Name in Key]: At['fields'][Name] } & ComputedFields<At, ItemsIn<Inside>>;
        row: Merged<KeyRow<At, Key> & ComputedRow<At, ItemsIn<Inside>> & TopRow<At, Inside>>;
      }
    : At;

type KeyRow<At extends Place, Key extends string> = Intersection<
  Key extends unknown ? Nested<Key, Shown<At['fields'][Key]> | null> : never
>;

/** The aggregates of a chain inside a group. */
type ItemsIn<Inside> = Inside extends readonly [BuiltStep<infer What>, ...infer Rest]
  ? What extends { kind: 'aggregate'; items: infer Items }
    ? Items
    : ItemsIn<Rest>
  : // oxlint-disable-next-line typescript/ban-types -- no aggregate adds nothing to a row
    {};

/** A group's `top`, where its chain keeps one. */
type TopRow<At extends Place, Inside> = Inside extends readonly [...unknown[], BuiltStep<infer Last>]
  ? Last extends { kind: 'top' }
    ? { top: At['row'][] }
    : unknown
  : unknown;

type ComputedFields<At extends Place, Items> = { [Alias in keyof Items & string]: ComputedType<At, Items[Alias]> };
type ComputedType<At extends Place, Item> =
  Item extends Aggregate<infer Called, infer Name> ? (Called extends 'min' | 'max' ? At['fields'][Name] : 'number') : never;
type ComputedRow<At extends Place, Items> = {
  [Alias in keyof Items & string]: Items[Alias] extends Aggregate<'count' | 'countdistinct'>
    ? number
    : Shown<ComputedType<At, Items[Alias]>> | null;
};

/** Reports, as a type error, what is wrong with a step. */
export interface Wrong<Message extends string> {
  readonly wrong: Message;
}

/** The steps, with `Wrong` in place of each that does not fit its position. */
export type Checked<At extends Place, Steps> = Steps extends readonly [BuiltStep<infer What>, ...infer Rest]
  ? [CheckedStep<At, What>, ...Checked<BehindStep<At, What>, Rest>]
  : [];

type CheckedStep<At extends Place, What> = What extends { kind: 'filter'; uses: infer Uses }
  ? Fits<Uses, UsesOf<At['fields']>, 'a condition on what is not there, or of another type'>
  : What extends { kind: 'orderby'; name: infer Name }
    ? Fits<Name, NamesOf<At['fields'], ScalarType>, 'an order by what is not there'>
    : What extends { kind: 'aggregate'; items: infer Items }
      ? FittingItems<At, Items>
      : What extends { kind: 'groupby'; keys: infer Key; inside: infer Inside }
        ? [Key] extends [NamesOf<At['fields'], ScalarType>]
          ? FittingInside<At, Inside, Key>
          : Wrong<'a group by what is not there'>
        : unknown;

type Fits<Asked, Allowed, Message extends string> = [Asked] extends [Allowed] ? unknown : Wrong<Message>;

/** The fields that each function takes. */
interface Takes {
  sum: 'number';
  average: 'number';
  min: 'number' | 'date';
  max: 'number' | 'date';
  countdistinct: ScalarType;
}
type FittingItems<At extends Place, Items> = {
  [Alias in keyof Items]: Items[Alias] extends Aggregate<infer Called extends AggregateFunction, infer Name>
    ? Name extends NamesOf<At['fields'], Takes[Called]>
      ? never
      : Alias
    : never;
}[keyof Items] extends never
  ? unknown
  : Wrong<'an aggregate of what is not there, or of a type that its function does not take'>;

/** Inside a group, steps see its records; after an `aggregate`, a filter sees the group's row. */
type FittingInside<At extends Place, Inside, Key> = Inside extends readonly [BuiltStep<infer What>, ...infer Rest]
  ? What extends { kind: 'groupby' }
    ? Wrong<'a group inside a group: group by all of the keys'>
    : unknown extends CheckedStep<At, What>
      ? What extends { kind: 'aggregate'; items: infer Items }
        ? FittingBehind<At, Rest, Key, Items>
        : FittingInside<At, Rest, Key>
      : CheckedStep<At, What>
  : unknown;
type FittingBehind<At extends Place, Inside, Key, Items> = Inside extends readonly [BuiltStep<infer What>, ...infer Rest]
  ? What extends { kind: 'filter'; uses: infer Uses }
    ? [Uses] extends [UsesOf<Pick<At['fields'], Key & string> & ComputedFields<At, Items>>]
      ? FittingBehind<At, Rest, Key, Items>
      : Wrong<'a condition on what a group does not have'>
    : unknown extends CheckedStep<At, What>
      ? FittingBehind<At, Rest, Key, Items>
      : CheckedStep<At, What>
  : unknown;
