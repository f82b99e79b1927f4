import type { BoundCondition, Scalar } from './bind.js';
import { valueOf, type Field } from './fields.js';
import { lowerCase, patternOf, textOrNull } from './text.js';
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
      return isAmong(condition.field, condition.values);
    case 'text':
      return matches(condition);
    default:
      return compare(condition.field, condition.operator, condition.value);
  }
}

function compare(field: Field, operator: Comparison, value: Scalar | null): Expression {
  if (operator === 'ne') return { $not: [compare(field, 'eq', value)] };
  const holds = (tested: Expression) => compareValue(field.lower ? lowerCase(tested) : tested, operator, value);
  const whole = field.isList && field.lower ? compareValue(valueOf(field), operator, value) : holds(valueOf(field));
  if (!field.isList) return whole;
  return value === null ? { $or: [whole, anyElement(field, holds)] } : anyElement(field, holds);
}

/** Names the field once, however many the values: in lower case it is a long expression. */
function isAmong(field: Field, values: readonly (Scalar | null)[]): Expression {
  const given = values.filter((value) => value !== null);
  const holds = (tested: Expression) => ({ $in: [field.lower ? lowerCase(tested) : tested, { $literal: given }] });
  const found = field.isList ? anyElement(field, holds) : holds(valueOf(field));
  return given.length === values.length ? found : { $or: [found, compare(field, 'eq', null)] };
}

function matches({ field, called, text, isNegated }: BoundCondition & { kind: 'text' }): Expression {
  const regex = { $literal: patternOf(called, text) };
  const holds = (tested: Expression) => ({ $regexMatch: { input: field.lower ? lowerCase(tested) : textOrNull(tested), regex } });
  const value = valueOf(field);
  const found = field.isList ? anyElement(field, holds) : holds(value);
  if (!isNegated) return found;
  return { $and: [field.isList ? { $isArray: [value] } : { $eq: [{ $type: value }, 'string'] }, { $not: [found] }] };
}

/** Whether the condition holds for any element of a list. */
function anyElement({ path }: Field, holds: (element: Expression) => Expression): Expression {
  const elements = { $cond: [{ $isArray: [`$${path}`] }, `$${path}`, []] };
  return { $anyElementTrue: [{ $map: { input: elements, in: holds('$$this') } }] };
}

function compareValue(tested: Expression, operator: Exclude<Comparison, 'ne'>, value: Scalar | null): Expression {
  if (value === null) return { $lte: [tested, null] };
  // Text with a leading dollar sign would be read as a path.
  const literal = { $literal: value };
  const holds = { [operator === 'ge' ? '$gte' : operator === 'le' ? '$lte' : `$${operator}`]: [tested, literal] };
  return operator === 'lt' || operator === 'le' ? { $and: [{ $gt: [tested, null] }, holds] } : holds;
}
