import type { JsonSchema } from '@tandem/testing';
import * as fc from 'fast-check';

const VALUES: Record<string, readonly string[]> = {
  string: ["'a'", "''", "'it''s'", 'null', "'\u0000'", "'018f0000-0000-7000-8000-000000000000'", "'$where'", "('a', 'b')"],
  number: ['0', '-1.5', '1e308', '99999999999999999999', 'null', '(1, 2)'],
  date: ['2024-01-31', "'2024-01-31T10:00:00.000Z'", '9999-12-31', '0001-01-01', 'null'],
  boolean: ['true', 'false', 'null'],
};
const OPERATORS = ['eq', 'ne', 'gt', 'ge', 'lt', 'le', 'in'] as const;

/** The properties that a list's parameter names in its description, with their types. */
function propertiesOf({ description = '' }: JsonSchema): { name: string; type: string }[] {
  return [...description.matchAll(/`([\w.]+)` \((\w+)\)/g)].map(([, name = '', type = '']) => ({ name, type }));
}

/** Text for a parameter of the list conventions, mostly of its grammar; undefined for any other parameter. */
export function listText(name: string, schema: JsonSchema): fc.Arbitrary<string> | undefined {
  const properties = propertiesOf(schema);
  const related = [...(schema.description ?? '').matchAll(/`(\w+)`/g)].map(([, word = '']) => word);
  if (name === '$expand') return related.length > 0 ? fc.constantFrom(...related, related.join(','), 'nothing') : undefined;
  if (properties.length === 0 || !name.startsWith('$')) return undefined;

  const property = fc.constantFrom(...properties);
  const path = property.map((one) => one.name);
  const comparison = fc.tuple(property, fc.constantFrom(...OPERATORS), fc.nat()).map(([{ name: left, type }, operator, n]) => {
    const all = VALUES[type] ?? VALUES.string ?? [];
    const fitting = all.filter((value) => value.startsWith('(') === (operator === 'in'));
    return `${left} ${operator} ${fitting.length > 0 ? fitting[n % fitting.length] : "('a')"}`;
  });
  const filter = fc
    .array(comparison, { minLength: 1, maxLength: 4 })
    .chain((parts) => fc.constantFrom(parts.join(' and '), parts.join(' or '), `not (${parts.join(' and ')})`));
  const order = fc
    .array(fc.tuple(path, fc.constantFrom('asc', 'desc')), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.map((part) => part.join(' ')).join(', '));
  if (name === '$filter') return filter;
  if (name === '$apply') {
    const aggregate = fc.oneof(
      fc.constant('aggregate($count as n)'),
      fc
        .tuple(path, fc.constantFrom('sum', 'average', 'min', 'max', 'countdistinct'))
        .map(([one, how]) => `aggregate(${one} with ${how} as n)`),
    );
    const groups = fc.array(path, { minLength: 1, maxLength: 2 }).map((paths) => paths.join(', '));
    const step = fc.oneof(
      aggregate,
      groups.map((paths) => `groupby((${paths}))`),
      fc.tuple(groups, aggregate).map(([paths, inner]) => `groupby((${paths}), ${inner})`),
      fc.tuple(groups, order).map(([paths, by]) => `groupby((${paths}), orderby(${by}) then top(2))`),
      filter.map((text) => `filter(${text})`),
      order.map((text) => `orderby(${text})`),
      fc.constantFrom('top(0)', 'top(3)', 'top(1e9)'),
    );
    return fc.array(step, { minLength: 1, maxLength: 3 }).map((steps) => steps.join(' then '));
  }
  return order;
}
