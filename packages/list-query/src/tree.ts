/**
 * The trees of parsed texts. `at` is the offset in the text; equal queries print the same, wherever their parts stood.
 */

export type Comparison = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le';

/** A value as written. An unquoted date stays text until the field's type decides its meaning. */
export type Literal = { at?: number } & (
  | { kind: 'string'; value: string }
  | { kind: 'number'; value: number }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'null' }
  | { kind: 'date'; value: string }
);

export type TextFunction = 'contains' | 'startswith' | 'endswith';

/** What a condition is about: a property, or `tolower` of it. */
export interface Subject {
  path: string;
  lower?: true;
  at?: number;
}

export type Condition =
  | { kind: 'and' | 'or'; terms: Condition[] }
  | { kind: 'not'; term: Condition }
  | ({ kind: 'compare'; operator: Comparison; value: Literal } & Subject)
  | ({ kind: 'in'; values: Literal[] } & Subject)
  | ({ kind: 'text'; called: TextFunction; text: string } & Subject);

export interface PathReference {
  path: string;
  at?: number;
}

export interface OrderKey extends PathReference {
  direction: 'asc' | 'desc';
}

export type AggregateFunction = 'sum' | 'average' | 'min' | 'max' | 'countdistinct';

/** One computed value. Without a path it is `$count`. */
export type AggregateItem = { alias: string; at?: number } & (
  { kind: 'count' } | { kind: 'value'; path: string; with: AggregateFunction }
);

/** One transformation of `$apply`. */
export type Step = { at?: number } & (
  | { kind: 'aggregate'; items: AggregateItem[] }
  | { kind: 'groupby'; keys: PathReference[]; steps: Step[] }
  | { kind: 'filter'; condition: Condition }
  | { kind: 'orderby'; keys: OrderKey[] }
  | { kind: 'top'; count: number }
);
