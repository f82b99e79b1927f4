import type { ErrorCode } from './router-types.js';

/** A code as the server has written it, which may be newer than this client. */
export const codeOf = (text: string | null | undefined): ErrorCode | undefined => (text ?? undefined) as ErrorCode | undefined;

/** The code of an answer to a REST request. */
export const codeOfAnswer = (answer: { headers?: { get?(name: string): string | null } } | undefined): ErrorCode | undefined =>
  codeOf(answer?.headers?.get?.('x-error-code'));
