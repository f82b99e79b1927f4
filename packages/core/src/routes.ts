import { rest, type RestOptions, type Route } from './operation.js';
import { authenticated, publicProcedure } from './procedures.js';
import { allow, allOf, type AnyRule } from './rules.js';

/** A procedure with a REST route, without authentication: `publicRoute('GET /parcels/{parcelId}', { … })`. */
export function publicRoute(route: Route, options: RestOptions) {
  return publicProcedure.meta(rest(route, options));
}

interface AuthenticatedRouteOptions extends RestOptions {
  /** The rules that a caller must all pass, in this order, before the input is validated. Without them anybody signed in may call. */
  allow?: readonly [AnyRule, ...AnyRule[]];
}

/** A procedure with a REST route that requires authentication: `authenticatedRoute('POST /parcels', { …, allow: [admin] })`. */
export function authenticatedRoute(route: Route, { allow: rules, ...options }: AuthenticatedRouteOptions) {
  const procedure = authenticated.meta(rest(route, options));
  return rules ? procedure.use(allow(allOf(...rules))) : procedure;
}
