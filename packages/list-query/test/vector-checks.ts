import { isDeepStrictEqual } from 'node:util';
import type { Answer } from './vector-endpoint.js';
import { getNextToken } from './vector-endpoint.js';
import type { Expectation, Vector } from './vector-file.js';

/** What an answer lacks of an expectation; empty when it meets it. */
export function shortcomings({ status, body }: Answer, expected: Expectation, vector: Vector): string[] {
  const problems: string[] = [];
  const check = (what: string, found: unknown, wanted: unknown, isSame = isDeepStrictEqual) => {
    if (wanted !== undefined && !isSame(found, wanted)) problems.push(`${what}: ${show(found)} instead of ${show(wanted)}`);
  };
  check('status', status, expected.status);
  if (status === 400) problems.push(...envelopeProblems(body));
  if (status !== 200 || expected.status !== 200) return problems;
  const rows = (body.value ?? []).map(({ _id, ...row }) => row);
  check('total', body.total, expected.total);
  check('count', body.count, expected.count);
  check('count of the value', body.value?.length, body.count);
  check('ids', idsOf(rows), expected.ids);
  const compared = vector.topAsIds ? rows.map((row) => ({ ...row, top: idsOf(row['top'] as Record<string, unknown>[]) })) : rows;
  check('rows', compared, expected.rows, (expected.unordered ?? vector.expect.unordered) ? isSameMultiset : isNear);
  check('rows', rows, expected.subsetRows, containsRows);
  check('nextToken', getNextToken({ status, body }) === undefined ? 'absent' : 'present', expected.nextToken);
  return problems;
}

/** Status 400 has `{ error: { message, data? } }` and nothing else. */
function envelopeProblems(body: Answer['body']): string[] {
  const { error, ...rest } = body;
  const isFine =
    Object.keys(rest).length === 0 &&
    typeof error?.message === 'string' &&
    error.message !== '' &&
    (error.data === undefined || Array.isArray(error.data));
  return isFine ? [] : [`a bad envelope: ${show(body)}`];
}

export function idsOf(rows: readonly Record<string, unknown>[]): unknown[] {
  return rows.map(({ id }) => id);
}

/** Equal, numbers up to a relative error of 1e-9. */
function isNear(found: unknown, wanted: unknown): boolean {
  if (typeof found === 'number' && typeof wanted === 'number')
    return Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(found), Math.abs(wanted));
  if (typeof found !== 'object' || typeof wanted !== 'object' || found === null || wanted === null) return found === wanted;
  const [one, other] = [Object.entries(found), new Map(Object.entries(wanted))];
  return (
    Array.isArray(found) === Array.isArray(wanted) &&
    one.length === other.size &&
    one.every(([key, value]) => other.has(key) && isNear(value, other.get(key)))
  );
}

function isSameMultiset(found: unknown, wanted: unknown): boolean {
  const rest = [...(found as unknown[])];
  for (const row of wanted as unknown[]) {
    const at = rest.findIndex((other) => isNear(other, row));
    if (at < 0) return false;
    rest.splice(at, 1);
  }
  return rest.length === 0;
}

/** Whether each row has at least these keys, each object in it at least the keys that are listed. */
function containsRows(found: unknown, wanted: unknown): boolean {
  const [rows, parts] = [found as unknown[], wanted as unknown[]];
  return rows.length === parts.length && parts.every((part, n) => contains(rows[n], part));
}

function contains(found: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return isNear(found, part);
  if (typeof found !== 'object' || found === null) return false;
  return Object.entries(part).every(([key, value]) => contains((found as Record<string, unknown>)[key], value));
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
