import type { AnyTRPCRouter } from '@trpc/server';
import type { OpenApiRouter } from 'trpc-to-openapi';
import type { AuthMode, CookiePrefix } from '../context.js';
import { requestErrors, type ErrorDefinition } from '../errors.js';
import { middlewaresOf, operationsOf, serviceOf, type Operation } from '../operation.js';
import { declaredBy } from '../procedures.js';
import { describedParameter, shareParameters } from './openapi-parameters.js';
import { ERROR_SCHEMA, createResponses, type Responses } from './openapi-responses.js';
import { describeIds, dropIntegerBounds } from './openapi-schemas.js';
import { credentialHeaders, securityOf, securitySchemes } from './openapi-security.js';
import type { DescribedOperation, Header, Json, OpenApiDocument, Parameter, Response } from './openapi-types.js';

/** What the document says of the server that publishes it. */
export interface OpenApiOptions {
  title: string;
  description: string;
  version: string;
  /** URL of the server, without a trailing slash. */
  url: string;
  authModeOf(service: string): AuthMode;
  /** Services that no API key reaches. Default none. */
  keylessServices?: ReadonlySet<string>;
  /** Prefix of the server's cookies. Default none. */
  cookiePrefix?: CookiePrefix;
  /** Whom to ask about the interface, and its licence. Default none. */
  contact?: { name?: string; url?: string; email?: string };
  license?: { name: string; url?: string; identifier?: string };
  /** What services are for, by name. Those that no operation belongs to are left out. */
  tags?: readonly { name: string; description: string }[];
  /** Headers of every answer, by name. Default none. */
  headers?: Readonly<Record<string, Header>>;
}

const REDIRECT_RESPONSE: Response = {
  description: 'Found',
  headers: { Location: { required: true, schema: { type: 'string', format: 'uri' }, description: 'Where to go on.' } },
};

/**
 * Every error that an operation can answer with: its own, those of its authentication and rules, and those of any
 * request. The single source for documents and tests.
 */
export function errorsOf(operation: Operation): ErrorDefinition[] {
  const { invalid, tooLarge, tooMany, unsupportedType } = requestErrors;
  const ofInput = [...(operation.schema ? [invalid] : []), ...(operation.hasBody ? [tooLarge, unsupportedType, tooMany] : [])];
  const ofFailure = [
    { status: 500 as const, message: operation.options.failure },
    { status: 503 as const, message: operation.options.failure },
    requestErrors.unavailable,
  ];
  const ofMiddlewares = declaredBy(middlewaresOf(operation.procedure)).flatMap(({ errors }) => errors);
  return [...ofInput, ...ofMiddlewares, ...(operation.options.errors ?? []), ...ofFailure];
}

function isAuthenticated({ procedure }: Operation): boolean {
  return declaredBy(middlewaresOf(procedure)).some(({ isAuthentication }) => isAuthentication);
}

/**
 * Who may call an operation, as a phrase: `anybody but a guest; an admin or the owner of the channel`. A semicolon
 * joins conditions that must all hold.
 */
export function whoOf(operation: Operation): string {
  if (!isAuthenticated(operation)) return 'anybody';
  const allowed = declaredBy(middlewaresOf(operation.procedure)).flatMap(({ says }) => says ?? []);
  return allowed.length > 0 ? allowed.join('; ') : 'anybody who is signed in';
}

/** Moves the parameters of a DELETE with a body into the body; the generator makes query parameters of them. */
function moveToBody(generated: DescribedOperation): void {
  const parameters = (generated.parameters ?? []) as Parameter[];
  const inBody = parameters.filter((parameter) => parameter.in === 'query');
  generated.parameters = parameters.filter((parameter) => parameter.in !== 'query');
  const properties = Object.fromEntries(inBody.map(({ name, schema }) => [name, schema]));
  const required = inBody.filter((parameter) => parameter.required).map(({ name }) => name);
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  generated.requestBody = { content: { 'application/json': { schema } } };
}

