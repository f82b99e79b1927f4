import { expect } from 'vitest';
import type { Face, Outcome } from './caller.js';
import type { Person } from './test-server.js';

type Input = Record<string, unknown>;
type Row = Record<string, unknown>;

interface Page {
  data: Row[];
  metadata: { pagination: { total: number } };
}

interface Slice {
  total: number;
  count: number;
  value: Row[];
  nextToken?: string;
}

export interface ListUnderTest {
  /** Its tRPC path. */
  procedure: string;
  /** Its own parameters, such as the owner of the list. */
  input?: Input;
  /** A row's id. Default `id`. */
  idOf?: (row: Row) => unknown;
}

/**
 * Checks a list against the convention for all lists (decisions L1 to L5): both envelopes, a walk by cursor, filters
 * that narrow and never widen, transformations, and the 400s. The caller must see from 4 to 50 rows.
 */
export async function expectListConvention(
  person: Person,
  face: Face,
  { procedure, input = {}, idOf = ({ id }) => id }: ListUnderTest,
): Promise<void> {
  async function ask<Answer>(query: Input): Promise<Answer> {
    const outcome = await person.call(face, procedure, { ...input, ...query });
    if (!outcome.ok) throw new Error(`${procedure} ${JSON.stringify(query)}: ${JSON.stringify(outcome)}`);
    return outcome.value as Answer;
  }
  const refusal = (query: Input): Promise<Outcome> => person.call(face, procedure, { ...input, ...query });
  const invalid = (...data: string[]) => ({ ok: false, status: 400, message: 'Validation Error', data });

  const page = await ask<Page>({ limit: 50 });
  const ids = page.data.map((row) => String(idOf(row)));
  const total = ids.length;
  const inOrder = ids.toSorted((one, other) => (one < other ? -1 : 1));
  expect(total).toBeGreaterThan(3);
  expect(page.metadata.pagination).toEqual({ page: 1, limit: 50, total, totalPages: 1, hasNext: false, hasPrev: false });
  expect(await ask({ page: 2, limit: 3 })).toMatchObject({ data: page.data.slice(3, 6), metadata: { pagination: { total } } });

  const walked: Row[] = [];
  let token: string | undefined;
  do {
    const query = { $top: 2, ...(token !== undefined && { $nextToken: token }) };
    const slice: Slice = await ask(query);
    expect(slice).toMatchObject({ total, count: slice.value.length });
    expect(slice.count).toBeGreaterThan(0);
    walked.push(...slice.value);
    token = slice.nextToken;
  } while (token !== undefined);
  expect(walked).toEqual(page.data);
  expect(await ask({ $skip: 1, $top: 2 })).toMatchObject({ total, count: 2, value: page.data.slice(1, 3) });

  const [first = ''] = ids;
  expect(await ask({ $filter: `id eq '${first}'` })).toMatchObject({
    data: [page.data[0]],
    metadata: { pagination: { total: 1 } },
  });
  // as deep as the limit allows, with an even number of negations
  const deepest = `${"id eq '' or id ne '' and not (".repeat(32)}id ne '${first}'${')'.repeat(32)}`;
  const start = await ask<Slice>({ $filter: deepest, $top: 1 });
  expect(start).toMatchObject({ total: total - 1, value: [page.data[1]] });
  expect(await ask({ $filter: deepest, $top: 1, $nextToken: start.nextToken })).toMatchObject({ value: [page.data[2]] });
  const all = await ask<Page>({ $filter: `id eq '${first}' or id ne '${first}'`, $orderby: 'id', limit: 50 });
  expect(all.data.map(idOf)).toEqual(inOrder);
  expect(await ask({ $apply: 'aggregate($count as n)' })).toEqual({ total: 1, count: 1, value: [{ n: total }] });
  const kept = await ask<Slice>({ $apply: `orderby(id) then top(2)` });
  expect(kept.value.map(idOf)).toEqual(inOrder.slice(0, 2));

  expect(await refusal({ page: 1, $top: 1 })).toEqual(invalid("query parameter 'page' cannot be used together with '$top'"));
  expect(await refusal({ limit: 0, $filter: 'nope eq 1', $top: 101, $where: '1' })).toMatchObject(
    invalid(
      "query parameter 'limit' must be >= 1",
      "query parameter '$top' must be <= 100",
      "query parameter 'limit' cannot be used together with '$top'",
      "query parameter '$filter' has the unknown property 'nope' at offset 0",
      "query parameter '$where' is not allowed",
    ),
  );
  expect(await refusal({ $orderby: 'id,' })).toMatchObject({ ok: false, status: 400, message: 'Validation Error' });
  const chosen = await ask<Page>({ $select: 'id', limit: 3 });
  expect(chosen.data).toEqual(page.data.slice(0, 3).map((row) => ('id' in row ? { id: row['id'] } : {})));
  for (const [text, problem] of [
    ['nope', "has the unknown property 'nope' at offset 0"],
    ['id,id.x', "has the unknown property 'id.x' at offset 3"],
    ['*', 'has an unexpected character at offset 0'],
    ['', 'needs a property instead of the end at offset 0'],
  ])
    expect(await refusal({ $select: text })).toEqual(invalid(`query parameter '$select' ${problem}`));
  expect(await refusal({ $select: 'id', $apply: 'orderby(id)' })).toEqual(
    invalid("query parameter '$select' cannot be used together with '$apply'"),
  );
  expect(await refusal({ $expand: 'nope' })).toMatchObject({ ok: false, status: 400, message: 'Validation Error' });
  const { nextToken } = await ask<Slice>({ $top: 2 });
  for (const query of [{ $nextToken: 'x' }, { $nextToken: nextToken, $filter: `id ne '${first}'` }])
    expect(await refusal(query)).toEqual({ ok: false, status: 400, message: 'Invalid $nextToken' });
}
