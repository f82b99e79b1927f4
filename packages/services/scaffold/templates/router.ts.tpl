import { admin, anyOf, authenticatedRoute, owner, publicRoute, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { {{one}}Errors as errors } from './{{files}}.errors.js';
import { {{One}}Schema, create{{One}}Input, {{one}}Input, {{one}}List, {{one}}PatchInput } from './{{files}}.schemas.js';
import type { {{Many}}Service } from './{{files}}.service.js';

/** Anybody may read {{plural}}; who created one may change and delete it. */
export function create{{Many}}Router({{many}}: {{Many}}Service) {
  const own = anyOf(admin, owner('{{one}}Id', {{many}}.ownerOf));
  return router({
    create: authenticatedRoute('POST /{{files}}', {
      status: 201,
      summary: 'Create a {{words}}',
      failure: 'Failed to create {{words}}',
    })
      .input(create{{One}}Input)
      .output({{One}}Schema)
      .mutation(({ ctx, input }) => {{many}}.create({ ...input, identityId: ctx.identity.id })),

    list: publicRoute('GET /{{files}}', {
      summary: 'List {{plural}}, newest first',
      failure: 'Failed to find {{plural}}',
      errors: [listErrors.invalidNextToken],
    })
      .input({{one}}List.input)
      .output({{one}}List.output)
      .query(({ ctx, input }) => {{many}}.list(askedBy(ctx, input))),

    get: publicRoute('GET /{{files}}/{{{one}}Id}', {
      summary: 'Read a {{words}}',
      failure: 'Failed to get {{words}}',
      errors: [errors.notFound],
    })
      .input({{one}}Input)
      .output({{One}}Schema)
      .query(({ input }) => {{many}}.get(input.{{one}}Id)),

    patch: authenticatedRoute('PATCH /{{files}}/{{{one}}Id}', {
      summary: 'Change a {{words}}',
      failure: 'Failed to update {{words}}',
      errors: [errors.notFound],
      allow: [own],
    })
      .input({{one}}PatchInput)
      .output({{One}}Schema)
      .mutation(({ input }) => {{many}}.patch(input.{{one}}Id, input.title)),

    delete: authenticatedRoute('DELETE /{{files}}/{{{one}}Id}', {
      status: 204,
      summary: 'Delete a {{words}}',
      failure: 'Failed to delete {{words}}',
      errors: [errors.notFound],
      allow: [own],
    })
      .input({{one}}Input)
      .mutation(({ input }) => {{many}}.delete(input.{{one}}Id)),

    restore: authenticatedRoute('POST /{{files}}/{{{one}}Id}/restore', {
      summary: 'Restore a deleted {{words}}',
      failure: 'Failed to restore {{words}}',
      errors: [errors.notFound],
      allow: [admin],
    })
      .input({{one}}Input)
      .output({{One}}Schema)
      .mutation(({ input }) => {{many}}.restore(input.{{one}}Id)),
  });
}
