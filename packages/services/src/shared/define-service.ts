import type { ErrorDefinition, IdentityTypeIds } from '@tandem/core';
import type { FieldsOf } from '@tandem/list-query/builder';
import type { AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import type { TokenCookies } from '../authentication/cookies.js';
import type { BrowserCookies } from '../providers/browser-cookies.js';
import type { Services } from '../services.js';
import type { Subscriptions } from '../streams/subscriptions.router.js';

/** Dependencies of routers besides the services. */
export interface RouterOptions {
  cookies: TokenCookies;
  browserCookies: BrowserCookies;
  /** The addresses to which identity providers may send people back. */
  redirectUrls: ReadonlySet<string>;
  typeIds: IdentityTypeIds;
  subscriptions: Subscriptions;
}

/** A list declared with `defineList`. */
export interface DeclaredList {
  resource: unknown;
  row: z.ZodType;
}

/** Everything that other parts of the system need to know about a service. */
export interface ServiceDefinition {
  /** The name in tRPC paths, in `authMode` and in the documents. */
  readonly name: string;
  /** Creates its procedures. */
  router(services: Services, options: RouterOptions): AnyTRPCRouter;
  /** Its lists, by procedure name. */
  readonly lists: Readonly<Record<string, DeclaredList>>;
  /** The errors it declares, by their group names in `docs/errors.md`. */
  readonly errors: Readonly<Record<string, Readonly<Record<string, ErrorDefinition>>>>;
}

/** Defines a service. Listing it in `SERVICES` mounts, documents and types it. */
export function defineService<const Definition extends ServiceDefinition>(definition: Definition): Definition {
  return definition;
}

/** The type information of a list for typed queries: `ShapeOf<typeof notificationList>`. */
export interface ShapeOf<List extends DeclaredList> {
  fields: FieldsOf<List['resource']>;
  row: z.output<List['row']>;
}
