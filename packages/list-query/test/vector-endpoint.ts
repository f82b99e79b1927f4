import { ListQueryError, ListTimeLimitError, NextTokenError, runListQuery } from '../src/index.js';
import type { ListQueryOptions, ListResource, ListResult, ParameterPairs } from '../src/index.js';

/** An answer as sent. */
export interface Answer {
  status: number;
  body: Partial<ListResult> & { error?: { message: string; data?: string[] } };
}

/** Answers a list query as an endpoint does: library errors become the error envelope. */
export async function answer(resource: ListResource, query: ParameterPairs, options: ListQueryOptions): Promise<Answer> {
  try {
    const result = await runListQuery(resource, query, options);
    return { status: 200, body: JSON.parse(JSON.stringify(result)) as ListResult };
  } catch (error) {
    if (error instanceof NextTokenError) return { status: 400, body: { error: { message: error.message } } };
    if (error instanceof ListQueryError)
      return {
        status: 400,
        body: { error: { message: 'Validation Error', data: error.problems.map(({ message }) => message) } },
      };
    if (error instanceof ListTimeLimitError) return { status: 503, body: { error: { message: 'Service Unavailable' } } };
    return { status: 500, body: { error: { message: String(error) } } };
  }
}

/** The cursor of an answer. */
export function getNextToken({ body }: Answer): string | undefined {
  return body.nextToken;
}
