import type { Person, TestServer } from '@tandem/testing';
import { stepsOfPeople } from './reach-people.js';

/** How somebody comes to an operation in the console. */
export interface Step {
  calls: string;
  /** The view it begins at. */
  at: string;
  /** A button of the view. */
  press?: string;
  /** An entry of the menu of the record, or of this row. */
  menu?: string;
  row?: string | RegExp;
  /** What is typed or chosen, by label. */
  fill?: Readonly<Record<string, string>>;
  /** The boxes of rows that are chosen first. */
  choose?: readonly string[];
}

type Created = { id: string };

/** Records to act on, made by the same admin. */
export async function makeWorld(app: TestServer, admin: Person) {
  const post = async (path: string, body: object, status = 201) =>
    (await admin.rest('POST', path, body).expect<Created>(status)).id;
  const ann = await app.signUp({ email: 'reach.ann@example.org' });
  const product = (name: string) => post('/products', { name, description: 'To drink', price: { amount: 4, currency: 'EUR' } });
  const [tea, coffee, cocoa, milk] = [await product('Reach tea'), await product('Reach coffee'), await product('Reach cocoa'), await product('Reach milk')]; // prettier-ignore
  const variant = await post(`/products/${tea}/variants`, { title: 'Reach large' });
  const category = await post('/categories', { name: 'Reach drinks', description: 'Warm' });
  const attribute = await post('/attributes', { name: 'Reach sizes', items: [{ key: 'small', value: '1' }] });
  const shop = await post('/organizations', {
    organization: { name: 'Reach shop', description: 'Tea', contact_email: 'shop@example.org' },
  });
  const branch = await post('/organizations', {
    organization: { name: 'Reach branch', description: 'Tea', contact_email: 'shop@example.org' },
  });
  await admin.rest('PATCH', `/organizations/${shop}/members`, [{ identityId: ann.id, role: 'member' }]).expect(204);
  const location = await post('/locations', { name: 'Reach town', code: 'RT', type: 'CITY' });
  const order = await post('/orders', { identityId: ann.id, items: [{ productId: tea, quantity: 1 }] });
  const invitation = await post('/invitations', { email: 'reach.guest@example.org', organizationId: shop, role: 'member' });
  const template = await post('/message-templates', { title: 'Reach hello', content: 'Hello!', organizationId: shop });
  const webhook = await post('/webhooks', { url: 'https://example.org/hooks', types: ['order.*'] });
  const profile = await post('/profiles', { identityId: ann.id, name: 'Reach Ann' });
  const own = await post('/profiles', { identityId: admin.id, name: 'Reach admin' });
  const account = await post(`/organizations/${shop}/service-accounts`, { name: 'Reach robot', role: 'member' });
  return { ann, tea, coffee, cocoa, milk, variant, category, attribute, shop, branch, location, order, invitation, template, webhook, profile, own, account }; // prettier-ignore
}
export type World = Awaited<ReturnType<typeof makeWorld>>;

/** A view that reads by an operation. */
export const reads = (calls: string, at: string): Step => ({ calls, at });

