import { admin, anyOf, notGuest, owner, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { createRoute, deleteRoute, patchRoute, publicGetRoute, publicListRoute, restoreRoute } from '../shared/record-routes.js';
import { {{one}}Errors as errors } from './{{files}}.errors.js';
import { {{One}}Schema, create{{One}}Input, {{one}}Input, {{one}}List, {{one}}PatchInput } from './{{files}}.schemas.js';
import type { {{Many}}Service } from './{{files}}.service.js';

const {{one}} = { one: '{{words}}', many: '{{plural}}', output: {{One}}Schema, idInput: {{one}}Input, errors };

/** Anybody may read {{plural}}; who created one may change and delete it. */
export function create{{Many}}Router({{many}}: {{Many}}Service) {
  const own = anyOf(admin, owner('{{one}}Id', {{many}}.ownerOf));
  return router({
    create: createRoute({{one}}, 'POST /{{files}}', create{{One}}Input, { made: {{many}}.made, allow: [notGuest] }).mutation(
      ({ ctx, input }) => {{many}}.create({ ...input, identityId: ctx.identity.id }, ctx.newId?.()),
    ),

    list: publicListRoute({{one}}, 'GET /{{files}}', {{one}}List).query(({ ctx, input }) => {{many}}.list(askedBy(ctx, input))),

    get: publicGetRoute({{one}}, 'GET /{{files}}/{{{one}}Id}').query(({ input }) => {{many}}.get(input.{{one}}Id)),

    patch: patchRoute({{one}}, 'PATCH /{{files}}/{{{one}}Id}', {{one}}PatchInput, { allow: [notGuest, own] }).mutation(({ input }) =>
      {{many}}.patch(input.{{one}}Id, input.title),
    ),

    delete: deleteRoute({{one}}, 'DELETE /{{files}}/{{{one}}Id}', { allow: [notGuest, own] }).mutation(({ input }) =>
      {{many}}.delete(input.{{one}}Id),
    ),

    restore: restoreRoute({{one}}, 'POST /{{files}}/{{{one}}Id}/restore').mutation(({ input }) =>
      {{many}}.restore(input.{{one}}Id),
    ),
  });
}
