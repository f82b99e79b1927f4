import type { ListField } from '../reference/list-fields.js';

/** A condition of a list query: `status eq 'shipped'`. */
export interface Condition {
  field: string;
  operator: Operator;
  /** As a person types it. */
  value: string;
}

export type Operator = 'eq' | 'ne' | 'contains' | 'gt' | 'ge' | 'lt' | 'le';

/** The operators that a field of a type takes. */
export function operatorsFor(type: string): Operator[] {
  if (type === 'string') return ['eq', 'ne', 'contains'];
  if (type === 'date') return ['ge', 'lt'];
  return type === 'number' ? ['eq', 'ne', 'gt', 'ge', 'lt', 'le'] : ['eq', 'ne'];
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

function literal(value: string, type: string): string {
  if (value === 'null') return value;
  return type === 'number' || type === 'boolean' || type === 'date' ? value : quoted(value);
}

/** Conditions as a `$filter`. */
export function filterOf(conditions: readonly Condition[], fields: readonly ListField[]): string {
  return conditions
    .map(({ field, operator, value }) => {
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
    const [operator, value] = all.startsWith('contains(') ? ['contains', found[2]] : [found[2], found[3]];
    conditions.push({ field, operator: operator as Operator, value: unquoted(value ?? '') });
    rest = rest.slice(all.length);
    if (rest === '') break;
    if (!rest.startsWith(' and ')) return undefined;
    rest = rest.slice(' and '.length);
  }
  return conditions;
}

const unquoted = (text: string) => (text.startsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : text);