/** Every operation on records that an admin comes to, and how. Later steps need what earlier ones have left. */
export function stepsOf(world: World, admin: Person): Step[] {
  const { ann, tea, coffee, variant, category, attribute, shop, location, order, invitation, template, webhook } = world;
  const products = `/products/${tea}`;
  const organization = `/organizations/${shop}`;
  const part = (name: string) => `${organization}?tab=${name}`;
  return [
    reads('products.list', '/products'),
    { calls: 'products.create', at: '/products', press: 'New product', fill: { Name: 'Reach juice', Description: 'Cold' } },
    {
      calls: 'products.createMany',
      at: '/products',
      press: 'Create many',
      fill: { '+': 'Add product', Name: 'Reach one', Description: 'Of many' },
    },
    reads('products.get', products),
    { calls: 'products.patch', at: products, press: 'Edit', fill: { Name: 'Reach green tea' } },
    { calls: 'products.copy', at: products, menu: 'Copy' },
    {
      calls: 'products.patchMany',
      at: '/products',
      choose: ['Reach coffee', 'Reach cocoa'],
      press: 'Patch',
      fill: { Description: 'Hot' },
    },
    { calls: 'products.copyMany', at: '/products', choose: ['Reach coffee'], press: 'Copy' },
    { calls: 'products.deleteMany', at: '/products', choose: ['Reach cocoa', 'Reach milk'], press: 'Delete' },
    reads('products.listLikers', `${products}?tab=likers`),
    reads('productVariants.list', `${products}?tab=product-variants`),
    {
      calls: 'productVariants.create',
      at: `${products}?tab=product-variants`,
      press: 'New variant',
      fill: { Title: 'Reach small' },
    },
    reads('productVariants.get', `${products}/variants/${variant}`),
    { calls: 'productVariants.patch', at: `${products}/variants/${variant}`, press: 'Edit', fill: { SKU: 'T-1' } },
    { calls: 'productVariants.delete', at: `${products}/variants/${variant}`, menu: 'Delete' },
    { calls: 'productVariants.restore', at: '/trash', press: 'Restore Reach large' },
    { calls: 'products.delete', at: `/products/${coffee}`, menu: 'Delete' },
    { calls: 'products.restore', at: '/trash', press: 'Restore Reach coffee' },
    reads('categories.list', '/categories'),
    { calls: 'categories.create', at: '/categories', press: 'New category', fill: { Name: 'Reach food', Description: 'Dry' } },
    reads('categories.get', `/categories/${category}`),
    { calls: 'categories.patch', at: `/categories/${category}`, press: 'Edit', fill: { Description: 'Hot' } },
    { calls: 'categories.disable', at: `/categories/${category}`, menu: 'Disable' },
    { calls: 'categories.enable', at: `/categories/${category}`, menu: 'Enable' },
    { calls: 'categories.delete', at: `/categories/${category}`, menu: 'Delete' },
    { calls: 'categories.restore', at: '/trash', press: 'Restore Reach drinks' },
    reads('attributes.list', '/attributes'),
    {
      calls: 'attributes.create',
      at: '/attributes',
      press: 'New attribute',
      fill: { Name: 'Reach colours', '+': 'Add item', Key: 'red', Value: '#f00' },
    },
    reads('attributes.get', `/attributes/${attribute}`),
    { calls: 'attributes.patch', at: `/attributes/${attribute}`, press: 'Edit', fill: { Name: 'Reach lengths' } },
    { calls: 'attributes.delete', at: `/attributes/${attribute}`, menu: 'Delete' },
    { calls: 'attributes.restore', at: '/trash', press: 'Restore Reach lengths' },
    reads('orders.list', '/orders'),
    {
      calls: 'orders.create',
      at: '/orders',
      press: 'New order',
      fill: { '+': 'Add item', Product: 'Reach green', Quantity: '2' },
    },
    reads('orders.get', `/orders/${order}`),
    { calls: 'orders.patch', at: `/orders/${order}`, press: 'Mark confirmed' },
    { calls: 'orders.cancel', at: `/orders/${order}`, menu: 'Cancel' },
    { calls: 'orders.delete', at: `/orders/${order}`, menu: 'Delete' },
    { calls: 'orders.restore', at: '/trash', press: `Restore …${order.slice(-6)}` },
    reads('locations.list', '/locations'),
    {
      calls: 'locations.create',
      at: '/locations',
      press: 'New location',
      fill: { Name: 'Reach house', Code: 'RH', Type: 'Building' },
    },
    reads('locations.get', `/locations/${location}`),
    { calls: 'locations.patch', at: `/locations/${location}`, press: 'Edit', fill: { Name: 'Reach city' } },
    { calls: 'locations.delete', at: `/locations/${location}`, menu: 'Delete' },
    { calls: 'locations.restore', at: '/trash', press: 'Restore Reach city' },
    ...stepsOfOrganizations(),
    reads('chat.listMessageTemplates', '/message-templates'),
    {
      calls: 'chat.createMessageTemplate',
      at: '/message-templates',
      press: 'New message template',
      fill: { Title: 'Reach bye', Content: 'Bye!' },
    },
    reads('chat.getMessageTemplate', `/message-templates/${template}`),
    { calls: 'chat.patchMessageTemplate', at: `/message-templates/${template}`, press: 'Edit', fill: { Title: 'Reach hi' } },
    { calls: 'chat.deleteMessageTemplate', at: `/message-templates/${template}`, menu: 'Delete' },
    { calls: 'chat.restoreMessageTemplate', at: '/trash', press: 'Restore Reach hi' },
    reads('webhooks.list', '/webhooks'),
    {
      calls: 'webhooks.create',
      at: '/webhooks',
      press: 'New webhook',
      fill: { URL: 'https://example.org/more', Types: 'product.*' },
    },
    reads('webhooks.get', `/webhooks/${webhook}`),
    { calls: 'webhooks.patch', at: `/webhooks/${webhook}`, press: 'Edit', fill: { Description: 'Orders' } },
    { calls: 'webhooks.rotateSecret', at: `/webhooks/${webhook}`, menu: 'Rotate secret' },
    { calls: 'webhooks.test', at: `/webhooks/${webhook}`, menu: 'Send a test event' },
    { calls: 'webhooks.listDeliveries', at: `/webhooks/${webhook}?tab=deliveries` },
    {
      calls: 'webhooks.redeliver',
      at: `/webhooks/${webhook}?tab=deliveries`,
      row: /^Actions for webhook.test/,
      menu: 'Redeliver',
    },
    { calls: 'webhooks.delete', at: `/webhooks/${webhook}`, menu: 'Delete' },
    reads('events.list', '/events'),
    reads('auth.events', '/audit'),
    ...stepsOfPeople(world),
  ];

  function stepsOfOrganizations(): Step[] {
    return [
      reads('organizations.list', '/organizations'),
      {
        calls: 'organizations.create',
        at: '/organizations',
        press: 'New organization',
        fill: { Name: 'Reach inn', Description: 'Beds', 'Contact email': 'inn@example.org' },
      },
      reads('organizations.get', organization),
      { calls: 'organizations.patch', at: organization, press: 'Edit', fill: { Description: 'Drinks' } },
      { calls: 'organizations.patchAsAdmin', at: organization, menu: 'Edit everything', fill: { Name: 'Reach store' } },
      { calls: 'organizations.move', at: `/organizations/${world.branch}`, menu: 'Move', fill: { Parent: 'Reach store' } },
      reads('organizations.listDescendants', part('descendants')),
      reads('organizations.listMembers', part('members')),
      {
        calls: 'organizations.upsertMembers',
        at: part('members'),
        press: 'Add members',
        fill: { '+': 'Add member', Identity: admin.id, Role: 'owner' },
      },
      { calls: 'organizations.memberRole', at: part('members'), row: /Actions for .*member/i, menu: 'Show role' },
      { calls: 'organizations.removeMember', at: part('members'), row: /Actions for .*member/i, menu: 'Remove member' },
      { calls: 'organizations.isMember', at: organization, menu: 'Check membership', fill: { Identity: ann.id } },
      reads('organizations.listFollowers', part('followers')),
      reads('organizations.listServiceAccounts', part('service-accounts')),
      {
        calls: 'organizations.createServiceAccount',
        at: part('service-accounts'),
        press: 'New service account',
        fill: { Name: 'Reach bot', Role: 'Member' },
      },
      {
        calls: 'organizations.deleteServiceAccount',
        at: part('service-accounts'),
        row: 'Actions for Reach robot',
        menu: 'Delete service account',
      },
      reads('organizations.listChangeRequests', part('change-requests')),
      {
        calls: 'organizations.requestChange',
        at: part('change-requests'),
        press: 'Request a change',
        fill: { 'Branch name': 'North' },
      },
      {
        calls: 'organizations.rejectChange',
        at: `${part('change-requests')}&filter=status eq %27pending%27`,
        row: /^Actions for/,
        menu: 'Reject',
      },
      {
        calls: 'organizations.requestChange',
        at: part('change-requests'),
        press: 'Request a change',
        fill: { 'Branch name': 'South' },
      },
      {
        calls: 'organizations.approveChange',
        at: `${part('change-requests')}&filter=status eq %27pending%27`,
        row: /^Actions for/,
        menu: 'Approve',
      },
      reads('products.listOfOrganization', part('products')),
      reads('orders.listOfOrganization', part('orders')),
      reads('chat.listMessageTemplatesOfOrganization', part('message-templates')),
      reads('invitations.list', '/invitations'),
      { calls: 'invitations.create', at: '/invitations', press: 'New invitation', fill: { Email: 'reach.new@example.org' } },
      reads('invitations.get', `/invitations/${invitation}`),
      { calls: 'invitations.delete', at: `/invitations/${invitation}`, menu: 'Delete' },
      { calls: 'organizations.delete', at: `/organizations/${world.branch}`, menu: 'Delete' },
      { calls: 'organizations.restore', at: '/trash', press: 'Restore Reach branch' },
    ];
  }
}
