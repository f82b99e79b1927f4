import type { KindOf, LiteralValue, Use } from './builder-fields.js';
import type { Comparison, Condition, Literal, Subject, TextFunction } from './tree.js';

/** A condition; its type holds the comparisons that it makes. */
export interface Where<Uses extends Use = Use> {
  readonly tree: Condition;
  readonly uses?: Uses;
}

type UseOf<Name extends string, Value> = readonly [Name, KindOf<Value>];

/** The comparisons of one field. */
export type FieldConditions<Name extends string> = {
  readonly [Operator in Comparison]: <const Value extends LiteralValue>(value: Value) => Where<UseOf<Name, Value>>;
} & {
  /** Equals one of the values. */
  in<const Value extends LiteralValue>(...values: [Value, ...Value[]]): Where<UseOf<Name, Value>>;
  /** The text in lower case: `field('name').toLower().contains('rye')` ignores case. */
  toLower(): TextConditions<Name>;
} & Pick<TextConditions<Name>, 'contains' | 'startsWith' | 'endsWith'>;

/** The conditions of a text. */
export type TextConditions<Name extends string> = {
  readonly [Operator in Comparison]: (value: string | null) => Where<readonly [Name, 'text']>;
} & {
  readonly [Called in 'contains' | 'startsWith' | 'endsWith']: (text: string) => Where<readonly [Name, 'text']>;
} & { in(...values: [string | null, ...(string | null)[]]): Where<readonly [Name, 'text']> };

/**
 * A field in a condition: `field('price').gt(20)`. The query that receives the condition checks that the field exists
 * and takes the value.
 */
export function field<const Name extends string>(name: Name): FieldConditions<Name> {
  return { ...conditionsOf({ path: name }), toLower: () => conditionsOf({ path: name, lower: true }) };
}

function conditionsOf(subject: Subject) {
  const compare = (operator: Comparison) => (value: LiteralValue) => ({
    tree: { kind: 'compare', ...subject, operator, value: literal(value) } satisfies Condition,
  });
  const call = (called: TextFunction) => (text: string) => ({
    tree: { kind: 'text', called, text, ...subject } satisfies Condition,
  });
  return {
    eq: compare('eq'),
    ne: compare('ne'),
    gt: compare('gt'),
    ge: compare('ge'),
    lt: compare('lt'),
    le: compare('le'),
    in: (...values: LiteralValue[]) => ({ tree: { kind: 'in', ...subject, values: values.map(literal) } satisfies Condition }),
    contains: call('contains'),
    startsWith: call('startswith'),
    endsWith: call('endswith'),
  };
}

/** @throws TypeError for a number or date that cannot be written as text */
function literal(value: LiteralValue): Literal {
  if (value === null) return { kind: 'null' };
  if (value instanceof Date) return { kind: 'date', value: value.toISOString() };
  if (typeof value === 'string') return { kind: 'string', value };
  if (typeof value === 'boolean') return { kind: 'boolean', value };
  if (!Number.isFinite(value)) throw new TypeError(`A condition cannot compare with ${value}`);
  return { kind: 'number', value };
}

type UsesIn<Conditions extends readonly Where[]> = Conditions[number] extends infer One
  ? One extends Where<infer Uses>
    ? Uses
    : never
  : never;

/** All of the conditions. */
export function and<const Conditions extends readonly [Where, ...Where[]]>(...conditions: Conditions): Where<UsesIn<Conditions>> {
  return { tree: join('and', conditions) };
}

/** Any of the conditions. */
export function or<const Conditions extends readonly [Where, ...Where[]]>(...conditions: Conditions): Where<UsesIn<Conditions>> {
  return { tree: join('or', conditions) };
}

export function not<Uses extends Use>(condition: Where<Uses>): Where<Uses> {
  return { tree: { kind: 'not', term: condition.tree } };
}

function join(kind: 'and' | 'or', conditions: readonly [Where, ...Where[]]): Condition {
  const [first, ...others] = conditions;
  return others.length === 0 ? first.tree : { kind, terms: conditions.map(({ tree }) => tree) };
}
