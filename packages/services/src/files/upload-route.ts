import { authenticatedRoute, type AuthenticatedRouteOptions, type ErrorDefinition } from '@tandem/core';
import type { z } from 'zod';
import { fileErrors } from './files.errors.js';
import { UploadAddressSchema } from './files.schemas.js';

interface UploadRouteOptions extends Pick<AuthenticatedRouteOptions, 'allow'> {
  /** What is uploaded, with its article: `an image`. */
  what: string;
  /** The error for a missing record that the file is for, unless a rule tells it. */
  notFound?: ErrorDefinition;
}

/** Answers an address to upload a file to (decisions, section 6). `.query` ends the route. */
export function uploadRoute<In extends z.ZodType>(
  route: `GET /${string}`,
  input: In,
  { what, notFound, allow }: UploadRouteOptions,
) {
  return authenticatedRoute(route, {
    summary: `Get an upload address for ${what}`,
    failure: 'Failed to generate signed upload URL.',
    errors: [...(notFound ? [notFound] : []), fileErrors.tooManyUnused],
    allow,
    // the address takes up room
    isRead: false,
  })
    .input(input)
    .output(UploadAddressSchema);
}
