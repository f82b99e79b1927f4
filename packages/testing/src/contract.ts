import {
  ERROR_CODE_HEADER,
  requestErrors,
  type OpenApiDocument,
  type OpenApiHeader as Header,
  type OpenApiResponse as Response,
} from '@tandem/core';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { resolveReference } from './described-operations.js';

/** An answer on the REST face. */
export interface RestAnswer {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined when there is none. */
  body: unknown;
}

const DOCUMENT = 'https://tandem.test/openapi';
/** The same without required fields, for answers to `$select`. */
const SELECTED = 'https://tandem.test/openapi-selected';
const ERROR = '#/components/schemas/Error';
/** The service that declares an error, and its name there. */
export const ERROR_CODE = /^[a-zA-Z]+\.\w+$/;

function escapePointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Checks answers against the OpenAPI document: the status is documented, and the body fits its schema. */
export function createContract(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: fullFormats, allErrors: true });
  ajv.addSchema(document, DOCUMENT);
  const withoutRequired = (key: string, value: unknown) => (key === 'required' && Array.isArray(value) ? undefined : value);
  ajv.addSchema(JSON.parse(JSON.stringify(document, withoutRequired)) as object, SELECTED);
  const routes = Object.keys(document.paths)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
    // static segments win, as in the router
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  const validators = new Map<string, ValidateFunction>();

  function validatorOf(pointer: string, from: string): ValidateFunction {
    const place = `${from}#${pointer}`;
    const known = validators.get(place) ?? ajv.compile({ $ref: place });
    validators.set(place, known);
    return known;
  }

  /** @throws Error with the difference from the document */
  function check(method: string, target: string, answer: RestAnswer): void {
    const [pathname = '', query] = target.split('?', 2);
    const isSelected = answer.status === 200 && new URLSearchParams(query).has('$select');
    const verb = method.toLowerCase();
    const route = routes.find(({ path, pattern }) => pattern.test(pathname) && document.paths[path]?.[verb]);
    const where = `${method} ${route?.path ?? pathname} ${answer.status}`;
    if (answer.status >= 400 && !ERROR_CODE.test(answer.headers.get(ERROR_CODE_HEADER) ?? ''))
      throw new Error(`${where} says no code`);
    if (!route) return must(where, ERROR.slice(1), answer.body);
    const responses = document.paths[route.path]?.[verb]?.responses ?? {};
    const given = responses[answer.status];
    if (!given) throw new Error(`${where} is not documented: ${JSON.stringify(answer.body)}`);
    const response = resolveReference<Response>(document, given);
    for (const [name, header] of Object.entries(response.headers ?? {}))
      if (resolveReference<Header>(document, header).required && !answer.headers.has(name))
        throw new Error(`${where} is documented with the header ${name}`);
    // a caller who may be told that nothing has changed must be told what it knows
    if (answer.status === 200 && responses[304] && !answer.headers.has('etag')) throw new Error(`${where} has no ETag`);
    if (!response.content) {
      if (answer.body !== undefined) throw new Error(`${where} is documented without a body`);
      return;
    }
    const inRoute = ['', 'paths', route.path, verb, 'responses', String(answer.status)].map(escapePointer).join('/');
    const pointer = '$ref' in given ? given.$ref.slice(1) : inRoute;
    must(where, `${pointer}/content/application~1json/schema`, answer.body, isSelected ? SELECTED : DOCUMENT);
    if (response.content['application/json']?.schema['$ref'] !== ERROR) return;
    // operations share the answers to failures, and say their own text beside the reference to 500
    const texts = [responses[500]?.description, ...(answer.status === 503 ? [requestErrors.unavailable.message] : [])];
    const { message } = (answer.body as { error: { message: string } }).error;
    if (!texts.includes(message)) throw new Error(`${where} is documented with ${texts.join(' or ')}, not ${message}`);
  }

  function must(where: string, pointer: string, body: unknown, from = DOCUMENT): void {
    const validate = validatorOf(pointer, from);
    if (!validate(body))
      throw new Error(`${where} is not as documented: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
  }

  return { check, document };
}
export type Contract = ReturnType<typeof createContract>;
