import { problemOf, type Problems } from './errors.js';
import { LIMITS } from './limits.js';

/** The parameters of a request: decoded, in order, repeated ones included. */
export type ParameterPairs = Iterable<readonly [string, unknown]>;

/** The parameters, texts still unparsed. */
export interface ListParameters {
  filter?: string | undefined;
  search?: string | undefined;
  orderby?: string | undefined;
  expand?: string | undefined;
  select?: string | undefined;
  apply?: string | undefined;
  nextToken?: string | undefined;
  skip?: number | undefined;
  top?: number | undefined;
  page?: number | undefined;
  limit?: number | undefined;
}

type Name = keyof ListParameters;

/** The parameters of the convention; one has a second spelling that clients use. */
const QUERY = new Map<string, Name>([
  ['$filter', 'filter'],
  ['$search', 'search'],
  ['$orderby', 'orderby'],
  ['$orderBy', 'orderby'],
  ['$expand', 'expand'],
  ['$select', 'select'],
  ['$apply', 'apply'],
  ['$nextToken', 'nextToken'],
  ['$skip', 'skip'],
  ['$top', 'top'],
]);
const PAGED = new Map<string, Name>([...QUERY, ['page', 'page'], ['limit', 'limit']]);

const BOUNDS: Partial<Record<Name, { least: number; most: number }>> = {
  skip: { least: 0, most: LIMITS.skip },
  top: { least: 0, most: LIMITS.top },
  page: { least: 1, most: LIMITS.page },
  limit: { least: 1, most: LIMITS.limit },
};

/** Reads the parameters; problems are added to `problems`. With `isPaged`, `page` and `limit` are parameters too. */
export function readParameters(pairs: ParameterPairs, problems: Problems, isPaged = false): ListParameters {
  const names = isPaged ? PAGED : QUERY;
  const read: Record<string, string | number> = {};
  const given = new Set<Name>();
  for (const [key, value] of pairs) {
    const name = names.get(key);
    if (name === undefined) problems.add(problemOf(key, 'is not allowed'));
    else if (given.has(name)) problems.add(problemOf(key, 'must be given once'));
    else {
      const bounds = BOUNDS[name];
      // the typed builder sends numbers
      const text = bounds && typeof value === 'number' ? String(value) : value;
      if (typeof text !== 'string') problems.add(problemOf(key, 'must be string'));
      else {
        const taken = bounds ? problems.attempt(() => readNumber(key, text, bounds)) : text;
        if (taken !== undefined) read[name] = taken;
      }
    }
    if (name !== undefined) given.add(name);
  }
  return read;
}

function readNumber(key: string, text: string, { least, most }: { least: number; most: number }): number {
  if (!/^-?\d{1,15}$/.test(text)) throw problemOf(key, 'must be integer');
  const number = Number(text);
  if (number < least) throw problemOf(key, `must be >= ${least}`);
  if (number > most) throw problemOf(key, `must be <= ${most}`);
  return number;
}
