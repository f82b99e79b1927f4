import { z } from 'zod';
import { rest, type RestOptions, type Route } from './operation.js';
import { authenticated, publicProcedure } from './procedures.js';
import { allow, allOf, type AnyRule } from './rules.js';

export interface AuthenticatedRouteOptions extends RestOptions {
  /** The rules that a caller must all pass, in this order, before the input is validated. Without them anybody signed in may call. */
  allow?: readonly [AnyRule, ...AnyRule[]];
}
interface Empty {
  status: 204;
}

const nothing = z.void();

/**
 * A procedure with a REST route, without authentication: `publicRoute('GET /parcels/{parcelId}', { … })`. With status
 * 204 it has no output.
 */
export function publicRoute(route: Route, options: RestOptions & Empty): ReturnType<typeof emptyPublic>;
export function publicRoute(route: Route, options: RestOptions): ReturnType<typeof beginPublic>;
export function publicRoute(route: Route, options: RestOptions) {
  return options.status === 204 ? emptyPublic(route, options) : beginPublic(route, options);
}
const beginPublic = (route: Route, options: RestOptions) => publicProcedure.meta(rest(route, options));
const emptyPublic = (route: Route, options: RestOptions) => beginPublic(route, options).output(nothing);

/**
 * A procedure with a REST route that requires authentication: `authenticatedRoute('POST /parcels', { …, allow: [admin]
 * })`. With status 204 it has no output.
 */
export function authenticatedRoute(
  route: Route,
  options: AuthenticatedRouteOptions & Empty,
): ReturnType<typeof emptyAuthenticated>;
export function authenticatedRoute(route: Route, options: AuthenticatedRouteOptions): ReturnType<typeof beginAuthenticated>;
export function authenticatedRoute(route: Route, options: AuthenticatedRouteOptions) {
  return options.status === 204 ? emptyAuthenticated(route, options) : beginAuthenticated(route, options);
}
function beginAuthenticated(route: Route, { allow: rules, ...options }: AuthenticatedRouteOptions) {
  const procedure = authenticated.meta(rest(route, options));
  return rules ? procedure.use(allow(allOf(...rules))) : procedure;
}
const emptyAuthenticated = (route: Route, options: AuthenticatedRouteOptions) =>
  beginAuthenticated(route, options).output(nothing);
