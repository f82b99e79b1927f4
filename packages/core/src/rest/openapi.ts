import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type OpenApiRouter } from 'trpc-to-openapi';
import { ACCESS_COOKIE, FINGERPRINT_HEADER } from '../authentication.js';
import type { AuthMode, CookiePrefix } from '../context.js';
import { requestErrors, type ErrorDefinition } from '../errors.js';
import { middlewaresOf, operationsOf, serviceOf, type Operation } from '../operation.js';
import { declaredBy } from '../procedures.js';

type Json = Record<string, unknown>;

/** The parts of the generated document that are changed below. */
interface GeneratedOperation {
  operationId: string;
  description?: string;
  /** Who may call it, as a phrase. */
  'x-who'?: string;
  tags?: string[];
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required?: boolean; description?: string; schema?: Json }[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, Json>;
}
export interface OpenApiDocument {
  openapi: string;
  paths: Record<string, Record<string, GeneratedOperation>>;
  components: { schemas: Record<string, Json> } & Json;
}

/** What the document says of the server that publishes it. */
export interface OpenApiOptions {
  title: string;
  description: string;
  version: string;
  /** URL of the server, without a trailing slash. */
  url: string;
  authModeOf(service: string): AuthMode;
  /** Prefix of the server's cookies. Default none. */
  cookiePrefix?: CookiePrefix;
}

const securitySchemes = (cookiePrefix: CookiePrefix) =>
  ({
    bearer: { type: 'http', scheme: 'bearer', description: 'The access token.' },
    fingerprint: {
      type: 'apiKey',
      in: 'header',
      name: FINGERPRINT_HEADER,
      description: 'The device fingerprint, when one was given at login.',
    },
    cookie: { type: 'apiKey', in: 'cookie', name: cookiePrefix + ACCESS_COOKIE, description: 'The access token in cookie mode.' },
  }) as const;

const ERROR_SCHEMA: Json = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['message'],
      additionalProperties: false,
      properties: {
        message: { type: 'string' },
        data: { type: 'array', items: { type: 'string' }, description: 'The problems of a failed validation.' },
        stack: { type: 'string', description: 'Only in development.' },
      },
    },
  },
};

const REDIRECT_RESPONSE: Json = {
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

/** The schema of an error's message: the message itself, or a pattern where it has parameters. */
function messageSchema({ message }: ErrorDefinition): Json {
  if (!/\{\w+\}/.test(message)) return { const: message };
  const parts = message.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return { type: 'string', pattern: `^${parts.join('.*')}$`, examples: [message] };
}

function errorResponse(definitions: readonly ErrorDefinition[]): Json {
  const distinct = [...new Map(definitions.map((definition) => [definition.message, definition])).values()];
  const message = distinct.length === 1 ? messageSchema(distinct[0] as ErrorDefinition) : { anyOf: distinct.map(messageSchema) };
  return {
    description: distinct.map(({ message: text }) => text).join('; '),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { error: { properties: { message } } } }] },
      },
    },
  };
}

function securityOf(mode: AuthMode): Record<string, string[]>[] {
  const scheme = mode === 'cookie' ? 'cookie' : 'bearer';
  return [{ [scheme]: [] }, { [scheme]: [], fingerprint: [] }];
}

/** Moves the parameters of a DELETE with a body into the body; the generator makes query parameters of them. */
function moveToBody(generated: GeneratedOperation): void {
  const parameters = (generated.parameters ?? []) as { name: string; in: string; required?: boolean; schema?: Json }[];
  const inBody = parameters.filter((parameter) => parameter.in === 'query');
  generated.parameters = parameters.filter((parameter) => parameter.in !== 'query');
  const properties = Object.fromEntries(inBody.map(({ name, schema = {} }) => [name, schema]));
  const required = inBody.filter((parameter) => parameter.required).map(({ name }) => name);
  const schema = { type: 'object', properties, ...(required.length > 0 && { required }) };
  generated.requestBody = { content: { 'application/json': { schema } } };
}

/** Sets what the generator cannot express: success status, whole-array bodies, errors, security. */
function complete(generated: GeneratedOperation, operation: Operation, mode: AuthMode): void {
  generated.operationId = operation.name;
  generated.tags = [serviceOf(operation.name)];
  const who = whoOf(operation);
  generated.description = `Who may call it: ${who}.`;
  generated['x-who'] = who;
  if (isAuthenticated(operation)) generated.security = securityOf(mode);
  else delete generated.security;

  const headers = operation.options.headers?.map((header) => ({ in: 'header', required: false, ...header })) ?? [];
  if (headers.length > 0) generated.parameters = [...(generated.parameters ?? []), ...headers];

  const success = generated.responses['200'] ?? {};
  const byStatus = new Map<number, ErrorDefinition[]>();
  for (const error of errorsOf(operation)) byStatus.set(error.status, [...(byStatus.get(error.status) ?? []), error]);
  generated.responses = {
    ...(operation.status === 204
      ? {}
      : { [operation.status]: operation.status === 302 ? REDIRECT_RESPONSE : { ...success, description: 'Success' } }),
    ...(operation.status === 204 || operation.options.mayBeEmpty ? { 204: { description: 'No content' } } : {}),
    ...Object.fromEntries([...byStatus].map(([status, errors]) => [status, errorResponse(errors)])),
  };

  if (operation.method === 'DELETE' && operation.hasBody) moveToBody(generated);
  const schema = generated.requestBody?.content['application/json']?.schema;
  if (!generated.requestBody || !schema) return;
  const properties = (schema.properties ?? {}) as Json;
  if (operation.bodyKey !== undefined)
    generated.requestBody.content['application/json'] = { schema: properties[operation.bodyKey] as Json };
  // the generator loses it for schemas with refinements
  else schema.additionalProperties = false;
  generated.requestBody.required = operation.bodyKey !== undefined || ((schema.required ?? []) as string[]).length > 0;
}

/** Makes the OpenAPI 3.1 document of all operations (decisions T1, T7). */
export function createOpenApiDocument(router: AnyTRPCRouter, options: OpenApiOptions): OpenApiDocument {
  const document = generateOpenApiDocument(router as OpenApiRouter, {
    title: options.title,
    description: options.description,
    version: options.version,
    baseUrl: options.url,
    openApiVersion: '3.1.0',
    securitySchemes: securitySchemes(options.cookiePrefix ?? ''),
  }) as unknown as OpenApiDocument;
  document.components.schemas = { ...document.components.schemas, Error: ERROR_SCHEMA };
  for (const operation of operationsOf(router)) {
    const generated = document.paths[operation.path]?.[operation.method.toLowerCase()];
    if (generated) complete(generated, operation, options.authModeOf(serviceOf(operation.name)));
  }
  return document;
}