/** Sets what the generator cannot express of a body: one that is an array, closed objects, whether it is required. */
function completeBody({ requestBody }: DescribedOperation, { bodyKey, options }: Operation): void {
  const schema = requestBody?.content['application/json']?.schema;
  if (!requestBody || !schema) return;
  const properties = (schema.properties ?? {}) as Json;
  if (bodyKey !== undefined) requestBody.content['application/json'] = { schema: properties[bodyKey] as Json };
  // what a form adds is ignored
  else if (options.isForm) requestBody.content['application/x-www-form-urlencoded'] = { schema };
  // the generator loses it for schemas with refinements
  else schema.additionalProperties = false;
  requestBody.required = bodyKey !== undefined || ((schema.required ?? []) as string[]).length > 0;
}

/** All answers of an operation, by status; the generator knows only the content of the successful one. */
function responsesOf(operation: Operation, content: Response['content'], responses: Responses): DescribedOperation['responses'] {
  const { status, options } = operation;
  const success = status === 302 ? REDIRECT_RESPONSE : { description: 'Success', ...(content && { content }) };
  return {
    ...(status !== 204 && { [status]: responses.success(status, success) }),
    ...(options.mayBeUnchanged && { 304: responses.unchanged() }),
    ...((status === 204 || options.mayBeEmpty) && { 204: responses.empty() }),
    ...responses.errorsOf(errorsOf(operation), options.failure),
  };
}

/** Sets what the generator cannot express. */
function complete(
  generated: DescribedOperation,
  operation: Operation,
  {
    responses,
    schemas,
    ...access
  }: { mode: AuthMode; isKeyless: boolean; responses: Responses; schemas: Readonly<Record<string, Json>> },
): void {
  generated.operationId = operation.name;
  generated.tags = [serviceOf(operation.name)];
  const who = whoOf(operation);
  generated.description = `Who may call it: ${who}.`;
  generated['x-who'] = who;
  const errors = errorsOf(operation);
  generated.security = securityOf(isAuthenticated(operation), errors, access);

  if (operation.method === 'DELETE' && operation.hasBody) moveToBody(generated);
  completeBody(generated, operation);
  if (operation.bodyKey !== undefined) generated['x-codegen-request-body-name'] = operation.bodyKey;
  describeIds(generated.requestBody);
  const headers = (operation.options.headers ?? []).map((header) => ({ in: 'header', ...header }));
  const given = ((generated.parameters ?? []) as Parameter[]).map((one) => describedParameter(one, schemas));
  const parameters = [...given, ...headers, ...credentialHeaders(errors)];
  if (parameters.length > 0) generated.parameters = parameters;
  else delete generated.parameters;
  const success: Response = generated.responses['200'] ?? {};
  generated.responses = responsesOf(operation, success.content, responses);
}

/** Makes the OpenAPI 3.1 document of all operations (decisions T1, T7). */
export async function createOpenApiDocument(router: AnyTRPCRouter, options: OpenApiOptions): Promise<OpenApiDocument> {
  // loaded on demand: it takes a tenth of the start, and of the memory then
  const { generateOpenApiDocument } = await import('trpc-to-openapi');
  const document = generateOpenApiDocument(router as OpenApiRouter, {
    title: options.title,
    description: options.description,
    version: options.version,
    baseUrl: options.url,
    ...(options.contact && { contact: options.contact }),
    ...(options.license && { license: options.license }),
    openApiVersion: '3.1.0',
  }) as unknown as OpenApiDocument;
  dropIntegerBounds(document);
  const responses = createResponses(options.headers ?? {});
  const described = operationsOf(router).flatMap((operation) => {
    const generated = document.paths[operation.path]?.[operation.method.toLowerCase()];
    const service = serviceOf(operation.name);
    const access = { mode: options.authModeOf(service), isKeyless: options.keylessServices?.has(service) ?? false };
    if (generated) complete(generated, operation, { ...access, responses, schemas: document.components.schemas ?? {} });
    return generated ?? [];
  });
  const services = new Set(described.map(({ operationId }) => serviceOf(operationId)));
  const tags = new Map((options.tags ?? []).map((tag) => [tag.name, tag]));
  const schemes = new Set(described.flatMap(({ security = [] }) => security.flatMap((one) => Object.keys(one))));
  document.tags = [...services].sort().map((name) => tags.get(name) ?? { name });
  document.components = {
    ...document.components,
    schemas: { ...document.components.schemas, Error: ERROR_SCHEMA },
    responses: responses.finish(),
    parameters: shareParameters(described),
    headers: responses.headers,
    securitySchemes: securitySchemes(options.cookiePrefix ?? '', schemes),
  };
  return document;
}
