import type { Person, TestServer } from '@tandem/testing';

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
  /** A file that is chosen in the view itself. */
  drop?: string;
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
  const channel = await post('/channels', { name: 'Reach talk', ownerId: admin.id });
  const subscription = await post('/subscriptions', { channelId: channel, subscribedId: ann.id });
  const message = await post('/messages', { channelId: channel, senderId: admin.id, content: 'Reach me' });
  const { id: report } = await ann.rest('POST', `/messages/${message}/reports`, { reason: 'Too loud' }).expect<Created>(201);
  const ott = await admin.rest('POST', '/auth/ott/generate', { identityId: ann.id }).expect<{ onetimeToken: string }>(201);
  const token = ott.onetimeToken;
  return { channel, subscription, report, token, ann, tea, coffee, cocoa, milk, variant, category, attribute, shop, branch, location, order, invitation, template, webhook, profile, own, account }; // prettier-ignore
}
export type World = Awaited<ReturnType<typeof makeWorld>>;

/** A view that reads by an operation. */
export const reads = (calls: string, at: string): Step => ({ calls, at });
