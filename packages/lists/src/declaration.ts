import { LIMITS, type ListPage, type ListResource, type ListResult, type StoreFilter } from '@tandem/list-query';
import { z } from 'zod';
import { describeList } from './description.js';
import { asksMore, checkListQuery, type ListQuery } from './query.js';
import { pageOf, pageParameters } from './pages.js';
import { expandableOf, type Expandable } from './expandable.js';
import { makeAgainBy } from './extension.js';
import { withRelations, type Relations } from './related.js';
import { rowFieldsOf, selectable, type Reads } from './selection.js';

/** A numbered page, or the envelope of `$skip`, `$top`, `$nextToken` and `$apply` (decisions L1). */
export type ListAnswer<Row> = ListPage<Row> | ListResult<Row | Record<string, unknown>>;

/**
 * The answer for typed callers: a page by default. Callers that send `$skip`, `$top`, `$nextToken` or `$apply` read the other
 * fields with the client's `rowsOf`.
 */
type TypedAnswer<Row> = ListPage<Row> & Partial<ListResult<Row | Record<string, unknown>>>;

/** A row computed by `$apply`; its keys are the aliases and properties of the query. */
const ComputedRow = z.looseObject({});

interface ListSettings<
  Row extends z.ZodObject,
  Own extends z.ZodRawShape,
  Equal extends z.ZodRawShape,
  Related extends Relations,
> {
  /** Schema of a row. Fields outside it never leave the server. */
  row: Row;
  /**
   * For `$select`: stored fields that a row's field is made of, besides the one of its name. Others are not read when it alone is
   * selected.
   */
  reads?: Reads<z.output<Row>>;
  /** Query parameters of this list alone. */
  own?: Own;
  /** Resource fields that are also query parameters, matched exactly. */
  equal?: Equal;
  /** The relations of its rows. Those of the parts of a row, as `items.product`, stand in its schema. */
  relations?: Related;
}

const resources = new WeakMap<object, ListResource>();

/** The resource of the list with this input. Used by the test that explains the queries of every list. */
export function resourceOfInput(input: object): ListResource | undefined {
  return resources.get(input);
}

/**
 * Declares a list of a resource: its input for REST and tRPC, with descriptions, and its output (decisions L1). The service
 * answers it with `lists.answer`.
 */
export function defineList<
  Resource extends ListResource,
  Row extends z.ZodObject,
  // oxlint-disable-next-line typescript/ban-types -- no parameters of its own
  Own extends z.ZodRawShape = {},
  // oxlint-disable-next-line typescript/ban-types -- no such parameters
  Equal extends z.ZodRawShape = {},
  // oxlint-disable-next-line typescript/ban-types -- no relations
  Related extends Relations = {},
>(bare: Resource, { row, reads = {}, own, equal, relations }: ListSettings<Row, Own, Equal, Related>) {
  const related = relations ?? ({} as Related);
  const { expandable, output } = answerOf(row, related);
  const resource = withRelations(bare, related);
  const all = rowFieldsOf(resource, row, reads);
  const { whole } = resource;
  const rowFields = new Map([...all].filter(([name]) => !whole?.open.has(name) || resource.open.has(name)));
  const seenWhole = whole && { whole: { resource: whole, rowFields: all } };
  const checkQuery = checkListQuery(resource, rowFields, seenWhole?.whole);
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
  const list = {
    resource,
    /** The scope made of the query's `equal` parameters. */
    equalTo: createScopeOf(resource, Object.keys(equal ?? {})),
    row: expandable,
    rowFields,
    /** With the guarded fields. */
    ...seenWhole,
    relations: related,
    input,
    output,
  };
  makeAgainBy(input, (extension) => extension.list(list).input);
  makeAgainBy(list, ({ resource: extend, schema }): object => {
    const shown = schema(expandable);
    if (extend(bare) === bare && (shown as unknown) === expandable) return list;
    const settings = { row: schema(row), reads, own, equal, relations } as ListSettings<z.ZodObject, Own, Equal, Related>;
    return { ...defineList(extend(bare), settings), row: shown, output: schema(output) };
  });
  return list;
}

