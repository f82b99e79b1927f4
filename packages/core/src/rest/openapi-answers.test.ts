import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ERROR, answerOf, documentOf, envelope, errors, jsonOf, meta, operation } from '../../test/described-app.js';
import { publicProcedure, router, type ErrorDefinition } from '../index.js';

describe('the OpenAPI document, of answers', () => {
  it.each([
    ['get', '/things/{id}', ['200', '400', '404', '500', '503', '403']],
    ['post', '/things', ['201', '400', '401', '403', '409', '413', '415', '422', '429', '500', '503']],
    ['patch', '/things/{id}', ['200', '204', '400', '403', '413', '415', '429', '500', '503']],
    ['delete', '/things/{id}', ['204', '400', '403', '413', '415', '429', '500', '503']],
    ['get', '/secrets', ['200', '401', '403', '422', '500', '503']],
  ])('lists every status of %s %s', async (method, path, statuses) => {
    expect(Object.keys((await operation(method, path))?.responses ?? {})).toEqual(statuses.toSorted());
  });

  it('lists every text of an error, as a pattern where it has parameters', async () => {
    expect(await answerOf('post', '/things', 409)).toEqual({
      name: '409',
      description: 'Thing {name} (of {owner}) is taken; Thing is busy',
      content: envelope({
        anyOf: [
          { enum: ['Thing is busy'] },
          { type: 'string', pattern: '^Thing .* \\(of .*\\) is taken$', examples: ['Thing {name} (of {owner}) is taken'] },
        ],
      }),
    });
    expect(await answerOf('get', '/things/{id}', 404)).toMatchObject({
      description: 'Thing not found',
      content: envelope({ enum: ['Thing not found'] }),
    });
  });

  it('says of each operation with which text it fails, and shares the rest of that answer', async () => {
    expect((await operation('post', '/things'))?.responses['500']).toEqual({
      $ref: '#/components/responses/500',
      description: 'Failed',
    });
    expect(await answerOf('post', '/things', 500)).toMatchObject({ name: '500', content: jsonOf(ERROR) });
    expect(await answerOf('post', '/things', 503)).toMatchObject({
      name: '503',
      description: 'The server is not available: the text of 500, or Service Unavailable',
      content: jsonOf(ERROR),
    });
  });

  it('describes what a successful answer contains, if anything', async () => {
    expect((await operation('post', '/things'))?.responses['201']).toMatchObject({
      description: 'Success',
      content: { 'application/json': { schema: { type: 'object' } } },
    });
    expect(await answerOf('delete', '/things/{id}', 204)).toEqual({ name: '204', description: 'No content' });
  });

  it('shares successful answers whose content has a name', async () => {
    expect(await answerOf('delete', '/things', 200)).toEqual({
      name: '200',
      description: 'Success',
      content: jsonOf({ $ref: '#/components/schemas/Label' }),
    });
  });

  it('has one component for each status and set of messages, in any order', async () => {
    const route = (errors: ErrorDefinition[]) => publicProcedure.meta(meta(`GET /${routes++}`, { errors })).output(z.void()).query(() => {}); // prettier-ignore
    let routes = 0;
    const { gone, lost } = errors;
    const app = router({ a: route([gone, lost]), b: route([lost, gone]), c: route([lost, gone, lost]), d: route([gone]), e: route([lost]), f: route([{ status: 404, message: 'Thing is lost' }]) }); // prettier-ignore
    const { paths, components } = await documentOf({ app });
    const references = Object.values(paths).map(({ get }) => get?.responses['404']);
    // the set of more than half of the operations is named by its status alone
    const [ofAll, ofTwo, ofOne] = ['404-things.lost', '404-things.gone', '404-things.lost-2'].map((name) => ({ $ref: `#/components/responses/${name}` })); // prettier-ignore
    expect(references).toEqual([ofAll, ofAll, ofAll, ofTwo, ofOne, ofOne]);
    expect(Object.keys(components.responses)).toEqual(['403', '500', '503', '404-things.lost', '404-things.gone', '404-things.lost-2']); // prettier-ignore
  });

  it('declares headers once: those of the server and the code of an error where it fails, and when to retry', async () => {
    const header = { description: 'A number.', schema: { type: 'integer' } };
    const { components, paths } = await documentOf({ headers: { 'x-number': header } });
    const number = { 'x-number': { $ref: '#/components/headers/x-number' } };
    const retry = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } };
    const code = { 'x-error-code': { $ref: '#/components/headers/x-error-code' } };
    expect(components.headers).toEqual({
      'x-number': header,
      'x-error-code': expect.objectContaining({ required: true }) as unknown,
      RateLimit: expect.objectContaining({ schema: { type: 'string' } }) as unknown,
      'RateLimit-Policy': expect.objectContaining({ schema: { type: 'string' } }) as unknown,
      'Retry-After': { description: 'Seconds after which a retry makes sense.', schema: { type: 'integer', minimum: 1 } },
    });
    const headersOf = ([status, response]: [string, object]) => [status, (response as { headers?: object }).headers];
    const headers = Object.fromEntries(Object.entries(components.responses).map(headersOf));
    expect(headers).toMatchObject({ '429': retry, '500': { ...number, ...code }, '503': { ...number, ...code, ...retry } });
    for (const status of ['204', '400']) expect(headers[status], status).toBeUndefined();
    expect(paths['/things']?.post?.responses['201']).not.toHaveProperty('headers');
    expect((await documentOf()).components.responses['500']?.headers).toEqual(code);
  });

  it('describes once the envelope, and each schema with a name', async () => {
    const { components } = await documentOf();
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
});
