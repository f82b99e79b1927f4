import type { BoundCondition, Scalar } from './bind.js';
import { valueOf, type Field } from './fields.js';
import type { Comparison } from './tree.js';

/** A store aggregation expression, as plain data. */
export type Expression = unknown;

/**
 * A condition as an expression that is true for exactly the documents that `compileFilter` finds, for aggregates over
 * part of a group, where the store allows no filter. Expressions compare across types; null and missing sort below
 * everything else.
 */
export function compileExpression(condition: BoundCondition): Expression {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { [`$${condition.kind}`]: condition.terms.map(compileExpression) };
    case 'not':
      return { $not: [compileExpression(condition.term)] };
    case 'in':
      return { $or: condition.values.map((value) => compare(condition.field, 'eq', value)) };
    default:
      return compare(condition.field, condition.operator, condition.value);
  }
}

function compare(field: Field, operator: Comparison, value: Scalar | null): Expression {
  if (operator === 'ne') return { $not: [compare(field, 'eq', value)] };
  const { path, isList } = field;
  const whole = compareValue(valueOf(field), operator, value);
  if (!isList) return whole;
  const elements = { $cond: [{ $isArray: [`$${path}`] }, `$${path}`, []] };
  const anyElement = { $anyElementTrue: [{ $map: { input: elements, in: compareValue('$$this', operator, value) } }] };
  return value === null ? { $or: [whole, anyElement] } : anyElement;
}

function compareValue(tested: Expression, operator: Exclude<Comparison, 'ne'>, value: Scalar | null): Expression {
  if (value === null) return { $lte: [tested, null] };
  // Text with a leading dollar sign would be read as a path.
  const literal = { $literal: value };
  const holds = { [operator === 'ge' ? '$gte' : operator === 'le' ? '$lte' : `$${operator}`]: [tested, literal] };
  return operator === 'lt' || operator === 'le' ? { $and: [{ $gt: [tested, null] }, holds] } : holds;
}
