import { LIMITS, type Field, type ListResource } from '@tandem/list-query';

const code = (text: string) => `\`${text}\``;
const thousands = (value: number) => value.toLocaleString('en-US');

/** Example values, as a query writes them. */
const EXAMPLES = { string: "'a value'", number: '20', boolean: 'true', date: '2026-01-31' } as const;

function typeOf({ type, isList }: Field): string {
  return isList ? `list of ${type}s` : type;
}

function named(fields: readonly Field[]): string {
  return fields.map((field) => `${code(field.name)} (${typeOf(field)})`).join(', ');
}

interface Described {
  description: string;
  examples: string[];
}

function describeFilter(fields: readonly Field[]): Described {
  const useful = fields.filter(({ name }) => name !== 'id');
  const condition = ({ name, type }: Field) => `${name} ${type === 'date' || type === 'number' ? 'ge' : 'eq'} ${EXAMPLES[type]}`;
  const [first, second] = [useful.find(({ type }) => type !== 'date'), useful.find(({ type }) => type === 'date')];
  const description =
    `Conditions on ${named(fields)}, by ${code('eq ne gt ge lt le')} and ${code('in (…)')}, joined by ${code('and')}, ${code('or')}, ` +
    `${code('not (…)')} and parentheses. Text stands in single quotes, ${code("''")} for a quote; dates are ISO-8601. At most ` +
    `${thousands(LIMITS.text)} characters, ${LIMITS.comparisons} comparisons and ${LIMITS.depth} levels of parentheses.`;
  const conditions = [first, second].filter((field) => field !== undefined).map(condition);
  return { description, examples: conditions.length > 1 ? [conditions.join(' and ')] : conditions };
}

function describeOrder(fields: readonly Field[], { defaultOrder }: ListResource): Described {
  const standing = defaultOrder.map(({ field, direction }) => `${field.name} ${direction === 1 ? 'asc' : 'desc'}`).join(', ');
  const dated = fields.find(({ type }) => type === 'date') ?? fields[0];
  const description =
    `Properties to sort by, each with ${code('asc')} or ${code('desc')}, ${LIMITS.orderKeys} at most: ${named(fields)}. ` +
    `Equal rows are sorted by ${code('id')}. Default ${code(standing || 'id asc')}.`;
  return { description, examples: dated ? [`${dated.name} desc`] : [] };
}

function describeApply(fields: readonly Field[]): Described {
  const groups = fields.filter(({ group }) => group);
  const key = groups.find(({ type }) => type === 'boolean') ?? groups.find(({ name }) => name !== 'id');
  const description =
    `Transformations joined by ${code('then')}, ${LIMITS.steps} at most: ${code('filter(…)')}, ${code('orderby(…)')}, ${code('top(…)')}, ` +
    `${code('aggregate(<property> with <sum|average|min|max|countdistinct> as <alias>, $count as <alias>)')}, ` +
    `${code('groupby((<properties>), <transformations>)')}. Groups by ${named(groups)}. The answer is ${code('{ total, count, value }')}.`;
  return { description, examples: key ? [`groupby((${key.name}), aggregate($count as n)) then orderby(n desc)`] : [] };
}

function describeExpand({ relations }: ListResource): Described {
  const names = [...relations.keys()];
  const description =
    names.length === 0
      ? 'Related records to include in the rows; this list has none.'
      : `Related records to include in the rows, each under its relation name, null if deleted: ${names.map(code).join(', ')}.`;
  return { description, examples: names.slice(0, 1) };
}

/** Descriptions of the list parameters for the API page: fields, operators, limits, examples. */
export function describeList(resource: ListResource) {
  const fields = [...resource.fields.values()];
  return {
    $filter: describeFilter(fields.filter(({ filter }) => filter)),
    $orderby: describeOrder(
      fields.filter(({ sort }) => sort),
      resource,
    ),
    $expand: describeExpand(resource),
    $apply: describeApply(fields),
  };
}
