/**
 * Whether a content type is JSON: `application/json`, or a type with the suffix `+json` such as
 * `application/problem+json`.
 */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType ?? '');
}

/** Whether a content type is that of an HTML form. */
export function isForm(contentType: string | undefined): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType ?? '');
}
