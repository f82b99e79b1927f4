/** All services. The only list of them; other code reads it as `SERVICES`. */
export { attributes } from './attributes/attributes.js';
export { auth } from './authentication/auth.js';
export { categories } from './categories/categories.js';
export { chat } from './chat/chat.js';
export { events } from './events/events.js';
export { identities } from './identities/identities.js';
export { invitations } from './invitations/invitations.js';
export { locations } from './locations/locations.js';
export { notifications } from './notifications/notifications.js';
export { orders } from './orders/orders.js';
export { organizations } from './organizations/organizations.js';
export { people } from './people/people.js';
export { productVariants } from './product-variants/product-variants.js';
export { products } from './products/products.js';
export { profiles } from './profiles/profiles.js';
export { webhooks } from './webhooks/webhooks.js';
