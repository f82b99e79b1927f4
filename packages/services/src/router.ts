import { router, withOtherSchemas, type CodesOf } from '@tandem/core';
import type { TRPC_ERROR_CODE_KEY } from '@trpc/server';
import * as all from './all-services.js';
import type { Foundation } from './foundation.js';
import type {
  AllOf,
  AnyPart,
  AnyService,
  DeclaredList,
  ErrorTables,
  MadeBy,
  ProceduresOf,
  RouterOptions,
  ShapeOf,
} from './shared/define-service.js';
import type { SHARED_ERRORS } from './shared/shared-errors.js';

// named: the compiler does not write out a type of this length
type Definition = (typeof all)[keyof typeof all];
/** All services, which `all-services.ts` lists. */
export const SERVICES: readonly Definition[] = Object.values(all);

export type ServiceName = Definition['name'];
type Needed = NonNullable<Definition['needs']>[number];

/** Everything that is created: the foundation, and what services and the parts that they need add. */
export type Services = Foundation & MadeBy<Definition> & AllOf<MadeBy<Needed>>;

/** All services as one part: what a host's own service names in `needs` to get them. */
export interface AllServices {
  readonly needs: readonly AnyPart[];
  create(all: never): Services;
}
export const allServices: AllServices = { needs: SERVICES, create: (all) => all };

/** Service names, as in `authMode`. */
export const SERVICE_NAMES: readonly ServiceName[] = SERVICES.map(({ name }) => name);

type CodesOfAll<Tables> = Tables extends ErrorTables ? { [Group in keyof Tables]: CodesOf<Tables[Group]> }[keyof Tables] : never;
/** The codes of all errors: of those declared, and of tRPC's own, which procedures of hosts may throw (decisions E6). */
export type ErrorCode = CodesOfAll<typeof SHARED_ERRORS | Definition['errors']> | `trpc.${TRPC_ERROR_CODE_KEY}`;

/** The lists of a service, by tRPC path. */
type ShapesOf<Of extends Definition> = Of extends Definition
  ? keyof Of['lists'] extends never
    ? never
    : { [List in keyof Of['lists'] & string as `${Of['name']}.${List}`]: ShapeOf<Extract<Of['lists'][List], DeclaredList>> }
  : never;

/** The query fields of each list, by tRPC path, for typed queries of clients. */
export type ListShapes = AllOf<ShapesOf<Definition>>;

type Procedures = ProceduresOf<Definition>;

function proceduresOf<Service extends AnyService>(definitions: readonly Service[], services: object, options: RouterOptions) {
  const entries = definitions.map((service) => [service.name, service.router(services as never, options)] as const);
  return Object.fromEntries(entries) as unknown as ProceduresOf<Service>;
}

/** All procedures, by service name. */
export function createAppRouter(services: Services, options: RouterOptions) {
  return router(proceduresOf<Definition>(SERVICES, services, options) as Procedures);
}

/** The type for typed clients. */
export type AppRouter = ReturnType<typeof createAppRouter>;

/** @throws Error for an unknown service, and for a service of the host's own whose name is taken */
export function checkServices(names: readonly ServiceName[], own: readonly AnyService[]): void {
  const unknown = names.find((name) => !SERVICE_NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`services: there is no service "${unknown}"`);
  const all: string[] = [...SERVICE_NAMES, ...own.map(({ name }) => name)];
  const twice = all.find((name, at) => all.indexOf(name) < at);
  if (twice !== undefined) throw new Error(`ownServices: there already is a service "${twice}"`);
}

/** The procedures that a host exposes: those of some services, and of its own, by service name. */
export type ExposedRouter<Name extends ServiceName, Own extends AnyService> = ReturnType<typeof createExposedRouter<Name, Own>>;
export function createExposedRouter<Name extends ServiceName, Own extends AnyService>(
  services: Services,
  options: RouterOptions,
  { names, own }: { names: readonly Name[]; own: readonly Own[] },
) {
  const procedures: Procedures = proceduresOf<Definition>(SERVICES, services, options);
  const picked = Object.fromEntries(names.map((name) => [name, procedures[name]])) as unknown as Pick<Procedures, Name>;
  return withOtherSchemas(router({ ...picked, ...proceduresOf(own, services, options) }), services.hostFields.schema);
}
