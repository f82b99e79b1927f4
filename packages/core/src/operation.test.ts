import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { operationOf, placesOf, rest, schemaOf, type Meta, type Route } from './operation.js';
import { operationsOf, publicProcedure, router } from './index.js';

const options = { summary: 'Read', failure: 'Failed to read' };
const procedure = (route: Route) => publicProcedure.meta(rest(route, options)).query(() => {});
const pathsOf = (...routes: Route[]) => {
  const procedures = routes.map((route, at) => [`p${at}`, procedure(route)] as const);
  return operationsOf(router(Object.fromEntries(procedures))).map(({ path }) => path);
};

describe('routes are in the order in which they are tried', () => {
  it('a word before a parameter, from the first segment on', () => {
    expect(pathsOf('GET /{kind}/all', 'GET /things/{id}', 'GET /things/mine')).toEqual([
      '/things/mine',
      '/things/{id}',
      '/{kind}/all',
    ]);
    expect(pathsOf('GET /things/{id}/parts/{partId}', 'GET /things/{id}/parts/new', 'GET /things/mine/parts/{partId}')).toEqual([
      '/things/mine/parts/{partId}',
      '/things/{id}/parts/new',
      '/things/{id}/parts/{partId}',
    ]);
    expect(pathsOf('GET /things/{id}', 'GET /')).toEqual(['/', '/things/{id}']);
  });

  it('those of one shape as they were declared', () => {
    expect(pathsOf('GET /c', 'GET /a', 'GET /b')).toEqual(['/c', '/a', '/b']);
    expect(pathsOf('GET /c/{id}', 'GET /z', 'GET /b/{id}')).toEqual(['/z', '/c/{id}', '/b/{id}']);
  });

  it('a procedure without a route is none of them', () => {
    const open = publicProcedure.query(() => {});
    const foreign = publicProcedure.meta({ openapi: { method: 'GET', path: '/foreign' } }).query(() => {});
    expect(operationsOf(router({ open, foreign, routed: procedure('GET /a') })).map(({ name }) => name)).toEqual(['routed']);
  });
});

describe('a route', () => {
  it('is described by its method, path and summary, and declares no error of the generator', () => {
    expect(rest('PUT /things/{id}', options)).toStrictEqual({
      openapi: { method: 'PUT', path: '/things/{id}', summary: 'Read', errorResponses: [] },
      rest: options,
    });
  });

  it('answers 200 unless it says otherwise', () => {
    const created = publicProcedure.meta(rest('POST /a', { ...options, status: 201 })).mutation(() => {});
    expect([operationOf('a', created)?.status, operationOf('b', procedure('GET /b'))?.status]).toEqual([201, 200]);
  });

  it('takes a body unless it is a GET, or a DELETE that does not ask for one', () => {
    const takesBody = (route: Route, more = {}) => placesOf(rest(route, { ...options, ...more })).hasBody;
    for (const method of ['POST', 'PUT', 'PATCH'] as const) expect(takesBody(`${method} /a`)).toBe(true);
    expect([takesBody('GET /a'), takesBody('GET /a', { hasBody: true })]).toEqual([false, false]);
    expect([takesBody('DELETE /a'), takesBody('DELETE /a', { hasBody: true })]).toEqual([false, true]);
    expect(takesBody('DELETE /a', { bodyKey: 'all' })).toBe(true);
  });

  it('names the keys of its path, and the one that is the whole body', () => {
    expect(placesOf(rest('GET /a/{id}/b/{other_1}', options))).toStrictEqual({ pathKeys: ['id', 'other_1'], hasBody: false });
    const list = rest('PUT /a', { ...options, bodyKey: 'all' });
    expect(placesOf(list)).toStrictEqual({ pathKeys: [], hasBody: true, bodyKey: 'all' });
  });

  it('counts as one with a body where a procedure has none, and needs no options', () => {
    expect(placesOf({})).toStrictEqual({ pathKeys: [], hasBody: true });
    expect(placesOf({ openapi: { method: 'DELETE', path: '/a/{id}' } })).toStrictEqual({ pathKeys: ['id'], hasBody: false });
  });
});

describe('the operation of a procedure', () => {
  const First = z.strictObject({ name: z.string(), size: z.number().optional(), open: z.boolean().default(false) });
  const read = () => publicProcedure.meta(rest('GET /a', options)).input(First.refine(() => true));

  it('knows how the text of each key is converted, of all its inputs', () => {
    const both = read().input(z.object({ tags: z.array(z.string()).optional(), at: z.date() })).query(() => {}); // prettier-ignore
    const textKinds = { name: 'string', size: 'number', open: 'boolean', tags: 'array', at: 'string' };
    expect(operationOf('a', both)?.textKinds).toEqual(textKinds);
    expect(operationOf('b', procedure('GET /b'))?.textKinds).toEqual({});
    const unknown = publicProcedure.meta(rest('GET /a', options)).input(z.unknown()).query(() => {}); // prettier-ignore
    expect(operationOf('c', unknown)?.textKinds).toEqual({});
  });

  it('is made once, and its schema is then known by its meta', () => {
    const one = read().query(() => {});
    const meta = one._def.meta as Meta;
    expect(schemaOf(meta)).toBeUndefined();
    const operation = operationOf('a', one);
    expect(operationOf('a', one)).toBe(operation);
    expect(operation?.schema?.safeParse({ name: 5 }).success).toBe(false);
    expect(schemaOf(meta)).toBe(operation?.schema);
  });
});
