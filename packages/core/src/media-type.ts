/**
 * Whether a content type is JSON: `application/json`, or a type with the suffix `+json` such as
 * `application/problem+json`.
 */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType ?? '');
}
