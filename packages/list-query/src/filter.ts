import type { BoundCondition, Scalar } from './bind.js';
import { compileExpression } from './expression.js';
import type { Field } from './fields.js';
import { narrowing, patternOf } from './text.js';
import type { Comparison } from './tree.js';

/** A store filter, as plain data. */
export type StoreFilter = Record<string, unknown>;

const OPERATORS = { eq: '$eq', ne: '$ne', gt: '$gt', ge: '$gte', lt: '$lt', le: '$lte' } as const satisfies Record<
  Comparison,
  string
>;

/**
 * The store filter for a condition: only fixed operators, scalars and declared paths. Null matches missing values; on a
 * list, a comparison matches any element, and `ne` no element.
 */
export function compileFilter(condition: BoundCondition): StoreFilter {
  switch (condition.kind) {
    case 'and':
      return { $and: condition.terms.map(compileFilter) };
    case 'or':
      return { $or: condition.terms.map(compileFilter) };
    case 'not':
      return { $nor: [compileFilter(condition.term)] };
    default:
      return allOf(narrowing(condition), condition.field.lower ? { $expr: compileExpression(condition) } : compileOne(condition));
  }
}

function compileOne(condition: Exclude<BoundCondition, { kind: 'and' | 'or' | 'not' }>): StoreFilter {
  switch (condition.kind) {
    case 'in':
      return isAnyOf(condition.field, condition.values);
    case 'text':
      return matches(condition);
    default: {
      const { field, operator, value } = condition;
      return field.absent === undefined ? compare(field.path, operator, value) : compareOrAbsent(field, operator, value);
    }
  }
}

function matches({ field, called, text, isNegated }: BoundCondition & { kind: 'text' }): StoreFilter {
  const { path, isList, absent } = field;
  const pattern = { $regex: patternOf(called, text) };
  const matched = { [path]: isNegated ? { $not: pattern, $type: isList ? 'array' : 'string' } : pattern };
  // a missing text that counts as empty contains nothing but the empty one
  const isAbsentToo = absent !== undefined && (text === '') !== isNegated;
  return isAbsentToo ? { $or: [matched, { [path]: { $eq: null } }] } : matched;
}

function isAnyOf({ path, absent }: Field, values: readonly (Scalar | null)[]): StoreFilter {
  if (absent === undefined) return { [path]: { $in: values } };
  // a missing value counts as `absent`, so nothing is null
  const given = values.filter((value) => value !== null);
  return { [path]: { $in: given.includes(absent) ? [...given, null] : given } };
}

function compareOrAbsent(field: Field, operator: Comparison, value: Scalar | null): StoreFilter {
  const { path, absent = null } = field;
  if (operator === 'eq') return isAnyOf(field, [value]);
  if (operator === 'ne') return { $nor: [isAnyOf(field, [value])] };
  const compared = compare(path, operator, value);
  const isAbsentToo = operator === 'lt' ? value !== absent : operator === 'le' || (operator === 'ge' && value === absent);
  return isAbsentToo ? { $or: [compared, { [path]: { $eq: null } }] } : compared;
}

function compare(path: string, operator: Comparison, value: Scalar | null): StoreFilter {
  return { [path]: { [OPERATORS[operator]]: value } };
}

/** All filters combined, side by side where that is equivalent: the store plans that faster. */
export function allOf(...filters: (StoreFilter | undefined)[]): StoreFilter {
  const given = filters.filter((filter) => filter !== undefined && Object.keys(filter).length > 0) as StoreFilter[];
  const keys = given.flatMap((filter) => Object.keys(filter));
  return new Set(keys).size === keys.length
    ? Object.fromEntries(given.flatMap((filter) => Object.entries(filter)))
    : { $and: given };
}
