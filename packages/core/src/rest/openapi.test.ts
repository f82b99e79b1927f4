import type { AnyTRPCRouter } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  admin,
  allOf,
  allow,
  anyOf,
  authenticated,
  authenticationErrors,
  createOpenApiDocument,
  defineErrors,
  notGuest,
  publicProcedure,
  rest,
  router,
  self,
  type ErrorDefinition,
  type OpenApiOptions,
} from '../index.js';

const errors = defineErrors('things', {
  gone: [404, 'Thing not found'],
  lost: [404, 'Thing is lost'],
  taken: [409, 'Thing {name} (of {owner}) is taken'],
  busy: [409, 'Thing is busy'],
});
const meta = (route: Parameters<typeof rest>[0], options = {}) =>
  rest(route, { summary: 'Summary', failure: 'Failed', ...options });
const KEY = { name: 'x-key', description: 'A key.', schema: { type: 'string' } };
const Label = z.strictObject({ text: z.string() }).meta({ id: 'Label' });
const Thing = z.strictObject({ id: z.string(), name: z.string(), note: z.string().optional() });

/** Made within each test, so that the tests of a changed line are known. */
const appOf = () =>
  router({
    things: router({
      read: publicProcedure.meta(meta('GET /things/{id}', { errors: [errors.gone], headers: [KEY] })).input(z.strictObject({ id: z.string() })).output(Thing).query(() => ({}) as never), // prettier-ignore
      create: authenticated.meta(meta('POST /things', { status: 201, errors: [errors.taken, errors.busy] })).input(Thing.omit({ id: true }).refine(() => true)).output(Thing).mutation(() => ({}) as never), // prettier-ignore
      change: publicProcedure.meta(meta('PATCH /things/{id}', { mayBeEmpty: true })).input(z.strictObject({ id: z.string(), name: z.string().optional() })).output(Thing).mutation(() => ({}) as never), // prettier-ignore
      remove: publicProcedure.meta(meta('DELETE /things/{id}', { status: 204, hasBody: true })).input(z.strictObject({ id: z.string(), why: z.string(), also: z.string().optional() })).output(z.void()).mutation(() => {}), // prettier-ignore
      list: publicProcedure.meta(meta('PUT /things', { headers: [KEY], bodyKey: 'all' })).input(z.strictObject({ all: z.array(z.string()) })).output(z.void()).mutation(() => {}), // prettier-ignore
      clear: publicProcedure.meta(meta('DELETE /things', { hasBody: true })).input(z.strictObject({ why: z.string().optional() })).output(Label).mutation(() => ({}) as never), // prettier-ignore
      hidden: publicProcedure.output(z.void()).query(() => {}),
    }),
    secrets: router({
      read: authenticated.meta(meta('GET /secrets')).output(z.void()).query(() => {}), // prettier-ignore
      change: authenticated.use(allow(notGuest)).use(allow(admin)).meta(meta('PUT /secrets')).output(z.void()).mutation(() => {}), // prettier-ignore
      delete: authenticated.use(allow(allOf(notGuest, anyOf(admin, self('ownerId'))))).meta(meta('DELETE /secrets')).output(z.void()).mutation(() => {}), // prettier-ignore
    }),
  });

const documentOf = ({ app = appOf() as AnyTRPCRouter, ...options }: Partial<OpenApiOptions> & { app?: AnyTRPCRouter } = {}) =>
  createOpenApiDocument(app, {
    title: 'Things',
    description: 'Of a test.',
    version: '1.2.3',
    url: 'https://api.example.org',
    authModeOf: (service) => (service === 'secrets' ? 'cookie' : 'bearer'),
    ...options,
  });
const operation = (method: string, path: string) => documentOf().paths[path]?.[method];
const jsonOf = (schema: object) => ({ 'application/json': { schema } });
const ERROR = { $ref: '#/components/schemas/Error' };
const envelope = (message: object) => jsonOf({ allOf: [ERROR, { properties: { error: { properties: { message } } } }] });
/** An answer of an operation, as its component, with the component's name. */
function answerOf(method: string, path: string, status: number) {
  const { components, paths } = documentOf();
  const { $ref = '' } = (paths[path]?.[method]?.responses[status] ?? {}) as { $ref?: string };
  const name = $ref.replace('#/components/responses/', '');
  return { name, ...components.responses[name] };
}

