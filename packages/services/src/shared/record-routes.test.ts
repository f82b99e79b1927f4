import { admin, defineErrors, operationsOf, router, whoOf } from '@tandem/core';
import { listErrors } from '@tandem/lists';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import { expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import {
  actionRoute,
  createManyRoute,
  createRoute,
  deleteManyRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchManyRoute,
  patchRoute,
  publicGetRoute,
  publicListRoute,
  restoreRoute,
} from './record-routes.js';

const errors = defineErrors('parcels', {
  notFound: [404, 'Parcel not found'],
  manyNotFound: [404, 'Parcels not found'],
  nothingToUpdate: [400, 'Failed to update parcel'],
  nothingToUpdateInMany: [400, 'Failed to update parcels'],
  sealed: [409, 'Parcel is sealed'],
});
const output = z.object({ id: z.string(), grams: z.number() });
const idInput = z.object({ parcelId: z.string() });
const parcel = { one: 'parcel', many: 'parcels', output, idInput, errors };
const given = z.object({ grams: z.number() });
const ids = z.object({ ids: z.array(z.string()) });
const list = { input: z.object({ page: z.number() }), output: z.object({ rows: z.array(output) }) };
const shown = { id: 'a', grams: 1 };

const parcels = router({
  create: createRoute(parcel, 'POST /parcels', given).mutation(({ input }) => ({ ...shown, grams: input.grams })),
  list: listRoute(parcel, 'GET /parcels', list).query(({ input }) => ({ rows: input.page > 1 ? [] : [shown] })),
  listOpen: publicListRoute(parcel, 'GET /open', list).query(() => ({ rows: [] })),
  get: getRoute(parcel, 'GET /parcels/{parcelId}').query(({ input }) => ({ ...shown, id: input.parcelId })),
  getOpen: publicGetRoute(parcel, 'GET /open/{parcelId}').query(() => shown),
  patch: patchRoute(parcel, 'PATCH /parcels/{parcelId}', idInput.extend(given.shape)).mutation(() => shown),
  delete: deleteRoute(parcel, 'DELETE /parcels/{parcelId}').mutation(() => {}),
  restore: restoreRoute(parcel, 'POST /parcels/{parcelId}/restore').mutation(() => shown),
  seal: actionRoute(parcel, 'POST /parcels/{parcelId}/seal', 'seal', { summary: 'Seal a parcel' }).mutation(() => {}),
  createMany: createManyRoute(parcel, 'POST /parcels/batch', z.object({ parcels: z.array(given) }), {
    bodyKey: 'parcels',
  }).mutation(() => [shown]),
  patchMany: patchManyRoute(parcel, 'PATCH /parcels/batch', ids.extend({ data: given })).mutation(() => [shown]),
  deleteMany: deleteManyRoute(parcel, 'DELETE /parcels/batch', ids).mutation(() => {}),
});

it('a standard route has the status, summary, failure and errors of its kind, in the words of its record', () => {
  const { notFound, nothingToUpdate, manyNotFound, nothingToUpdateInMany } = errors;
  const { invalidNextToken } = listErrors;
  const found = operationsOf(parcels).map(({ name, status, bodyKey, options }) => {
    const { summary, failure, errors: declared } = options;
    return [name, [status, summary, failure, declared, ...(bodyKey === undefined ? [] : [bodyKey])]];
  });
  expect(Object.fromEntries(found)).toEqual({
    create: [201, 'Create a parcel', 'Failed to create parcel', []],
    list: [200, 'List parcels, newest first', 'Failed to find parcels', [invalidNextToken]],
    listOpen: [200, 'List parcels, newest first', 'Failed to find parcels', [invalidNextToken]],
    get: [200, 'Read a parcel', 'Failed to get parcel', [notFound]],
    getOpen: [200, 'Read a parcel', 'Failed to get parcel', [notFound]],
    patch: [200, 'Change a parcel', 'Failed to update parcel', [notFound, nothingToUpdate]],
    delete: [204, 'Delete a parcel', 'Failed to delete parcel', [notFound]],
    restore: [200, 'Restore a deleted parcel', 'Failed to restore parcel', [notFound]],
    seal: [204, 'Seal a parcel', 'Failed to seal parcel', [notFound]],
    createMany: [201, 'Create many parcels, all or none', 'Failed to create parcels', [], 'parcels'],
    patchMany: [200, 'Change many parcels alike, all or none', 'Failed to update parcels', [manyNotFound, nothingToUpdateInMany]],
    deleteMany: [204, 'Delete many parcels, all or none', 'Failed to delete parcels', [manyNotFound], 'ids'],
  });
});

it('without a rule, only the public routes are open to anybody, and only admins restore', () => {
  const namesFor = (who: string) =>
    operationsOf(parcels).flatMap((operation) => (whoOf(operation) === who ? operation.name : []));
  expect(namesFor('anybody').toSorted()).toEqual(['getOpen', 'listOpen']);
  expect(namesFor('an admin')).toEqual(['restore']);
  expect(namesFor('anybody who is signed in')).toHaveLength(9);
});

it('what a route says itself replaces the usual, except errors, which are added', () => {
  const own = { summary: 'Throw a parcel away', failure: 'Failed to throw', errors: [errors.sealed] };
  const [operation] = operationsOf(
    router({ delete: deleteRoute(parcel, 'DELETE /parcels/{parcelId}', { ...own, allow: [admin] }).mutation(() => {}) }),
  );
  expect(operation?.options).toMatchObject({ ...own, errors: [errors.notFound, errors.sealed] });
  expect(operation && whoOf(operation)).toBe('an admin');
});

it('a record whose word begins with a vowel has the article "an"', () => {
  const [operation] = operationsOf(
    router({ get: getRoute({ ...parcel, one: 'order' }, 'GET /orders/{parcelId}').query(() => shown) }),
  );
  expect(operation?.options.summary).toBe('Read an order');
});

it('typed callers see the input and output of each route', () => {
  type Inputs = inferRouterInputs<typeof parcels>;
  type Outputs = inferRouterOutputs<typeof parcels>;
  expectTypeOf<Inputs['create']>().toEqualTypeOf<{ grams: number }>();
  expectTypeOf<Inputs['get']>().toEqualTypeOf<{ parcelId: string; $select?: string | undefined }>();
  expectTypeOf<Inputs['list']>().toEqualTypeOf<{ page: number }>();
  expectTypeOf<Inputs['deleteMany']>().toEqualTypeOf<{ ids: string[] }>();
  expectTypeOf<Outputs['create']>().toEqualTypeOf<{ id: string; grams: number }>();
  expectTypeOf<Outputs['list']>().toEqualTypeOf<{ rows: { id: string; grams: number }[] }>();
  expectTypeOf<Outputs['patchMany']>().toEqualTypeOf<{ id: string; grams: number }[]>();
});
