import type { ListAnswer } from './list-declaration.js';

type Fields = Record<string, unknown>;

/** The shown records in an answer; what `$apply` computed is none, but may hold some. */
function recordsOf(rows: readonly unknown[], key: string): Fields[] {
  return rows.flatMap((row) => {
    const fields = row as Fields;
    if (typeof fields.id === 'string' && key in fields) return [fields];
    return Array.isArray(fields.top) ? recordsOf(fields.top, key) : [];
  });
}

/**
 * Fills in what the rows of a list show beside their records, for all of them by one look-up. `show` has put an empty value there.
 * @param valuesOf by the ids of the rows; a row that is not in its answer keeps the empty value
 */
export async function completeRows<Row extends { id: string }, Key extends keyof Row & string>(
  answer: ListAnswer<Row>,
  key: Key,
  valuesOf: (ids: string[]) => Promise<ReadonlyMap<string, Row[Key]>>,
): Promise<ListAnswer<Row>> {
  const records = recordsOf('data' in answer ? answer.data : answer.value, key);
  if (records.length === 0) return answer;
  const values = await valuesOf(records.map(({ id }) => id as string));
  for (const record of records) if (values.has(record.id as string)) record[key] = values.get(record.id as string);
  return answer;
}
