import { admin, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { createRoute, deleteRoute, patchRoute, publicGetRoute, publicListRoute, restoreRoute } from '../shared/record-routes.js';
import { attributeErrors as errors } from './attributes.errors.js';
import {
  AttributeSchema,
  attributeInput,
  attributeList,
  attributePatchInput,
  createAttributeInput,
} from './attributes.schemas.js';
import type { AttributesService } from './attributes.service.js';

const attribute = { one: 'attribute group', many: 'attribute groups', output: AttributeSchema, idInput: attributeInput, errors };

/** The attribute group routes (spec, "What the service does" 3). Anybody may read; only admins may write. */
export function createAttributesRouter(attributes: AttributesService) {
  return router({
    create: createRoute(attribute, 'POST /attributes', createAttributeInput, { made: attributes.made, allow: [admin] }).mutation(
      ({ ctx, input }) => attributes.create(input, ctx.newId?.()),
    ),

    list: publicListRoute(attribute, 'GET /attributes', attributeList, { failure: 'Failed to find attributes' }).query(
      ({ ctx, input }) => attributes.list(askedBy(ctx, input)),
    ),

    get: publicGetRoute(attribute, 'GET /attributes/{attributeId}').query(({ input }) =>
      attributes.get(input.attributeId, input),
    ),

    patch: patchRoute(attribute, 'PATCH /attributes/{attributeId}', attributePatchInput, {
      summary: 'Change the name or the items of an attribute group',
      allow: [admin],
    }).mutation(({ input: { attributeId, ...patch } }) => attributes.patch(attributeId, patch)),

    delete: deleteRoute({ ...attribute, errors: { notFound: errors.notFoundToDelete } }, 'DELETE /attributes/{attributeId}', {
      failure: 'Failed to delete attribute',
      allow: [admin],
    }).mutation(({ input }) => attributes.delete(input.attributeId)),

    restore: restoreRoute(attribute, 'POST /attributes/{attributeId}/restore').mutation(({ input }) =>
      attributes.restore(input.attributeId),
    ),
  });
}
