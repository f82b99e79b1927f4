import { bindField } from './bind.js';
import { problemAt, shorten } from './errors.js';
import type { Expression } from './expression.js';
import { clash, computedField, fittingValueOf, type Field, type Fields, type ScalarType } from './fields.js';
import type { AggregateFunction, AggregateItem } from './tree.js';

/** Compiled `aggregate`: the store's accumulators, and how their results become the row. */
export interface CompiledAggregates {
  accumulators: Record<string, Expression>;
  outputs: Record<string, Expression>;
  /** The computed fields, visible to later transformations. */
  fields: Field[];
  /** The values when there are no documents. */
  ofNothing: Record<string, 0 | null>;
}

/** The types that each function takes, and the type it returns: `same` as its input. */
const FUNCTIONS: Record<AggregateFunction, { takes: readonly ScalarType[]; gives: ScalarType | 'same' }> = {
  sum: { takes: ['number'], gives: 'number' },
  average: { takes: ['number'], gives: 'number' },
  min: { takes: ['number', 'date'], gives: 'same' },
  max: { takes: ['number', 'date'], gives: 'same' },
  countdistinct: { takes: ['string', 'number', 'boolean', 'date'], gives: 'number' },
};

/**
 * Compiles computed values; nulls are ignored (decisions L4).
 * @param among names already in the row
 * @param only the documents that count; default all
 * @throws ListQueryError
 */
export function compileAggregates(
  items: readonly AggregateItem[],
  { fields, among, only, parameter }: { fields: Fields; among: readonly string[]; only?: Expression; parameter: string },
): CompiledAggregates {
  const compiled: CompiledAggregates = { accumulators: {}, outputs: {}, fields: [], ofNothing: {} };
  const names = new Map<string, string>();
  const accumulate = (accumulator: object): string => {
    const key = JSON.stringify(accumulator);
    const name = names.get(key) ?? `a${names.size}`;
    names.set(key, name);
    compiled.accumulators[name] = accumulator;
    return `$${name}`;
  };
  for (const item of items) {
    const { alias, at = 0 } = item;
    if ([...among, ...compiled.fields.map(({ name }) => name)].some((name) => clash(name, alias)))
      throw problemAt(parameter, at, `has the name '${shorten(alias)}' twice`);
    const { type, places, output } =
      item.kind === 'count' ? count(accumulate, only) : value(item, { fields, only, parameter, accumulate });
    compiled.outputs[alias] = output;
    compiled.fields.push(computedField(alias, type, places));
    compiled.ofNothing[alias] = item.kind === 'count' || item.with === 'countdistinct' ? 0 : null;
  }
  return compiled;
}

type Accumulate = (accumulator: object) => string;

interface Computed {
  type: ScalarType;
  /** The most decimals of the value, if that is known. */
  places?: number | undefined;
  output: Expression;
}

function count(accumulate: Accumulate, only: Expression): Computed {
  return { type: 'number', output: accumulate({ $sum: only === undefined ? 1 : { $cond: [only, 1, 0] } }) };
}

function value(
  item: AggregateItem & { kind: 'value' },
  { fields, only, parameter, accumulate }: { fields: Fields; only: Expression; parameter: string; accumulate: Accumulate },
): Computed {
  const field = bindField(item, fields, 'aggregate', parameter);
  const { takes, gives } = FUNCTIONS[item.with];
  if (!takes.includes(field.type))
    throw problemAt(parameter, item.at ?? 0, `cannot compute ${item.with} of '${shorten(field.name)}', a ${field.type},`);
  const fitting = fittingValueOf(field);
  const given = only === undefined ? fitting : { $cond: [only, fitting, null] };
  const type = gives === 'same' ? field.type : gives;
  const places = item.with === 'average' ? undefined : field.places;
  return { type, places, output: output(item.with, given, accumulate, places) };
}

function output(called: AggregateFunction, given: Expression, accumulate: Accumulate, places?: number): Expression {
  switch (called) {
    case 'sum': {
      const sum = accumulate({ $sum: given });
      // The store's sum of nothing is 0, not null. Checking the maximum for null is cheaper than counting the values.
      const isNothing = { $eq: [accumulate({ $max: given }), null] };
      return { $cond: [isNothing, null, places === undefined ? sum : { $round: [sum, places] }] };
    }
    case 'average':
      return accumulate({ $avg: given });
    case 'min':
      return accumulate({ $min: given });
    case 'max':
      return accumulate({ $max: given });
    default: {
      // countdistinct: the store's set may contain null, which does not count
      const set = accumulate({ $addToSet: given });
      return { $subtract: [{ $size: set }, { $cond: [{ $in: [null, set] }, 1, 0] }] };
    }
  }
}
