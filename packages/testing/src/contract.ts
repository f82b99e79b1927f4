import type { OpenApiDocument } from '@tandem/core';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fullFormats } from 'ajv-formats/dist/formats.js';

/** An answer on the REST face. */
export interface RestAnswer {
  status: number;
  headers: Headers;
  /** Parsed JSON; undefined when there is none. */
  body: unknown;
}

const DOCUMENT = 'https://tandem.test/openapi';

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
    if (!route) return must(where, '/components/schemas/Error', answer.body);
    const response = document.paths[route.path]?.[verb]?.responses[answer.status] as
      { content?: object; headers?: Record<string, { required?: boolean }> } | undefined;
    if (!response) throw new Error(`${where} is not documented: ${JSON.stringify(answer.body)}`);
    for (const [name, { required }] of Object.entries(response.headers ?? {}))
      if (required && !answer.headers.has(name)) throw new Error(`${where} is documented with the header ${name}`);
    if (!response.content) {
      if (answer.body !== undefined) throw new Error(`${where} is documented without a body`);
      return;
    }
    const pointer = ['paths', route.path, verb, 'responses', String(answer.status), 'content', 'application/json', 'schema'];
    must(where, pointer.map((part) => `/${escapePointer(part)}`).join(''), answer.body);
  }

  function must(where: string, pointer: string, body: unknown): void {
    const validate = validatorOf(pointer);
    if (!validate(body))
      throw new Error(`${where} is not as documented: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`);
  }

  return { check, document };
}
export type Contract = ReturnType<typeof createContract>;
