import { ERROR_CODE_HEADER, requestErrors, type ErrorDefinition } from '../errors.js';
import type { Header, Json, Reference, Response } from './openapi-types.js';

/** The envelope of every error. */
export const ERROR_SCHEMA: Json = {
  type: 'object',
  description: 'The answer to a request that failed.',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      description: 'What went wrong.',
      required: ['message'],
      additionalProperties: false,
      properties: {
        message: { type: 'string', description: 'One of the texts that the operation lists for the status.' },
        data: { type: 'array', items: { type: 'string' }, description: 'The problems of a failed validation.' },
        stack: { type: 'string', description: 'Only in development.' },
      },
    },
  },
};
const ENVELOPE = { $ref: '#/components/schemas/Error' };

/** The name of the answers to unexpected failures. */
const FAILURE = 'failure';
const RETRY_AFTER = 'Retry-After';
/** The headers of limits (draft-ietf-httpapi-ratelimit-headers); described where they are reached. */
const LIMITS: Readonly<Record<string, Header>> = {
  RateLimit: { description: 'What is left of each limit that applies, and for how many seconds.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'The limits that apply: requests and seconds.', schema: { type: 'string' } },
};
/** Statuses whose answers may say when a retry makes sense. */
const PASSING: readonly number[] = [429, 503];

const isPattern = (message: string) => /\{\w+\}/.test(message);

/** The schema of messages: the texts, and a pattern for each with parameters. */
function messageSchema(messages: readonly string[]): Json {
  const texts = messages.filter((message) => !isPattern(message));
  const patterns = messages.filter(isPattern).map((message) => {
    const parts = message.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return { type: 'string', pattern: `^${parts.join('.*')}$`, examples: [message] };
  });
  const all: Json[] = [...(texts.length > 0 ? [{ enum: texts }] : []), ...patterns];
  return all.length === 1 ? (all[0] as Json) : { anyOf: all };
}

/** An answer that operations share. */
interface Shared {
  status: number;
  /** What distinguishes it from others of the same status. */
  name: string;
  response: Response;
  /** The operations' references to it. */
  references: Reference[];
}

/**
 * Makes the answers of operations. They share one component for each status and set of messages.
 * @param ownHeaders of every answer of the server; described, like the code that every error has, where the server fails:
 * there they help most, and everywhere they would be a thirtieth of the document
 */
export function createResponses(ownHeaders: Readonly<Record<string, Header>>) {
  const shared = new Map<string, Shared>();
  const headers: Record<string, Header> = {
    ...ownHeaders,
    [ERROR_CODE_HEADER]: {
      required: true,
      description: 'On every error: the service that declares it, and its name there.',
      schema: { type: 'string', examples: [requestErrors.invalid.errorCode] },
    },
    ...LIMITS,
    [RETRY_AFTER]: { description: 'Seconds after which a retry makes sense.', schema: { type: 'integer', minimum: 1 } },
  };

  function withHeaders(status: number, response: Response): Response {
    const all = [
      ...(status < 500 ? [] : [...Object.keys(ownHeaders), ERROR_CODE_HEADER]),
      ...(PASSING.includes(status) ? [RETRY_AFTER] : []),
      ...(status === 429 ? Object.keys(LIMITS) : []),
    ];
    const refs = all.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const);
    return refs.length === 0 ? response : { ...response, headers: { ...response.headers, ...Object.fromEntries(refs) } };
  }

  /** Refers to the answer with this key, which is made on first use. `finish` completes the reference. */
  function refer(status: number, key: string, name: string, make: () => Response): Reference {
    const id = `${status} ${key}`;
    const one = shared.get(id) ?? { status, name, response: withHeaders(status, make()), references: [] };
    shared.set(id, one);
    const reference = { $ref: '' };
    one.references.push(reference);
    return reference;
  }

  function referToError(status: number, definitions: readonly ErrorDefinition[]): Reference {
    const messages = definitions.map(({ message }) => message);
    // the errors of every request come first
    const name = definitions.at(-1)?.errorCode ?? '';
    return refer(status, JSON.stringify(messages.toSorted()), name, () => {
      const own = { properties: { error: { properties: { message: messageSchema(messages) } } } };
      return { description: messages.join('; '), content: { 'application/json': { schema: { allOf: [ENVELOPE, own] } } } };
    });
  }

  /**
   * Operations share also the answers to unexpected failures, although each fails with its own text: it stands beside the reference
   * for 500, and the answer 503 has the same text or a general one.
   */
  function referToFailure(status: number, failure: string): Reference {
    const meaning = {
      500: 'The operation failed; the reference says with which text.',
      503: `The server is not available: the text of 500, or ${requestErrors.unavailable.message}`,
    }[status];
    const response = { description: meaning, content: { 'application/json': { schema: ENVELOPE } } } as Response;
    const reference = refer(status, FAILURE, FAILURE, () => response);
    return status === 500 ? Object.assign(reference, { description: failure }) : reference;
  }

  return {
    headers,

    /** A successful answer; shared if its content is a schema with a name. */
    success(status: number, response: Response): Response | Reference {
      const $ref = response.content?.['application/json']?.schema['$ref'];
      if (typeof $ref !== 'string') return withHeaders(status, response);
      return refer(status, $ref, $ref.split('/').at(-1) ?? '', () => response);
    },

    /** The answer without a body. */
    empty: () => refer(204, '', '', () => ({ description: 'No content' })),

    /** The answer where the caller knows the record. */
    unchanged: () => refer(304, '', '', () => ({ description: 'Not modified since the ETag of If-None-Match' })),

    /**
     * The answers of errors, by status.
     * @param failure the text of an unexpected failure of the operation
     */
    errorsOf(definitions: readonly ErrorDefinition[], failure: string): Record<string, Reference> {
      const byStatus = new Map<number, Map<string, ErrorDefinition>>();
      for (const one of definitions) byStatus.set(one.status, (byStatus.get(one.status) ?? new Map()).set(one.message, one));
      const failures: Record<number, readonly string[]> = { 500: [failure], 503: [failure, requestErrors.unavailable.message] };
      return Object.fromEntries(
        [...byStatus].map(([status, errors]) => {
          const isFailure = failures[status]?.join() === [...errors.keys()].join();
          return [status, isFailure ? referToFailure(status, failure) : referToError(status, [...errors.values()])];
        }),
      );
    },

    /** Completes the references; returns the components. The usual one of a status is named by the status alone. */
    finish(): Record<string, Response> {
      const components: Record<string, Response> = {};
      const all = [...shared.values()];
      for (const { status, name, response, references } of all) {
        const uses = all.filter((one) => one.status === status).flatMap((one) => one.references);
        const base = references.length > uses.length / 2 ? String(status) : `${status}-${name}`;
        let unused = base;
        for (let n = 2; components[unused]; n++) unused = `${base}-${n}`;
        components[unused] = response;
        for (const reference of references) reference.$ref = `#/components/responses/${unused}`;
      }
      return components;
    },
  };
}
export type Responses = ReturnType<typeof createResponses>;
