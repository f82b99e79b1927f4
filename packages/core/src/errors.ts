import { STATUS_CODES } from 'node:http';
import { TRPCError, type TRPC_ERROR_CODE_KEY } from '@trpc/server';

/** The statuses an error may have, each with its tRPC code: the only such table. */
const TRPC_CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  402: 'PAYMENT_REQUIRED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  408: 'TIMEOUT',
  409: 'CONFLICT',
  // tRPC has no code of its own
  410: 'NOT_FOUND',
  412: 'PRECONDITION_FAILED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  416: 'BAD_REQUEST',
  422: 'UNPROCESSABLE_CONTENT',
  428: 'PRECONDITION_REQUIRED',
  429: 'TOO_MANY_REQUESTS',
  431: 'BAD_REQUEST',
  500: 'INTERNAL_SERVER_ERROR',
  501: 'NOT_IMPLEMENTED',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
} as const satisfies Record<number, TRPC_ERROR_CODE_KEY>;

/** The header of a REST error that carries its code (decisions E6). */
export const ERROR_CODE_HEADER = 'x-error-code';

/** Seconds after which a caller may retry when the store was unavailable. */
export const RETRY_AFTER_UNAVAILABLE = 2;

/** A status that an error of the interface may have. */
export type ErrorStatus = keyof typeof TRPC_CODES;

/** What is known of an error in advance: its status, and its message with `{parameters}` in braces. */
export interface ErrorDefinition {
  readonly status: ErrorStatus;
  readonly message: string;
  /** The declaring service and the error's name there. */
  readonly errorCode?: string;
}

/** An error that callers may see. Anything else thrown is an unexpected failure, whose message stays internal. */
export class ApiError extends TRPCError {
  readonly status: ErrorStatus;
  /** The problems of a failed validation, one text each. */
  readonly data: readonly string[] | undefined;
  /**
   * The declaring service and the error's name there: `products.notFound`, so that clients need not compare messages
   * (decisions H21, E6).
   */
  readonly errorCode: string;
  /** Seconds after which a retry makes sense, for the `Retry-After` header. */
  readonly retryAfter: number | undefined;

  constructor(
    status: ErrorStatus,
    message: string,
    details: { errorCode: string; data?: readonly string[]; retryAfter?: number; cause?: unknown },
  ) {
    super({ code: TRPC_CODES[status], message, cause: details.cause });
    this.name = 'ApiError';
    this.status = status;
    this.errorCode = details.errorCode;
    this.data = details.data;
    this.retryAfter = details.retryAfter;
  }

  /** Whether a retry of the same request may succeed: a limit was reached, or the server failed (decisions H21). */
  get mayPass(): boolean {
    return this.status === 429 || this.status >= 500;
  }

  /** Converts tRPC's own error, as a host application's procedure may throw it. */
  static fromTrpc(error: TRPCError): ApiError {
    const entry = Object.entries(TRPC_CODES).find(([, code]) => code === error.code);
    const status = entry ? (Number(entry[0]) as ErrorStatus) : 500;
    return new ApiError(status, error.message, { errorCode: `trpc.${error.code}`, cause: error.cause });
  }

  /**
   * Converts an error of `http-errors`, as a route of a host application may throw it. Its text may be of a file system, so that
   * of its status is shown.
   * @returns undefined for what is not a caller's fault
   */
  static fromHttp(error: { status: unknown; expose?: unknown }): ApiError | undefined {
    const { status, expose } = error;
    if (expose !== true || typeof status !== 'number' || status >= 500 || !(status in TRPC_CODES)) return undefined;
    return new ApiError(status as ErrorStatus, STATUS_CODES[status] ?? '', { errorCode: `http.${status}`, cause: error });
  }
}

type Parameters<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Parameters<Rest> : never;

