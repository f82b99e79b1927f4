import { readDate } from './dates.js';
import { problemAt, shorten } from './errors.js';
import type { Field, Fields } from './fields.js';
import type { Comparison, Condition, Literal, PathReference, Subject, TextFunction } from './tree.js';

/** A value to compare with: always a scalar. */
export type Scalar = string | number | boolean | Date;

/** A condition with resolved fields and values of the right types. */
export type BoundCondition =
  | { kind: 'and' | 'or'; terms: BoundCondition[] }
  | { kind: 'not'; term: BoundCondition }
  | { kind: 'compare'; field: Field; operator: Comparison; value: Scalar | null }
  | { kind: 'in'; field: Field; values: (Scalar | null)[] }
  | { kind: 'text'; field: Field; called: TextFunction; text: string; isNegated: boolean };

/**
 * Checks a condition against the visible fields.
 * @throws ListQueryError for an unknown property, one that may not be filtered, or a value of another type
 */
export function bindCondition(condition: Condition, fields: Pick<Fields, 'get'>, parameter: string): BoundCondition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { kind: condition.kind, terms: condition.terms.map((term) => bindCondition(term, fields, parameter)) };
    case 'not':
      return opposite(bindCondition(condition.term, fields, parameter));
    case 'in': {
      const field = bindSubject(condition, fields, parameter);
      return { kind: 'in', field, values: condition.values.map((value) => bindValue(value, field, parameter)) };
    }
    case 'text': {
      const { called, text } = condition;
      return { kind: 'text', field: bindText(condition, called, fields, parameter), called, text, isNegated: false };
    }
    default: {
      const { operator } = condition;
      const field = bindSubject(condition, fields, parameter);
      const value = bindValue(condition.value, field, parameter);
      if (value === null && operator !== 'eq' && operator !== 'ne')
        throw problemAt(parameter, condition.value.at ?? 0, `cannot compare null by '${operator}'`);
      return { kind: 'compare', field, operator, value };
    }
  }
}

/**
 * Negates a condition. The negation moves inwards to the comparisons and functions: a function of null is null, which is
 * no match, and neither is its opposite; and the store takes a limited depth, to which no `not` must add.
 */
function opposite(condition: BoundCondition): BoundCondition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { kind: condition.kind === 'and' ? 'or' : 'and', terms: condition.terms.map(opposite) };
    case 'not':
      return condition.term;
    case 'text':
      return { ...condition, isNegated: !condition.isNegated };
    default:
      return { kind: 'not', term: condition };
  }
}

function bindSubject(subject: Subject, fields: Pick<Fields, 'get'>, parameter: string): Field {
  return subject.lower ? bindText(subject, 'tolower', fields, parameter) : bindField(subject, fields, 'filter', parameter);
}

/** The field of a function, which takes text alone. */
function bindText(subject: Subject, called: string, fields: Pick<Fields, 'get'>, parameter: string): Field {
  const field = bindField(subject, fields, 'filter', parameter);
  if (field.type !== 'string')
    throw problemAt(parameter, subject.at ?? 0, `calls '${called}' with '${shorten(field.name)}', a ${field.type},`);
  return subject.lower ? { ...field, lower: true } : field;
}

/** What a query may do with a field, with the phrase for a refusal. */
const USES = { filter: 'filtered', sort: 'sorted by', group: 'grouped by', aggregate: 'aggregated' } as const;

/** @throws ListQueryError for an unknown name, or a field that does not allow this use */
export function bindField(
  { path, at = 0 }: PathReference,
  fields: Pick<Fields, 'get'>,
  use: keyof typeof USES,
  parameter: string,
): Field {
  const field = fields.get(path);
  if (!field) throw problemAt(parameter, at, `has the unknown property '${shorten(path)}'`);
  if (!field[use]) throw problemAt(parameter, at, `has the property '${shorten(path)}', which cannot be ${USES[use]},`);
  return field;
}

function bindValue(literal: Literal, { name, type, isOpen }: Field, parameter: string): Scalar | null {
  if (literal.kind === 'null') return null;
  if (type === 'date' && (literal.kind === 'date' || literal.kind === 'string')) {
    const date = readDate(literal.value);
    if (!date) throw problemAt(parameter, literal.at ?? 0, 'has a malformed date');
    return date;
  }
  if (isOpen && literal.kind !== 'date') return literal.value;
  if (literal.kind !== type)
    throw problemAt(parameter, literal.at ?? 0, `compares '${shorten(name)}', a ${type}, with a ${literal.kind}`);
  return literal.value;
}
