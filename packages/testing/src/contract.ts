import {
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
const ERROR = '#/components/schemas/Error';

function escapePointer(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** Checks answers against the OpenAPI document: the status is documented, and the body fits its schema. */
export function createContract(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, formats: fullFormats, allErrors: true });
  ajv.addSchema(document, DOCUMENT);
  const routes = Object.keys(document.paths)
    .map((path) => ({ path, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }))
    // static segments win, as in the router
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  const validators = new Map<string, ValidateFunction>();

  function validatorOf(pointer: string): ValidateFunction {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `${DOCUMENT}#${pointer}` });
    validators.set(pointer, known);
    return known;
  }

  /** @throws Error with the difference from the document */
  function check(method: string, pathname: string, answer: RestAnswer): void {
    const verb = method.toLowerCase();
    const route = routes.find(({ path, pattern }) => pattern.test(pathname) && document.paths[path]?.[verb]);
    const where = `${method} ${route?.path ?? pathname} ${answer.status}`;
    if (!route) return must(where, ERROR.slice(1), answer.body);
    const responses = document.paths[route.path]?.[verb]?.responses ?? {};
    const given = responses[answer.status];
    if (!given) throw new Error(`${where} is not documented: ${JSON.stringify(answer.body)}`);
    const response = resolveReference<Response>(document, given);
    for (const [name, header] of Object.entries(response.headers ?? {}))
      if (resolveReference<Header>(document, header).required && !answer.headers.has(name))
        throw new Error(`${where} is documented with the header ${name}`);
    if (!response.content) {
      if (answer.body !== undefined) throw new Error(`${where} is documented without a body`);
      return;
    }
    const inRoute = ['', 'paths', route.path, verb, 'responses', String(answer.status)].map(escapePointer).join('/');
    const pointer = '$ref' in given ? given.$ref.slice(1) : inRoute;
    must(where, `${pointer}/content/application~1json/schema`, answer.body);
    if (response.content['application/json']?.schema['$ref'] !== ERROR) return;
    // operations share the answers to failures, and say their own text beside the reference to 500
    const texts = [responses[500]?.description, ...(answer.status === 503 ? [requestErrors.unavailable.message] : [])];
    const { message } = (answer.body as { error: { message: string } }).error;
    if (!texts.includes(message)) throw new Error(`${where} is documented with ${texts.join(' or ')}, not ${message}`);
  }

  function must(where: string, pointer: string, body: unknown): void {
    const validate = validatorOf(pointer);
    if (!validate(body))
      throw new Error(`${where} is not as documented: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
  }

  return { check, document };
}
export type Contract = ReturnType<typeof createContract>;
