import { TRPCError } from '@trpc/server';
import { describeError } from './error-log.js';
import { ApiError, ERROR_CODE_HEADER, requestErrors, validationError } from './errors.js';

/** The body of every error on the REST face (spec, "Envelope"). */
export interface ErrorEnvelope {
  error: { message: string; data?: readonly string[]; stack?: string };
}

/** Whether reading a body failed because it is no JSON. */
export function isMalformed(error: unknown): boolean {
  return error instanceof Error && 'type' in error && error.type === 'entity.parse.failed';
}

/** Node's codes for what is no gzip, Brotli or Zstandard. */
const DECOMPRESSION = /^(Z_|ERR__ERROR_|ZSTD_)/;

/** Errors of Express and its body parser, and of a host's own routes: they carry a status. */
function fromHttpError(error: Error & { status: unknown }): ApiError | undefined {
  if (isMalformed(error)) return validationError(['request body must be valid JSON']);
  if (error.status === 413) return requestErrors.tooLarge({ cause: error });
  if (error.status === 415) return requestErrors.unsupportedType({ cause: error });
  if (error instanceof URIError) return validationError(['path must be correctly percent-encoded']);
  if (error.status !== 400) return ApiError.fromHttp(error);
  // of the parser, or of decompression
  const isOfBody = 'type' in error || ('code' in error && DECOMPRESSION.test(String(error.code)));
  const shown = isOfBody ? undefined : ApiError.fromHttp(error);
  return shown ?? validationError(['request body must be complete and correctly encoded']);
}

/** Errors of tRPC's own adapters, whose texts are not part of our interface. */
function fromTrpcError(error: TRPCError): ApiError | undefined {
  switch (error.code) {
    case 'PARSE_ERROR':
      return validationError(['request body must be valid JSON']);
    case 'BAD_REQUEST':
      if (error.cause instanceof SyntaxError) return validationError(['request body must be valid JSON']);
      return validationError(['request must be a valid tRPC call']);
    case 'NOT_FOUND':
      return requestErrors.noSuchRoute();
    case 'METHOD_NOT_SUPPORTED':
      return requestErrors.wrongMethod();
    case 'PAYLOAD_TOO_LARGE':
      return requestErrors.tooLarge();
    case 'UNSUPPORTED_MEDIA_TYPE':
      return requestErrors.unsupportedType();
    default:
      return undefined;
  }
}

/**
 * The error that a caller may see for anything thrown: a declared error as it is, a parser's or adapter's error
 * translated, or undefined for an unexpected failure, of which nothing is shown.
 */
export function declaredError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof TRPCError && error.cause instanceof ApiError) return error.cause;
  const inner = error instanceof TRPCError && error.cause ? error.cause : error;
  if (inner instanceof Error && 'status' in inner) {
    const declared = fromHttpError(inner);
    if (declared) return declared;
  }
  return error instanceof TRPCError ? fromTrpcError(error) : undefined;
}

/**
 * The stack shown in development: that of the innermost cause, where the failure began. Its message is stripped of
 * values as in the log, because drivers and parsers quote the data they failed on.
 */
export function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.cause instanceof Error) return stackOf(error.cause);
  if (error instanceof ApiError) return error.stack;
  const { type, message, stack = [] } = describeError(error);
  return [`${type}: ${message}`, ...stack.map((frame) => `    ${frame}`)].join('\n');
}

/**
 * Status, headers and body of an error on the REST face: the same envelope for every status (decisions T2), the code and
 * when to retry in headers.
 */
export function toEnvelope(
  error: unknown,
  development: boolean,
): { status: number; headers: Readonly<Record<string, string>>; body: ErrorEnvelope } {
  const answered = declaredError(error) ?? requestErrors.unexpected();
  const stack = development ? stackOf(error) : undefined;
  const { message, data, errorCode, retryAfter } = answered;
  return {
    status: answered.status,
    headers: { [ERROR_CODE_HEADER]: errorCode, ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }) },
    body: { error: { message, ...(data && { data }), ...(stack !== undefined && { stack }) } },
  };
}
