import { LIMITS, type ListPage, type ListResource, type ListResult, type StoreFilter } from '@tandem/list-query';
import { z } from 'zod';
import { describeList } from './list-description.js';
import { asksMore, checkListQuery, type ListQuery } from './list-query.js';
import { pageOf, pageParameters } from './schemas.js';

/** A page by number, or rows as `$skip`, `$top`, `$nextToken` and `$apply` ask for them (decisions L1). */
export type ListAnswer<Row> = ListPage<Row> | ListResult<Row | Record<string, unknown>>;

/**
 * What typed callers see: the page, which is what they ask for unless they say otherwise. Who sends `$skip`, `$top`, `$nextToken` or `$apply`
 * reads the other fields, by `rowsOf` of the client.
 */
type TypedAnswer<Row> = ListPage<Row> & Partial<ListResult<Row | Record<string, unknown>>>;

/** A row with the related records that `$expand` puts into it. */
type Expandable<Row extends z.ZodType, Related extends Record<string, z.ZodType>> = z.output<Row> & {
  [Name in keyof Related]?: z.output<Related[Name]> | null;
};

/** What `$apply` computed: its keys are those that were asked for. */
const ComputedRow = z.looseObject({});

interface ListSettings<
  Row extends z.ZodObject,
  Own extends z.ZodRawShape,
  Equal extends z.ZodRawShape,
  Related extends Record<string, z.ZodType>,
> {
  /** What a row is, and all that leaves of it. */
  row: Row;
  /** Parameters that this list has beside those of every list. */
  own?: Own;
  /** Fields of the resource that are parameters too: the rows that have exactly that value. */
  equal?: Equal;
  /** What the records of each relation are. */
  related?: Related;
}

const resources = new WeakMap<object, ListResource>();

/** What the list is of whose input this is: for the test that explains the queries of every list. */
export function resourceOfInput(input: object): ListResource | undefined {
  return resources.get(input);
}

/**
 * Declares a list of a resource: the input that both faces take, with its description, and the output (decisions L1). The service answers it
 * by `lists.answer`.
 */
export function defineList<
  Resource extends ListResource,
  Row extends z.ZodObject,
  // oxlint-disable-next-line typescript/ban-types -- no parameters of its own
  Own extends z.ZodRawShape = {},
  // oxlint-disable-next-line typescript/ban-types -- no such parameters
  Equal extends z.ZodRawShape = {},
  // oxlint-disable-next-line typescript/ban-types -- no relations
  Related extends Record<string, z.ZodType> = {},
>(resource: Resource, { row, own, equal, related }: ListSettings<Row, Own, Equal, Related>) {
  const relations = Object.entries(related ?? {}).map(([name, schema]) => [name, schema.nullable().optional()] as const);
  const expandable = (relations.length === 0 ? row : row.extend(Object.fromEntries(relations))) as Row;
  const slice = z.object({
    total: z.number().int(),
    count: z.number().int(),
    // rows of this envelope were checked where they were shown; what was computed has no schema
    value: z.array(z.union([ComputedRow, expandable])),
    nextToken: z.string().optional().meta({ description: 'Leads to the rows behind these; absent where there are none' }),
  });
  const checkQuery = checkListQuery(resource);
  const open = z
    .strictObject({
      ...(own ?? ({} as Own)),
      ...equalParameters(equal ?? ({} as Equal)),
      ...pageParameters,
      ...listParameters(resource),
    })
    .superRefine((query, check) => checkQuery(query as ListQuery, check), { when: ({ value }) => asksMore(value) });
  const input = z.compile(open);
  resources.set(input, resource);
  return {
    resource,
    /** The scope that a query's own parameters for equality make. */
    equalTo: createScopeOf(resource, Object.keys(equal ?? {})),
    row: expandable as unknown as z.ZodType<Expandable<Row, Related>>,
    input,
    output: z.compile(z.union([pageOf(expandable), slice])) as unknown as z.ZodType<
      TypedAnswer<Expandable<Row, Related>>,
      ListAnswer<Expandable<Row, Related>>
    >,
  };
}

type Optional<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> };

function equalParameters<Equal extends z.ZodRawShape>(equal: Equal): Optional<Equal> {
  const described = Object.entries(equal).map(([name, schema]) => {
    const meta = { description: `The rows whose \`${name}\` is exactly this.` };
    return [name, (schema as z.ZodType).meta(meta).optional()] as const;
  });
  return Object.fromEntries(described) as unknown as Optional<Equal>;
}

/** @throws TypeError for a name that is no field of the resource */
function createScopeOf(resource: ListResource, names: readonly string[]): (query: object) => StoreFilter {
  const paths = names.map((name) => {
    const field = resource.fields.get(name);
    if (!field?.filter) throw new TypeError(`${resource.name} cannot be filtered by ${name}`);
    return [name, field.path] as const;
  });
  return function equalTo(query) {
    const given = query as Record<string, unknown>;
    return Object.fromEntries(paths.filter(([name]) => given[name] !== undefined).map(([name, path]) => [path, given[name]]));
  };
}

/** The query parameters of every list beside `page` and `limit`. Texts are checked by `checkListQuery`, which knows the fields. */
function listParameters(resource: ListResource) {
  const { $filter, $orderby, $expand, $apply } = describeList(resource);
  const text = (described: { description: string; examples: string[] }) =>
    z
      .string()
      .meta({ ...described, maxLength: LIMITS.text })
      .optional();
  const other = `With it the answer is \`{ total, count, value }\`, and \`page\` and \`limit\` are not taken.`;
  return {
    $filter: text($filter),
    $orderby: text($orderby),
    $orderBy: z.string().meta({ deprecated: true, description: 'Another spelling of `$orderby`.' }).optional(),
    $expand: text($expand),
    $apply: text($apply),
    $skip: z
      .number()
      .int()
      .min(0)
      .max(LIMITS.skip)
      .meta({ description: `Rows to pass over. ${other}` })
      .optional(),
    $top: z
      .number()
      .int()
      .min(0)
      .max(LIMITS.top)
      .meta({ description: `Rows to answer, ${LIMITS.defaultTop} unless it is given. ${other}` })
      .optional(),
    $nextToken: z
      .string()
      .meta({ description: `The \`nextToken\` of the page before, with the same other parameters. ${other}` })
      .optional(),
  };
}
