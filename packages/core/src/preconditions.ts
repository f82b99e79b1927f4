import { builderFor } from './builder.js';
import type { RequestContext } from './context.js';
import { requestErrors } from './errors.js';
import { withDeclaration } from './procedures.js';

const trpc = builderFor<RequestContext>().create();

/** The header by which a caller names the version that it knows, for the documents. */
export const IF_MATCH = {
  name: 'If-Match',
  description: 'The ETag of the record as it is known: if it has another by now, nothing is changed, and the answer is 412.',
  example: '"0198c0de-5a5a-7000-8000-2f9d1c4b7e60.3"',
  schema: { type: 'string' },
} as const;

/** The tags of a list: `"a", "b"`. Weak ones never match, as RFC 9110 has it for `If-Match`. */
function tagsIn(header: string): string[] {
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].flatMap(([, weak, tag = '']) => (weak ? [] : tag));
}

/**
 * Lets a change of a record take place only while the record has a version that `If-Match` names (decisions E6).
 * @param key of the input: the record's id
 */
export function conditional(key: string) {
  const middleware = trpc.middleware(async ({ ctx, input, next }) => {
    const given = ctx.headers['if-match'];
    const { expecting, isStale } = ctx.server;
    const id: unknown = Reflect.get(input ?? {}, key);
    // one header cannot speak for several calls, of a batch or of a socket
    const isOfMany = ctx.batch || ctx.calls !== undefined;
    if (given === undefined || given.trim() === '*' || isOfMany || typeof id !== 'string' || !expecting) return next();
    const versions = tagsIn(given).flatMap((tag) => (tag.startsWith(`${id}.`) ? Number(tag.slice(id.length + 1)) : []));
    const result = await expecting({ id, versions: versions.filter(Number.isSafeInteger) }, next);
    if (!result.ok && isStale?.(result.error.cause)) throw requestErrors.preconditionFailed();
    return result;
  });
  return withDeclaration(middleware, { errors: [requestErrors.preconditionFailed] });
}

/**
 * Gives an answer its `ETag`.
 * @param tagOf the tag of what the handler returns
 */
export function tagged(tagOf: (shown: object, ctx: RequestContext) => string | undefined) {
  return trpc.middleware(async ({ ctx, next }) => {
    const result = await next();
    const { data } = result as { data?: unknown };
    const tag = result.ok && typeof data === 'object' && data !== null && !ctx.batch ? tagOf(data, ctx) : undefined;
    if (tag !== undefined) ctx.setHeader('etag', tag);
    return result;
  });
}
