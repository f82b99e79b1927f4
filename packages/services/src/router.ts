import { router } from '@tandem/core';
import { attributes } from './attributes/attributes.js';
import { auth } from './authentication/auth.js';
import { categories } from './categories/categories.js';
import { chat } from './chat/chat.js';
import { identities } from './identities/identities.js';
import { invitations } from './invitations/invitations.js';
import { locations } from './locations/locations.js';
import { notifications } from './notifications/notifications.js';
import { orders } from './orders/orders.js';
import { organizations } from './organizations/organizations.js';
import { productVariants } from './product-variants/product-variants.js';
import { products } from './products/products.js';
import { profiles } from './profiles/profiles.js';
import type { Foundation } from './foundation.js';
import type { AllOf, DeclaredList, MadeBy, RouterOptions, ShapeOf } from './shared/define-service.js';

/** All services. The only list of them; other code reads it here. */
export const SERVICES = [
  attributes,
  auth,
  categories,
  chat,
  identities,
  invitations,
  locations,
  notifications,
  orders,
  organizations,
  products,
  productVariants,
  profiles,
] as const;

type Definition = (typeof SERVICES)[number];
export type ServiceName = Definition['name'];
type Needed = NonNullable<Definition['needs']>[number];

/** Everything that is created: the foundation, and what services and the parts that they need add. */
export type Services = Foundation & MadeBy<Definition> & AllOf<MadeBy<Needed>>;

/** Service names, as in `authMode`. */
export const SERVICE_NAMES: readonly ServiceName[] = SERVICES.map(({ name }) => name);

/** The lists of a service, by tRPC path. */
type ShapesOf<Of extends Definition> = Of extends Definition
  ? { [List in keyof Of['lists'] & string as `${Of['name']}.${List}`]: ShapeOf<Extract<Of['lists'][List], DeclaredList>> }
  : never;

/** The query fields of each list, by tRPC path, for typed queries of clients. */
export type ListShapes = AllOf<ShapesOf<Definition>>;

type Procedures = { [Of in Definition as Of['name']]: ReturnType<Of['router']> };

/** All procedures, by service name. */
export function createAppRouter(services: Services, options: RouterOptions) {
  const entries = SERVICES.map(({ name, router: create }) => [name, create(services, options)] as const);
  return router(Object.fromEntries(entries) as unknown as Procedures);
}

/** The type for typed clients. */
export type AppRouter = ReturnType<typeof createAppRouter>;

/**
 * The procedures of some services, by service name.
 * @throws Error for an unknown service
 */
export function pickServices<Name extends ServiceName>({ _def: { record } }: AppRouter, names: readonly Name[]) {
  const unknown = names.find((name) => !SERVICE_NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`services: there is no service "${unknown}"`);
  return router(Object.fromEntries(names.map((name) => [name, record[name]])) as unknown as Pick<typeof record, Name>);
}
