/** JavaScript takes 24:00 too, for the midnight after. */
const ISO = /^(\d{4}-\d\d-\d\d)(?:T(?!24)\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * The time that an ISO-8601 text names: a date (its midnight in UTC), or a date and time with a zone, to milliseconds. Undefined for anything
 * else, also for a day that its month does not have: JavaScript would make the next month's of it.
 */
export function readDate(text: string): Date | undefined {
  const day = ISO.exec(text)?.[1];
  if (day === undefined) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return undefined;
  return new Date(day).toISOString().startsWith(day) ? date : undefined;
}
