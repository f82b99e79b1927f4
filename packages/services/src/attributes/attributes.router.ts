import { admin, authenticatedRoute, publicRoute, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { attributeErrors as errors } from './attributes.errors.js';
import {
  AttributeSchema,
  attributeInput,
  attributeList,
  attributePatchInput,
  createAttributeInput,
} from './attributes.schemas.js';
import type { AttributesService } from './attributes.service.js';

/** The attribute group routes (spec, "What the service does" 3). Anybody may read; only admins may write. */
export function createAttributesRouter(attributes: AttributesService) {
  return router({
    create: authenticatedRoute('POST /attributes', {
      status: 201,
      summary: 'Create an attribute group',
      failure: 'Failed to create attribute group',
      allow: [admin],
    })
      .input(createAttributeInput)
      .output(AttributeSchema)
      .mutation(({ input }) => attributes.create(input)),

    list: publicRoute('GET /attributes', {
      summary: 'List attribute groups, newest first',
      failure: 'Failed to find attributes',
      errors: [listErrors.invalidNextToken],
    })
      .input(attributeList.input)
      .output(attributeList.output)
      .query(({ ctx, input }) => attributes.list(askedBy(ctx, input))),

    get: publicRoute('GET /attributes/{attributeId}', {
      summary: 'Read an attribute group',
      failure: 'Failed to get attribute group',
      errors: [errors.notFound],
    })
      .input(attributeInput)
      .output(AttributeSchema)
      .query(({ input }) => attributes.get(input.attributeId)),

    patch: authenticatedRoute('PATCH /attributes/{attributeId}', {
      summary: 'Change the name or the items of an attribute group',
      failure: 'Failed to update attribute group',
      errors: [errors.notFound, errors.nothingToUpdate],
      allow: [admin],
    })
      .input(attributePatchInput)
      .output(AttributeSchema)
      .mutation(({ input: { attributeId, ...patch } }) => attributes.patch(attributeId, patch)),

    delete: authenticatedRoute('DELETE /attributes/{attributeId}', {
      status: 204,
      summary: 'Delete an attribute group',
      failure: 'Failed to delete attribute',
      errors: [errors.notFoundToDelete],
      allow: [admin],
    })
      .input(attributeInput)
      .mutation(({ input }) => attributes.delete(input.attributeId)),

    restore: authenticatedRoute('POST /attributes/{attributeId}/restore', {
      summary: 'Restore a deleted attribute group',
      failure: 'Failed to restore attribute group',
      errors: [errors.notFound],
      allow: [admin],
    })
      .input(attributeInput)
      .output(AttributeSchema)
      .mutation(({ input }) => attributes.restore(input.attributeId)),
  });
}
