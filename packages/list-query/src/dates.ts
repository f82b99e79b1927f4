/** JavaScript also accepts 24:00, for the next midnight; we do not. */
const ISO = /^(\d{4}-\d\d-\d\d)(?:T(?!24)\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Parses an ISO-8601 date (midnight UTC), or a date and time with zone, to milliseconds. Undefined for anything else,
 * including a day that the month does not have: JavaScript would roll it over to the next month.
 */
export function readDate(text: string): Date | undefined {
  const day = ISO.exec(text)?.[1];
  if (day === undefined) return undefined;
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return undefined;
  return new Date(day).toISOString().startsWith(day) ? date : undefined;
}
