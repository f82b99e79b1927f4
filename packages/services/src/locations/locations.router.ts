import { admin, authenticatedRoute, publicRoute, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { locationErrors as errors } from './locations.errors.js';
import { LocationSchema, createLocationInput, locationInput, locationList, locationPatchInput } from './locations.schemas.js';
import type { LocationsService } from './locations.service.js';

/** The location routes of the spec ("Other services"). Anybody may read; only admins may write. */
export function createLocationsRouter(locations: LocationsService) {
  return router({
    create: authenticatedRoute('POST /locations', {
      status: 201,
      summary: 'Create a location, at the top or below another',
      failure: 'Failed to create location',
      errors: [errors.notFound, errors.tooDeep],
      allow: [admin],
    })
      .input(createLocationInput)
      .output(LocationSchema)
      .mutation(({ input }) => locations.create(input)),

    list: publicRoute('GET /locations', {
      summary: 'List locations, newest first',
      failure: 'Failed to find locations',
      errors: [listErrors.invalidNextToken],
    })
      .input(locationList.input)
      .output(locationList.output)
      .query(({ ctx, input }) => locations.list(askedBy(ctx, input))),

    get: publicRoute('GET /locations/{locationId}', {
      summary: 'Read a location',
      failure: 'Failed to get location by id',
      errors: [errors.notFound],
    })
      .input(locationInput)
      .output(LocationSchema)
      .query(({ input }) => locations.get(input.locationId)),

    patch: authenticatedRoute('PATCH /locations/{locationId}', {
      summary: 'Change a location, or move it with everything below it',
      failure: 'Failed to update location',
      errors: [errors.notFound, errors.nothingToUpdate, errors.cycle, errors.tooDeep],
      allow: [admin],
    })
      .input(locationPatchInput)
      .output(LocationSchema)
      .mutation(({ input: { locationId, ...patch } }) => locations.patch(locationId, patch)),

    delete: authenticatedRoute('DELETE /locations/{locationId}', {
      status: 204,
      summary: 'Delete a location that has no others below it',
      failure: 'Failed to delete location',
      errors: [errors.notFound, errors.hasDescendants],
      allow: [admin],
    })
      .input(locationInput)
      .mutation(({ input }) => locations.delete(input.locationId)),

    restore: authenticatedRoute('POST /locations/{locationId}/restore', {
      summary: 'Restore a deleted location',
      failure: 'Failed to restore location',
      errors: [errors.notFound, errors.parentDeleted, errors.tooDeep],
      allow: [admin],
    })
      .input(locationInput)
      .output(LocationSchema)
      .mutation(({ input }) => locations.restore(input.locationId)),
  });
}
