import type { ErrorDefinition, IdentityTypeIds, ScopedProcedure } from '@tandem/core';
import type { FieldsOf } from '@tandem/list-query/builder';
import type { RelatedRows, Relations } from '@tandem/lists';
import type { AnyTRPCRouter } from '@trpc/server';
import type { z } from 'zod';
import type { TokenCookies } from '../authentication/cookies.js';
import type { BrowserCookies } from '../providers/browser-cookies.js';
import type { Foundation } from '../foundation.js';
import type { Subscriptions } from '../streams/subscriptions.router.js';

/** Dependencies of routers besides the services. */
export interface RouterOptions {
  cookies: TokenCookies;
  browserCookies: BrowserCookies;
  /** The addresses to which identity providers may send people back. */
  redirectUrls: ReadonlySet<string>;
  typeIds: IdentityTypeIds;
  subscriptions: Subscriptions;
  /** The procedures that scopes of API keys may name, once all are mounted. */
  keyProcedures: () => readonly ScopedProcedure[];
}

/** A list declared with `defineList`. */
export interface DeclaredList {
  resource: unknown;
  row: z.ZodType;
  relations: Relations;
}

/** The intersection of the members of a union. */
export type AllOf<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** Something that is created once, after what it needs. `never` stands for any parameter. */
export interface AnyPart {
  readonly needs?: readonly AnyPart[];
  create?(all: never): object;
}

/** What parts add, by name. */
export type MadeBy<Part extends AnyPart> = AllOf<Part extends { create?(all: never): infer Made } ? Made : never>;

/** What is created with: the foundation, and what the needed parts add. */
type Given<Needs extends readonly AnyPart[]> = Foundation & MadeBy<Needs[number]>;

/** Defines a part of several services. Each service that uses it names it in `needs`; it is created once. */
export function definePart<Made extends object, const Needs extends readonly AnyPart[] = readonly []>(part: {
  needs?: Needs;
  create(all: Given<Needs>): Made;
}) {
  return part;
}

/** Declared errors, by the names of their groups in `docs/errors.md`. */
export type ErrorTables = Readonly<Record<string, Readonly<Record<string, ErrorDefinition & { readonly errorCode: string }>>>>;

/** Everything that other parts of the system need to know about a service. */
export interface ServiceDefinition<
  Name extends string = string,
  Needs extends readonly AnyPart[] = readonly AnyPart[],
  Made extends object = object,
  Procedures extends AnyTRPCRouter = AnyTRPCRouter,
  Lists extends Readonly<Record<string, DeclaredList>> = Readonly<Record<string, DeclaredList>>,
  Errors extends ErrorTables = ErrorTables,
  Kind extends string = string,
> {
  /** The name in tRPC paths, in `authMode` and in the documents. */
  readonly name: Name;
  /** What it is for, in a sentence, for the documents. */
  readonly description: string;
  /** What is created before it: parts, and other services. */
  readonly needs?: Needs;
  /** Creates its logic, by name; other services that need it find it under that name. */
  create?(all: Given<Needs>): Made;
  /** Creates its procedures. */
  router(all: Given<Needs> & Made, options: RouterOptions): Procedures;
  /** Its lists, by procedure name. */
  readonly lists: Lists;
  /** The kinds of records of which events tell (docs/events.md): those that its logic gives to `lists.tell`. */
  readonly tells?: readonly Kind[];
  /** The errors it declares. */
  readonly errors: Errors;
}

/** Any service. `never` stands for any parameter. */
export interface AnyService extends AnyPart, Pick<ServiceDefinition, 'name' | 'description' | 'lists' | 'errors' | 'tells'> {
  router(all: never, options: RouterOptions): AnyTRPCRouter;
}

/** The procedures of services, by service name. */
export type ProceduresOf<Service extends AnyService> = { [Of in Service as Of['name']]: ReturnType<Of['router']> };

/** Defines a service. Listing it in `SERVICES`, or in a host's `ownServices`, creates, mounts, documents and types it. */
export function defineService<
  const Name extends string,
  Procedures extends AnyTRPCRouter,
  const Lists extends Readonly<Record<string, DeclaredList>>,
  Made extends object = object,
  const Needs extends readonly AnyPart[] = readonly [],
  const Errors extends ErrorTables = ErrorTables,
  const Kind extends string = never,
>(definition: ServiceDefinition<Name, Needs, Made, Procedures, Lists, Errors, Kind>) {
  return definition;
}

/** The type information of a list for typed queries: `ShapeOf<typeof notificationList>`. */
export interface ShapeOf<List extends DeclaredList> {
  fields: FieldsOf<List['resource']>;
  row: z.output<List['row']>;
  relations: RelatedRows<List['relations']>;
}