/** The schemas of a list's rows and of its answer. */
interface Answer<Row extends z.ZodType, Related extends Relations> {
  expandable: z.ZodType<Expandable<Row, Related>>;
  output: z.ZodType<TypedAnswer<Expandable<Row, Related>>, ListAnswer<Expandable<Row, Related>>>;
}
/** Components of the OpenAPI document, since every list has them. */
const Total = z.number().int().meta({ id: 'ListTotal', description: 'The number of all rows.' });
const Count = z.number().int().meta({ id: 'ListCount', description: 'The number of rows in this answer.' });
const NextToken = z.string().meta({ id: 'ListNextToken', description: 'Token for the next rows; absent after the last.' });

const outputs = new WeakMap<z.ZodType, z.ZodType>();

/** Lists with the same rows have the same answer, which the OpenAPI document names after the row: `ProductList`. */
function answerOf<Row extends z.ZodObject, Related extends Relations>(row: Row, relations: Related): Answer<Row, Related> {
  const { schema: expandable, isFirst } = expandableOf(row, relations);
  const id = z.globalRegistry.get(row)?.id;
  const slice = z.object({
    total: Total,
    count: Count,
    // rows of this envelope are checked by `lists.answer`; computed rows have no schema
    value: z.array(z.union([ComputedRow, expandable])),
    nextToken: NextToken.optional(),
  });
  const named = id !== undefined && isFirst ? { id: `${id}List` } : {};
  const output = outputs.get(expandable) ?? selectable(z.union([pageOf(expandable), slice]).meta(named));
  outputs.set(expandable, output);
  return { expandable, output } as unknown as Answer<Row, Related>;
}

type Optional<Shape extends z.ZodRawShape> = { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> };

function equalParameters<Equal extends z.ZodRawShape>(equal: Equal): Optional<Equal> {
  const described = Object.entries(equal).map(([name, schema]) => {
    const type = schema as z.ZodType;
    const examples = type instanceof z.ZodString && !type.meta()?.examples && { examples: ['a value'] };
    return [name, type.meta({ description: `Only rows with exactly this \`${name}\`.`, ...examples }).optional()] as const;
  });
  return Object.fromEntries(described) as unknown as Optional<Equal>;
}

/** @throws TypeError for a name that is not a filterable field of the resource */
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

/**
 * The query parameters of every list except `page` and `limit`. `checkListQuery`, which knows the fields, validates the texts.
 */
function listParameters(resource: ListResource) {
  const { $filter, $search, $orderby, $expand, $select, $apply } = describeList(resource);
  const other = `The answer is then \`{ total, count, value }\`. Cannot be combined with \`page\` and \`limit\`.`;
  return {
    $filter: $filter.optional(),
    // in the type of every list; those without searched fields refuse it as unknown
    ...(($search ? { $search: $search.optional() } : {}) as { $search: z.ZodOptional<z.ZodString> }),
    $orderby: $orderby.optional(),
    $orderBy: z
      .string()
      .meta({ deprecated: true, description: 'Another spelling of `$orderby`.', examples: ['id desc'] })
      .optional(),
    $expand: $expand.optional(),
    $select: $select.optional(),
    $apply: $apply.optional(),
    $skip: z
      .number()
      .int()
      .min(0)
      .max(LIMITS.skip)
      .meta({ description: `Number of rows to skip. ${other}` })
      .optional(),
    $top: z
      .number()
      .int()
      .min(0)
      .max(LIMITS.top)
      .meta({ description: `Maximum number of rows, by default ${LIMITS.defaultTop}. ${other}` })
      .optional(),
    $nextToken: z
      .string()
      .meta({
        description: `The \`nextToken\` of the previous page; all other parameters must be the same. ${other}`,
        examples: ['eyJrIjpbXX0.c2lnbmF0dXJl'],
      })
      .optional(),
  };
}
