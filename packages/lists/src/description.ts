import { LIMITS, type Field, type ListResource } from '@tandem/list-query';
import { z } from 'zod';

const code = (text: string) => `\`${text}\``;
const thousands = (value: number) => value.toLocaleString('en-US');

/** Example values, as a query writes them. */
const EXAMPLES = { string: "'a value'", number: '20', boolean: 'true', date: '2026-01-31' } as const;

function typeOf({ type, isList }: Field): string {
  return isList ? `list of ${type}s` : type;
}

/** The types of fields stand in `$filter` alone: the document describes every list. */
function typed(fields: readonly Field[]): string {
  return fields.map((field) => `${code(field.name)} (${typeOf(field)})`).join(', ');
}

function named(fields: readonly Field[]): string {
  return fields.map(({ name }) => code(name)).join(', ');
}

/** The grammar of a list parameter, which all lists share in the OpenAPI document. */
function grammar(id: string, description: string) {
  return z.string().meta({ id, maxLength: LIMITS.text, description });
}
type Grammar = ReturnType<typeof grammar>;

const FILTER = grammar(
  'ListFilter',
  `Conditions by ${code('eq ne gt ge lt le')} and ${code('in (…)')}, and on text by ${code("contains(name, 'x')")}, ` +
    `${code('startswith')} and ${code('endswith')}, each also on ${code('tolower(name)')}; joined by ${code('and')}, ` +
    `${code('or')}, ${code('not (…)')} and parentheses. Text stands in single quotes, ${code("''")} for a quote; dates are ISO-8601. At most ${thousands(LIMITS.text)} ` +
    `characters, ${LIMITS.comparisons} comparisons and ${LIMITS.depth} levels of parentheses.`,
);
const ORDER = grammar(
  'ListOrder',
  `Properties to sort by, each with ${code('asc')} or ${code('desc')}, ${LIMITS.orderKeys} at most. Equal rows are sorted by ${code('id')}.`,
);
const APPLY = grammar(
  'ListApply',
  `Transformations joined by ${code('then')}, ${LIMITS.steps} at most: ${code('filter(…)')}, ${code('orderby(…)')}, ${code('top(…)')}, ` +
    `${code('aggregate(<property> with <sum|average|min|max|countdistinct> as <alias>, $count as <alias>)')}, ` +
    `${code('groupby((<properties>), <transformations>)')}. The answer is ${code('{ total, count, value }')}.`,
);
const SEARCH = z.string().meta({
  id: 'ListSearch',
  minLength: LIMITS.search.least,
  maxLength: LIMITS.search.most,
  description:
    `Words, ${LIMITS.search.words} at most. Each must begin a word of a searched property, or stand within one from three letters, ` +
    `in scripts without spaces from two. Case, width and the accents of Latin, Greek and Cyrillic do not count. Unless ` +
    `${code('$orderby')} is given, whole words come first, then beginnings, and of each names before other properties.`,
});
const EXPAND = grammar(
  'ListExpand',
  'Names of relations, separated by commas. The rows then have the related records under these names: null where one is deleted, or ' +
    'may not be read.',
);

/** The same text for all lists, so that they share the parameter. */
export const SELECT = z.string().meta({
  maxLength: LIMITS.text,
  description:
    `Names of fields, separated by commas. The answer then has these fields and ${code('id')} alone, although its schema requires ` +
    `others. Cannot be combined with ${code('$apply')}.`,
  examples: ['id'],
});

function described(shared: Grammar, description: string, examples: string[]) {
  return shared.meta({ description, ...(examples.length > 0 && { examples }) });
}

function describeFilter(fields: readonly Field[], open: readonly Field[]): Grammar {
  const useful = fields.filter(({ name }) => name !== 'id');
  const condition = ({ name, type }: Field) => `${name} ${type === 'date' || type === 'number' ? 'ge' : 'eq'} ${EXAMPLES[type]}`;
  const [first, second] = [useful.find(({ type }) => type !== 'date'), useful.find(({ type }) => type === 'date')];
  const conditions = [first, second].filter((field) => field !== undefined).map(condition);
  return described(
    FILTER,
    `Conditions on ${[typed(fields), ...open.map(({ name }) => code(`${name}.<key>`))].join(', ')}.`,
    conditions.length > 1 ? [conditions.join(' and ')] : conditions,
  );
}

function describeOrder(fields: readonly Field[], { defaultOrder }: ListResource): Grammar {
  const standing = defaultOrder.map(({ field, direction }) => `${field.name} ${direction === 1 ? 'asc' : 'desc'}`).join(', ');
  const dated = fields.find(({ type }) => type === 'date') ?? fields[0];
  const description = `Sorts by ${named(fields)}. Default ${code(standing || 'id asc')}.`;
  return described(ORDER, description, dated ? [`${dated.name} desc`] : []);
}

function describeApply(fields: readonly Field[]): Grammar {
  const groups = fields.filter(({ group }) => group);
  const key = groups.find(({ type }) => type === 'boolean') ?? groups.find(({ name }) => name !== 'id');
  const examples = key ? [`groupby((${key.name}), aggregate($count as n)) then orderby(n desc)`] : [];
  return described(APPLY, `Aggregates the rows. Groups by ${named(groups)}.`, examples);
}

export function describeExpand({ relations }: Pick<ListResource, 'relations'>): Grammar {
  const names = [...relations.keys()];
  const description =
    names.length === 0
      ? 'Related records to show, of which this list has none.'
      : `Related records to show: ${names.map(code).join(', ')}.`;
  return described(EXPAND, description, names.slice(0, 1));
}

function describeSearch({ searched }: ListResource) {
  if (searched.length === 0) return undefined;
  return SEARCH.meta({
    description: `Words to find in ${searched.map(code).join(' and ')}, best first.`,
    examples: ['rye loaf'],
  });
}

/** The list parameters whose texts depend on the list, described with its fields, operators, limits and examples. */
export function describeList(resource: ListResource) {
  const fields = [...resource.fields.values()];
  return {
    $search: describeSearch(resource),
    $filter: describeFilter(
      fields.filter(({ filter }) => filter),
      [...resource.open.values()],
    ),
    $orderby: describeOrder(
      fields.filter(({ sort }) => sort),
      resource,
    ),
    $expand: describeExpand(resource),
    $select: SELECT,
    $apply: describeApply(fields),
  };
}
