import { and, field, type Where } from './builder-conditions.js';
import type { BuilderFields, KindOf, LiteralValue, NamesOf, Use, UsesOf } from './builder-fields.js';
import type { AnyStep, Behind, Checked } from './builder-steps.js';
import type { ScalarType } from './fields.js';
import { printApply, printExpand, printFilter, printOrder, printSelect } from './print.js';
import type { Comparison, Condition, OrderKey, PathReference, Step } from './tree.js';

/** A list as types: its fields, the row of an answer, its relations. */
export interface ListShape {
  fields: BuilderFields;
  row: unknown;
  /** The related records by relation name. */
  relations?: Record<string, unknown>;
}

declare const rowType: unique symbol;

/** The parameters of a list query, ready to send; the type holds the row of the answer. */
export type QueryParameters<Row = unknown> = {
  readonly [Name in '$filter' | '$search' | '$orderby' | '$expand' | '$select' | '$apply' | '$nextToken']?: string;
} & { readonly [Name in '$skip' | '$top']?: number } & { readonly [rowType]?: Row };

/** The row of the answer to these parameters: `RowOf<typeof parameters>`. */
export type RowOf<Parameters> = Parameters extends { readonly [rowType]?: infer Row } ? Exclude<Row, undefined> : never;

type Expandable<Shape extends ListShape> = keyof NonNullable<Shape['relations']> & string;

/** The named fields of a row, without those that a host may have added. */
type FieldNames<Row> = keyof { [Name in keyof Row as string extends Name ? never : number extends Name ? never : Name]: unknown };

/** A row with only the selected fields, its id and the related records. */
type Selected<Shape extends ListShape, Name> = {
  [Key in keyof Shape['row'] as Key extends Name | 'id' | Expandable<Shape> ? Key : never]: Shape['row'][Key];
};

/** A query under construction. It is immutable: each call returns a new one. */
export interface ListQueryBuilder<Shape extends ListShape> {
  /** Adds a condition to the earlier ones. */
  where<const Uses extends Use>(condition: Where<Uses> & ([Uses] extends [UsesOf<Shape['fields']>] ? unknown : never)): ListQueryBuilder<Shape>; // prettier-ignore
  where<const Name extends keyof Shape['fields'] & string, const Value extends LiteralValue>(
    name: Name,
    operator: Comparison,
    value: readonly [Name, KindOf<Value>] extends UsesOf<Shape['fields']> ? Value : never,
  ): ListQueryBuilder<Shape>;
  /** Finds records by words, best first unless there is an order. */
  search(text: string): ListQueryBuilder<Shape>;
  /** Adds a key to the order. */
  orderBy(name: NamesOf<Shape['fields'], ScalarType>, direction?: 'asc' | 'desc'): ListQueryBuilder<Shape>;
  skip(rows: number): ListQueryBuilder<Shape>;
  top(rows: number): ListQueryBuilder<Shape>;
  /** Continues after the page that returned this token. */
  after(nextToken: string): ListQueryBuilder<Shape>;
  /** Embeds related records in the rows. */
  expand<Name extends Expandable<Shape>>(
    ...names: [Name, ...Name[]]
  ): ListQueryBuilder<{
    fields: Shape['fields'];
    row: Shape['row'] & {
      [Key in Name as Key extends `${string}.${string}` ? never : Key]: NonNullable<Shape['relations']>[Key];
    };
    relations: Shape['relations'];
  }>;
  /** Reads only these fields of the rows, and `id`. */
  select<Name extends Exclude<FieldNames<Shape['row']>, Expandable<Shape>> & string>(
    ...names: [Name, ...Name[]]
  ): ListQueryBuilder<{
    fields: Shape['fields'];
    row: Selected<Shape, Name>;
    relations: Shape['relations'];
  }>;
  /** Transforms the rows; later calls see the transformed rows. */
  apply<const Steps extends readonly AnyStep[]>(
    ...steps: Steps & Checked<Shape, Steps>
  ): ListQueryBuilder<Behind<{ fields: Shape['fields']; row: Shape['row'] }, Steps>>;
  readonly parameters: QueryParameters<Shape['row']>;
}

interface Parts {
  conditions: readonly Condition[];
  order: readonly OrderKey[];
  expansions: readonly PathReference[];
  selected: readonly string[];
  steps: readonly Step[];
  place: Readonly<{ $search?: string; $skip?: number; $top?: number; $nextToken?: string }>;
}

/** Starts a query: `listQuery<{ fields: FieldsOf<typeof products>; row: Product }>()`. */
export function listQuery<Shape extends ListShape>(): ListQueryBuilder<Shape> {
  return build({ conditions: [], order: [], expansions: [], selected: [], steps: [], place: {} });
}

function build<Shape extends ListShape>(parts: Parts): ListQueryBuilder<Shape> {
  const { conditions, order, expansions, selected, steps, place } = parts;
  const withCondition = ({ tree }: Where) => {
    // `$filter` runs before all transformations; after them a condition becomes a `filter` step.
    if (steps.length === 0) return build({ ...parts, conditions: [...conditions, tree] });
    return build({ ...parts, steps: [...steps, { kind: 'filter', condition: tree }] });
  };
  const builder = {
    where: (given: Where | string, operator: Comparison = 'eq', value: LiteralValue = null) =>
      withCondition(typeof given === 'string' ? field(given)[operator](value) : given),
    orderBy: (path: string, direction: 'asc' | 'desc' = 'asc') => build({ ...parts, order: [...order, { path, direction }] }),
    search: (text: string) => build({ ...parts, place: { ...place, $search: text } }),
    skip: (rows: number) => build({ ...parts, place: { ...place, $skip: rows } }),
    top: (rows: number) => build({ ...parts, place: { ...place, $top: rows } }),
    after: (nextToken: string) => build({ ...parts, place: { ...place, $nextToken: nextToken } }),
    expand: (...names: string[]) => build({ ...parts, expansions: [...expansions, ...names.map((path) => ({ path }))] }),
    select: (...names: string[]) => build({ ...parts, selected: [...selected, ...names] }),
    // An order given earlier applies to the input rows; `$orderby` applies to the output rows.
    apply: (...added: AnyStep[]) => {
      const ordered: Step[] = order.length > 0 ? [{ kind: 'orderby', keys: [...order] }] : [];
      return build({ ...parts, order: [], steps: [...steps, ...ordered, ...added.map(({ tree }) => tree)] });
    },
    parameters: print(parts),
  };
  return builder as unknown as ListQueryBuilder<Shape>;
}

function print({ conditions, order, expansions, selected, steps, place }: Parts): QueryParameters {
  const [first, ...others] = conditions.map((tree): Where => ({ tree }));
  return {
    ...(first && { $filter: printFilter(and(first, ...others).tree) }),
    ...(order.length > 0 && { $orderby: printOrder(order) }),
    ...(expansions.length > 0 && { $expand: printExpand(expansions) }),
    ...(selected.length > 0 && { $select: printSelect(selected) }),
    ...(steps.length > 0 && { $apply: printApply(steps) }),
    ...place,
  };
}
