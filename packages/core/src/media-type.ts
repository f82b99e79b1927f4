/** Whether a content type is JSON's: `application/json`, or another type written in it such as `application/problem+json`. */
export function isJson(contentType: string | undefined): boolean {
  return /^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(contentType ?? '');
}
