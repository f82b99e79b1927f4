import type { ErrorDefinition, IdentityTypeIds } from '@tandem/core';
import type { FieldsOf } from '@tandem/list-query/builder';
import type { AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import type { TokenCookies } from '../authentication/cookies.js';
import type { BrowserCookies } from '../providers/browser-cookies.js';
import type { Services } from '../services.js';
import type { Subscriptions } from '../streams/subscriptions.router.js';

/** What routers need beside the services. */
export interface RouterOptions {
  cookies: TokenCookies;
  browserCookies: BrowserCookies;
  /** Where identity providers may send people back to. */
  redirectUrls: ReadonlySet<string>;
  typeIds: IdentityTypeIds;
  subscriptions: Subscriptions;
}

/** A list as `defineList` declares it. */
export interface DeclaredList {
  resource: unknown;
  row: z.ZodType;
}

/** All that other parts of the system need to know of a service. */
export interface ServiceDefinition {
  /** Its name in tRPC paths, in `authMode` and in the documents. */
  readonly name: string;
  /** Makes its procedures. */
  router(services: Services, options: RouterOptions): AnyTRPCRouter;
  /** Its lists, by the procedures that answer them. */
  readonly lists: Readonly<Record<string, DeclaredList>>;
  /** The errors that it declares, in groups by the names under which `docs/errors.md` shows them. */
  readonly errors: Readonly<Record<string, Readonly<Record<string, ErrorDefinition>>>>;
}

/** Defines a service. It is mounted, documented and typed once it stands in `SERVICES`. */
export function defineService<const Definition extends ServiceDefinition>(definition: Definition): Definition {
  return definition;
}

/** What a typed query needs to know of a list: `ShapeOf<typeof notificationList>`. */
export interface ShapeOf<List extends DeclaredList> {
  fields: FieldsOf<List['resource']>;
  row: z.output<List['row']>;
}
