import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KEY, asking, documentOf, operation } from '../../test/described-app.js';
import { publicProcedure, rest, router } from '../index.js';

describe('the OpenAPI document, of inputs', () => {
  it('describes an id by its name if nothing else does, in parameters and bodies', async () => {
    const Id = z.uuid().meta({ id: 'Id', examples: ['0198c0de-5a5a-7000-8000-2f9d1c4b7e60'] });
    const input = z.strictObject({ bigThingId: Id, makerId: Id, otherId: Id.describe('Another.'), name: z.string() });
    const app = router({
      send: asking('POST /things/{bigThingId}', input),
    });
    const { parameters = [], requestBody } = (await documentOf({ app })).paths['/things/{bigThingId}']?.post ?? {};
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

  it('gives parameters an example that follows from their schema, and integers no bounds that say nothing', async () => {
    const input = z.strictObject({ kind: z.enum(['a', 'b']), count: z.number().int(), from: z.number().int().min(0), all: z.boolean() }); // prettier-ignore
    const app = router({
      ask: asking('GET /things', input),
    });
    const { parameters = [] } = (await documentOf({ app })).paths['/things']?.get ?? {};
    expect(parameters).toMatchObject([{ example: 'a' }, { example: 1 }, { example: 0 }, { example: true }]);
    expect(parameters[1]).toMatchObject({ name: 'count', schema: { type: 'integer' } });
    expect(JSON.stringify(parameters)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });

  it('describes a body that may be a form as both, open to what a form adds', async () => {
    const send = publicProcedure
      .meta(rest('POST /things', { summary: 'Send', failure: 'Failed to send', isForm: true }))
      .input(z.looseObject({ text: z.string().optional() }))
      .output(z.void())
      .mutation(() => {});
    const { requestBody } = (await documentOf({ app: router({ send }) })).paths['/things']?.post ?? {};
    const [json, form] = ['application/json', 'application/x-www-form-urlencoded'].map(
      (type) => requestBody?.content[type]?.schema,
    );
    expect([requestBody?.required, form]).toEqual([false, json]);
    expect(form).toMatchObject({ type: 'object', properties: { text: { type: 'string' } } });
    expect(form?.additionalProperties).not.toBe(false);
  });

  it('describes bodies: without unknown fields, required where a field is, of a DELETE, of a list', async () => {
    const bodyOf = async (method: string, path: string) => {
      const { required, content } = (await operation(method, path))?.requestBody ?? { content: {} };
      return { required, schema: content['application/json']?.schema };
    };
    expect(await bodyOf('post', '/things')).toMatchObject({
      required: true,
      schema: { type: 'object', required: ['name'], additionalProperties: false },
    });
    expect(await bodyOf('patch', '/things/{id}')).toMatchObject({ required: false, schema: { additionalProperties: false } });
    expect(await bodyOf('delete', '/things/{id}')).toEqual({
      required: true,
      schema: {
        type: 'object',
        properties: { why: { type: 'string' }, also: { type: 'string' } },
        required: ['why'],
        additionalProperties: false,
      },
    });
    const optional = { type: 'object', properties: { why: { type: 'string' } }, additionalProperties: false };
    expect(await bodyOf('delete', '/things')).toStrictEqual({ required: false, schema: optional });
    expect((await operation('delete', '/things/{id}'))?.parameters).toMatchObject([{ in: 'path', name: 'id' }]);
    expect(await bodyOf('put', '/things')).toEqual({ required: true, schema: { type: 'array', items: { type: 'string' } } });
    // as tRPC names it
    expect(await operation('put', '/things')).toMatchObject({ 'x-codegen-request-body-name': 'all' });
  });

  it('describes the headers that a procedure reads, after its other parameters', async () => {
    const header = { in: 'header', ...KEY };
    expect((await operation('put', '/things'))?.parameters).toEqual([header]);
    expect((await operation('get', '/things/{id}'))?.parameters).toMatchObject([{ in: 'path', name: 'id' }, header]);
    expect((await operation('put', '/things'))?.parameters).toHaveLength(1);
  });

  it('describes a parameter on itself, and shares it where that is shorter', async () => {
    const Name = z
      .string()
      .max(9)
      .meta({ description: 'A name.', examples: ['Ann', 'Ben'], deprecated: true });
    const input = z.strictObject({ $name: Name.optional(), id: z.string() });
    const reading = (route: `GET /${string}`) => asking(route, input);
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
    const parametersOf = async (count: number) => (await documentOf({ app: appWith(count) })).paths['/r0/{id}']?.get?.parameters;
    expect((await parametersOf(2))?.[1]).toEqual(described);
    expect((await parametersOf(3))?.[1]).toEqual({ $ref: '#/components/parameters/name' });
    expect((await documentOf({ app: appWith(3) })).components.parameters['name']).toEqual(described);
  });
});
