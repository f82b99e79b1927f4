import { admin, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { createRoute, deleteRoute, patchRoute, publicGetRoute, publicListRoute, restoreRoute } from '../shared/record-routes.js';
import { locationErrors as errors } from './locations.errors.js';
import { LocationSchema, createLocationInput, locationInput, locationList, locationPatchInput } from './locations.schemas.js';
import type { LocationsService } from './locations.service.js';

const location = {
  one: 'location',
  many: 'locations',
  output: LocationSchema,
  list: locationList,
  idInput: locationInput,
  errors,
};

/** The location routes of the spec ("Other services"). Anybody may read; only admins may write. */
export function createLocationsRouter(locations: LocationsService) {
  return router({
    create: createRoute(location, 'POST /locations', createLocationInput, {
      made: locations.made,
      summary: 'Create a location, at the top or below another',
      errors: [errors.notFound, errors.tooDeep],
      allow: [admin],
    }).mutation(({ ctx, input }) => locations.create(input, ctx.newId?.())),

    list: publicListRoute(location, 'GET /locations', locationList).query(({ ctx, input }) =>
      locations.list(askedBy(ctx, input)),
    ),

    get: publicGetRoute(location, 'GET /locations/{locationId}', { failure: 'Failed to get location by id' }).query(({ input }) =>
      locations.get(input.locationId, input),
    ),

    patch: patchRoute(location, 'PATCH /locations/{locationId}', locationPatchInput, {
      summary: 'Change a location, or move it with everything below it',
      errors: [errors.cycle, errors.tooDeep],
      allow: [admin],
    }).mutation(({ input: { locationId, ...patch } }) => locations.patch(locationId, patch)),

    delete: deleteRoute(location, 'DELETE /locations/{locationId}', {
      summary: 'Delete a location that has no others below it',
      errors: [errors.hasDescendants],
      allow: [admin],
    }).mutation(({ input }) => locations.delete(input.locationId)),

    restore: restoreRoute(location, 'POST /locations/{locationId}/restore', {
      errors: [errors.parentDeleted, errors.tooDeep],
    }).mutation(({ input }) => locations.restore(input.locationId)),
  });
}