/** Makes one declared error. The first argument holds the message's parameters, if it has any. */
export type ErrorFactory<Text extends string, Code extends string = string> = ErrorDefinition & {
  readonly errorCode: Code;
  /** Whether something thrown is this error. */
  matches(error: unknown): error is ApiError;
} & ([Parameters<Text>] extends [never]
    ? (details?: { retryAfter?: number; cause?: unknown }) => ApiError
    : (values: Record<Parameters<Text>, string>) => ApiError);

/** The result of `defineErrors` for a table. */
type Declared<Service extends string, Table extends Record<string, readonly [ErrorStatus, string]>> = {
  readonly [Name in keyof Table & string]: ErrorFactory<Table[Name][1], `${Service}.${Name}`>;
};

/**
 * Declares the errors of a service: `defineErrors('notifications', { notFound: [404, 'Notification not found'] })`.
 * Each becomes a factory with a `status` and `message` for the documents and an `errorCode`: `notifications.notFound`.
 */
export function defineErrors<const Service extends string, const Table extends Record<string, readonly [ErrorStatus, string]>>(
  service: Service,
  table: Table,
): Declared<Service, Table> {
  const factories = Object.entries(table).map(([name, [status, message]]) => {
    const errorCode = `${service}.${name}`;
    const make = (given: Record<string, unknown> = {}) => {
      const { retryAfter, cause, ...values } = given;
      const text = message.replace(/\{(\w+)\}/g, (_, parameter: string) => String(values[parameter]));
      const error = new ApiError(status, text, { errorCode, ...(typeof retryAfter === 'number' && { retryAfter }), cause });
      made.add(error);
      return error;
    };
    const made = new WeakSet<ApiError>();
    const matches = (error: unknown): error is ApiError => error instanceof ApiError && made.has(error);
    return [name, Object.assign(make, { status, message, errorCode, matches })];
  });
  return Object.fromEntries(factories) as Declared<Service, Table>;
}

/** The codes of a table of errors, as a type: `CodesOf<typeof notificationErrors>`. */
export type CodesOf<Table extends Readonly<Record<string, { readonly errorCode: string }>>> = Table[keyof Table]['errorCode'];

/** Errors that any request can meet, before or around a procedure (spec, "Errors"; decisions T2 to T4, A16, R6). */
export const requestErrors = defineErrors('request', {
  invalid: [400, 'Validation Error'],
  malformed: [400, 'Bad Request'],
  noSuchRoute: [404, 'Not Found'],
  wrongMethod: [405, 'Method Not Allowed'],
  preconditionFailed: [412, 'Precondition Failed'],
  tooSlow: [408, 'Request Timeout'],
  tooLarge: [413, 'request entity too large'],
  unsupportedType: [415, 'Unsupported content type'],
  keyReused: [422, 'Idempotency-Key was used with another body'],
  tooMany: [429, 'Too many requests'],
  headTooLarge: [431, 'Request Header Fields Too Large'],
  unexpected: [500, 'Internal Server Error'],
  unavailable: [503, 'Service Unavailable'],
});

/**
 * Most problems that an answer lists: more would not help, and would make the answer many times larger than the request
 * (decisions H5).
 */
export const MOST_PROBLEMS = 20;

/** A failed validation with its problems, worded as in decisions, "Validation texts". */
export function validationError(problems: readonly string[], { cause }: { cause?: unknown } = {}): ApiError {
  const { status, message, errorCode } = requestErrors.invalid;
  const listed = problems.slice(0, MOST_PROBLEMS);
  const data = problems.length > MOST_PROBLEMS ? [...listed, 'there are more problems'] : listed;
  return new ApiError(status, message, { errorCode, data, cause });
}

/**
 * What a caller sees of an unexpected failure: only this message, with 503 where the store was unreachable or too slow,
 * else 500 (decisions T4).
 */
export function unexpectedError(message: string, { isUnavailable, cause }: { isUnavailable: boolean; cause: unknown }): ApiError {
  const { status, errorCode } = isUnavailable ? requestErrors.unavailable : requestErrors.unexpected;
  return new ApiError(status, message, { errorCode, cause, ...(isUnavailable && { retryAfter: RETRY_AFTER_UNAVAILABLE }) });
}
