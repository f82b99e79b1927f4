import type { ListField } from '../reference/list-fields.js';
import type { QueriedField } from './definitions.js';

/** A condition of a list query: `status eq 'shipped'`. */
export interface Condition {
  field: string;
  operator: Operator;
  /** As a person types it; nothing where none is asked for. */
  value: string;
}

/** Those of list queries, and whether a field has a value: `eq null` and `ne null`. */
export type Operator = 'eq' | 'ne' | 'contains' | 'gt' | 'ge' | 'lt' | 'le' | 'none' | 'some';

const COMPARING: Readonly<Record<string, readonly Operator[]>> = {
  string: ['eq', 'ne', 'contains'],
  // a day is no time
  date: ['ge', 'lt'],
  number: ['eq', 'ne', 'gt', 'ge', 'lt', 'le'],
};

/** The operators that a field takes: one of few values is one of these, or has none. */
export function operatorsFor({ type, values }: Pick<QueriedField, 'type' | 'values'>): readonly Operator[] {
  const comparing = values.length === 0 ? COMPARING[type] : undefined;
  return [...(comparing ?? (['eq', 'ne'] as const)), 'none', 'some'];
}

/** Whether a condition compares with a value. */
export const takesValue = (operator: Operator): boolean => operator !== 'none' && operator !== 'some';

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

const literal = (value: string, type: string) =>
  type === 'number' || type === 'boolean' || type === 'date' ? value : quoted(value);

/** Conditions as a `$filter`. */
export function filterOf(conditions: readonly Condition[], fields: readonly ListField[]): string {
  return conditions
    .map(({ field, operator, value }) => {
      if (!takesValue(operator)) return `${field} ${operator === 'none' ? 'eq' : 'ne'} null`;
      const type = fields.find(({ name }) => name === field)?.type ?? 'string';
      if (operator === 'contains') return `contains(tolower(${field}), ${quoted(value.toLowerCase())})`;
      return `${field} ${operator} ${literal(value, type)}`;
    })
    .join(' and ');
}

const CONTAINS = /^contains\(tolower\(([\w.]+)\), ('(?:[^']|'')*')\)/;
const COMPARISON = /^([\w.]+) (eq|ne|gt|ge|lt|le) ('(?:[^']|'')*'|[^\s')]+)/;

/** A `$filter` as conditions joined by `and`; undefined for one that says more than that. */
export function conditionsOf(filter: string): Condition[] | undefined {
  const conditions: Condition[] = [];
  for (let rest = filter.trim(); rest !== '';) {
    const found = CONTAINS.exec(rest) ?? COMPARISON.exec(rest);
    if (!found) return undefined;
    const [all, field = ''] = found;
    const [operator, value = ''] = all.startsWith('contains(') ? ['contains', found[2]] : [found[2], found[3]];
    if (value !== 'null') conditions.push({ field, operator: operator as Operator, value: unquoted(value) });
    else if (operator === 'eq' || operator === 'ne')
      conditions.push({ field, operator: operator === 'eq' ? 'none' : 'some', value: '' });
    else return undefined;
    rest = rest.slice(all.length);
    if (rest === '') break;
    if (!rest.startsWith(' and ')) return undefined;
    rest = rest.slice(' and '.length);
  }
  return conditions;
}

const unquoted = (text: string) => (text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text);