describe('the OpenAPI document', () => {
  it('says who may call each operation, in its description and as a field', () => {
    const said = (method: string, path: string) => operation(method, path)?.['x-who'];
    expect([said('get', '/secrets'), said('put', '/things')]).toEqual(['anybody who is signed in', 'anybody']);
    expect(said('put', '/secrets')).toBe('anybody but a guest; an admin');
    expect(operation('delete', '/secrets')).toMatchObject({
      description: 'Who may call it: anybody but a guest; an admin or the identity that ownerId names.',
      'x-who': 'anybody but a guest; an admin or the identity that ownerId names',
    });
  });

  it('names its server and the ways to sign in', () => {
    const document = documentOf();
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Things', description: 'Of a test.', version: '1.2.3' },
      servers: [{ url: 'https://api.example.org' }],
    });
    expect(document.components['securitySchemes']).toEqual({
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: 'The access token, or the token of a link where the operation says so.',
      },
      cookie: { type: 'apiKey', in: 'cookie', name: 'accessToken', description: 'The access token in cookie mode.' },
    });
    expect(documentOf({ cookiePrefix: '__Host-' }).components['securitySchemes']).toMatchObject({
      cookie: { name: '__Host-accessToken' },
    });
  });

  it('has every procedure with a route, by its tRPC name and service', () => {
    const all = Object.values(documentOf().paths).flatMap((path) => Object.values(path));
    const service = (name: string) => name.split('.', 1);
    expect(all.map(({ tags }) => tags)).toEqual(all.map(({ operationId }) => service(operationId)));
    expect(all.map(({ operationId }) => operationId).toSorted()).toEqual([
      'secrets.change',
      'secrets.delete',
      'secrets.read',
      'things.change',
      'things.clear',
      'things.create',
      'things.list',
      'things.read',
      'things.remove',
    ]);
  });

  it('gives the security of each service by its mode, none where there is no caller', () => {
    expect(operation('get', '/things/{id}')?.security).toEqual([]);
    expect(operation('post', '/things')?.security).toEqual([{ bearer: [] }]);
    expect(operation('get', '/secrets')?.security).toEqual([{ cookie: [] }]);
  });

  it('has an optional token where one may be refused but none is required, and likewise the fingerprint', () => {
    const { malformedHeader, malformedFingerprint } = authenticationErrors;
    const ends = (route: `POST /${string}`, errors: ErrorDefinition[]) => publicProcedure.meta(meta(route, { errors })).output(z.void()).mutation(() => {}); // prettier-ignore
    const app = router({ token: ends('POST /token', [malformedHeader]), device: ends('POST /device', [malformedFingerprint]) });
    const { paths } = documentOf({ app });
    expect(paths['/token']?.post).toMatchObject({ security: [{ bearer: [] }, {}] });
    expect(paths['/token']?.post).not.toHaveProperty('parameters');
    expect(paths['/device']?.post).toMatchObject({ security: [], parameters: [{ name: 'x-nb-fingerprint', in: 'header' }] });
    expect(operation('get', '/secrets')?.parameters).toEqual([{ $ref: '#/components/parameters/x-nb-fingerprint' }]);
  });

  it('has the contact, the licence and what services are for, as the host says', () => {
    const contact = { name: 'Ann', email: 'ann@example.org' };
    const license = { name: 'MIT', identifier: 'MIT' };
    const tags = [
      { name: 'things', description: 'Things.' },
      { name: 'nothing', description: 'Nothing.' },
    ];
    expect(documentOf({ contact, license, tags })).toMatchObject({ info: { contact, license } });
    expect(documentOf({ tags }).tags).toEqual([{ name: 'secrets' }, { name: 'things', description: 'Things.' }]);
  });

  it.each([
    ['get', '/things/{id}', ['200', '400', '404', '500', '503', '403']],
    ['post', '/things', ['201', '400', '401', '403', '409', '413', '415', '422', '429', '500', '503']],
    ['patch', '/things/{id}', ['200', '204', '400', '403', '413', '415', '429', '500', '503']],
    ['delete', '/things/{id}', ['204', '400', '403', '413', '415', '429', '500', '503']],
    ['get', '/secrets', ['200', '401', '403', '422', '500', '503']],
  ])('lists every status of %s %s', (method, path, statuses) => {
    expect(Object.keys(operation(method, path)?.responses ?? {})).toEqual(statuses.toSorted());
  });

  it('lists every text of an error, as a pattern where it has parameters', () => {
    expect(answerOf('post', '/things', 409)).toEqual({
      name: '409',
      description: 'Thing {name} (of {owner}) is taken; Thing is busy',
      content: envelope({
        anyOf: [
          { enum: ['Thing is busy'] },
          { type: 'string', pattern: '^Thing .* \\(of .*\\) is taken$', examples: ['Thing {name} (of {owner}) is taken'] },
        ],
      }),
    });
    expect(answerOf('get', '/things/{id}', 404)).toMatchObject({
      description: 'Thing not found',
      content: envelope({ enum: ['Thing not found'] }),
    });
  });

  it('says of each operation with which text it fails, and shares the rest of that answer', () => {
    expect(operation('post', '/things')?.responses['500']).toEqual({ $ref: '#/components/responses/500', description: 'Failed' });
    expect(answerOf('post', '/things', 500)).toMatchObject({ name: '500', content: jsonOf(ERROR) });
    expect(answerOf('post', '/things', 503)).toMatchObject({
      name: '503',
      description: 'The server is not available: the text of 500, or Service Unavailable',
      content: jsonOf(ERROR),
    });
  });

  it('describes what a successful answer contains, if anything', () => {
    expect(operation('post', '/things')?.responses['201']).toMatchObject({
      description: 'Success',
      content: { 'application/json': { schema: { type: 'object' } } },
    });
    expect(answerOf('delete', '/things/{id}', 204)).toEqual({ name: '204', description: 'No content' });
  });

  it('shares successful answers whose content has a name', () => {
    expect(answerOf('delete', '/things', 200)).toEqual({
      name: '200',
      description: 'Success',
      content: jsonOf({ $ref: '#/components/schemas/Label' }),
    });
  });

  it('describes an id by its name if nothing else does, in parameters and bodies', () => {
    const Id = z.uuid().meta({ id: 'Id', examples: ['0198c0de-5a5a-7000-8000-2f9d1c4b7e60'] });
    const input = z.strictObject({ bigThingId: Id, makerId: Id, otherId: Id.describe('Another.'), name: z.string() });
    const app = router({
      send: publicProcedure
        .meta(meta('POST /things/{bigThingId}'))
        .input(input)
        .output(z.void())
        .mutation(() => {}),
    });
    const { parameters = [], requestBody } = documentOf({ app }).paths['/things/{bigThingId}']?.post ?? {};
    expect(parameters).toEqual([
      {
        name: 'bigThingId',
        in: 'path',
        required: true,
        description: 'The id of the big thing.',
        example: '0198c0de-5a5a-7000-8000-2f9d1c4b7e60',
        schema: { $ref: '#/components/schemas/Id' },
      },
    ]);
    const $ref = '#/components/schemas/Id';
    expect(requestBody?.content['application/json']?.schema).toMatchObject({
      properties: {
        makerId: { $ref, description: 'The id of the maker.' },
        otherId: { $ref, description: 'Another.' },
        name: { type: 'string' },
      },
    });
  });

  it('gives parameters an example that follows from their schema, and integers no bounds that say nothing', () => {
    const input = z.strictObject({ kind: z.enum(['a', 'b']), count: z.number().int(), from: z.number().int().min(0), all: z.boolean() }); // prettier-ignore
    const app = router({
      ask: publicProcedure
        .meta(meta('GET /things'))
        .input(input)
        .output(z.void())
        .query(() => {}),
    });
    const { parameters = [] } = documentOf({ app }).paths['/things']?.get ?? {};
    expect(parameters).toMatchObject([{ example: 'a' }, { example: 1 }, { example: 0 }, { example: true }]);
    expect(parameters[1]).toMatchObject({ name: 'count', schema: { type: 'integer' } });
    expect(JSON.stringify(parameters)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  it('has one component for each status and set of messages, in any order', () => {
    const route = (errors: ErrorDefinition[]) => publicProcedure.meta(meta(`GET /${routes++}`, { errors })).output(z.void()).query(() => {}); // prettier-ignore
    let routes = 0;
    const { gone, lost } = errors;
    const app = router({ a: route([gone, lost]), b: route([lost, gone]), c: route([lost, gone, lost]), d: route([gone]), e: route([lost]), f: route([{ status: 404, message: 'Thing is lost' }]) }); // prettier-ignore
    const { paths, components } = documentOf({ app });
    const references = Object.values(paths).map(({ get }) => get?.responses['404']);
    // the set of more than half of the operations is named by its status alone
    const [ofAll, ofTwo, ofOne] = ['404-things.lost', '404-things.gone', '404-things.lost-2'].map((name) => ({ $ref: `#/components/responses/${name}` })); // prettier-ignore
    expect(references).toEqual([ofAll, ofAll, ofAll, ofTwo, ofOne, ofOne]);
    expect(Object.keys(components.responses)).toEqual(['403', '500', '503', '404-things.lost', '404-things.gone', '404-things.lost-2']); // prettier-ignore
  });

  it('declares headers once: those of the server for every answer, and when to retry', () => {
    const header = { description: 'A number.', schema: { type: 'integer' } };
    const { components, paths } = documentOf({ headers: { 'x-number': header } });
    const number = { 'x-number': { $ref: '#/components/headers/x-number' } };
    const retry = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } };
    expect(components.headers).toEqual({
      'x-number': header,
      'Retry-After': { description: 'Seconds after which a retry makes sense.', schema: { type: 'integer', minimum: 1 } },
    });
    const headersOf = ([status, response]: [string, object]) => [status, (response as { headers?: object }).headers];
    expect(Object.fromEntries(Object.entries(components.responses).map(headersOf))).toMatchObject({
      '204': number,
      '400': number,
      '429': { ...number, ...retry },
      '503': { ...number, ...retry },
    });
    expect(components.responses['400']?.headers).toEqual(number);
    expect(paths['/things']?.post?.responses['201']).toMatchObject({ headers: number });
    expect(documentOf().components.responses['400']).not.toHaveProperty('headers');
  });

  it('describes once the envelope, and each schema with a name', () => {
    const { components } = documentOf();
    expect(Object.keys(components.schemas)).toEqual(['Label', 'Error']);
    expect(components.schemas['Label']).toMatchObject({ type: 'object', required: ['text'] });
    expect(components.schemas['Error']).toMatchObject({
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
    });
  });

  it('describes bodies: without unknown fields, required where a field is, of a DELETE, of a list', () => {
    const bodyOf = (method: string, path: string) => {
      const { required, content } = operation(method, path)?.requestBody ?? { content: {} };
      return { required, schema: content['application/json']?.schema };
    };
    expect(bodyOf('post', '/things')).toMatchObject({
      required: true,
      schema: { type: 'object', required: ['name'], additionalProperties: false },
    });
    expect(bodyOf('patch', '/things/{id}')).toMatchObject({ required: false, schema: { additionalProperties: false } });
    expect(bodyOf('delete', '/things/{id}')).toEqual({
      required: true,
      schema: {
        type: 'object',
        properties: { why: { type: 'string' }, also: { type: 'string' } },
        required: ['why'],
        additionalProperties: false,
      },
    });
    const optional = { type: 'object', properties: { why: { type: 'string' } }, additionalProperties: false };
    expect(bodyOf('delete', '/things')).toStrictEqual({ required: false, schema: optional });
    expect(operation('delete', '/things/{id}')?.parameters).toMatchObject([{ in: 'path', name: 'id' }]);
    expect(bodyOf('put', '/things')).toEqual({ required: true, schema: { type: 'array', items: { type: 'string' } } });
  });

  it('describes the headers that a procedure reads, after its other parameters', () => {
    const header = { in: 'header', ...KEY };
    expect(operation('put', '/things')?.parameters).toEqual([header]);
    expect(operation('get', '/things/{id}')?.parameters).toMatchObject([{ in: 'path', name: 'id' }, header]);
    expect(operation('put', '/things')?.parameters).toHaveLength(1);
  });

  it('describes a parameter on itself, and shares it where four operations have it', () => {
    const Name = z
      .string()
      .max(9)
      .meta({ description: 'A name.', examples: ['Ann', 'Ben'], deprecated: true });
    const reading = (route: `GET /${string}`) => publicProcedure.meta(meta(route)).input(z.strictObject({ $name: Name.optional(), id: z.string() })).output(z.void()).query(() => {}); // prettier-ignore
    const appWith = (count: number) =>
      router(Object.fromEntries(Array.from({ length: count }, (_, n) => [`r${n}`, reading(`GET /r${n}/{id}`)])));
    const described = {
      name: '$name',
      in: 'query',
      deprecated: true,
      description: 'A name.',
      example: 'Ann',
      schema: { type: 'string', maxLength: 9 },
    };
    const parametersOf = (count: number) => documentOf({ app: appWith(count) }).paths['/r0/{id}']?.get?.parameters;
    expect(parametersOf(3)?.[1]).toEqual(described);
    expect(parametersOf(4)).toEqual([{ $ref: '#/components/parameters/id' }, { $ref: '#/components/parameters/name' }]);
    expect(documentOf({ app: appWith(4) }).components.parameters['name']).toEqual(described);
  });
});
