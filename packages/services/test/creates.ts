import { randomUUID } from 'node:crypto';
import { newEmail, type Outcome, type Person, type TestServer } from '@tandem/testing';
import { attributeModel } from '../src/attributes/attribute.model.js';
import { categoryModel } from '../src/categories/category.model.js';
import { banModel } from '../src/chat/ban.model.js';
import { channelModel } from '../src/chat/channel.model.js';
import { NUMBERED } from '../src/chat/message-log.js';
import { messageTemplateModel } from '../src/chat/message-template.model.js';
import { messageModel } from '../src/chat/message.model.js';
import { reportModel } from '../src/chat/report.model.js';
import { subscriptionModel } from '../src/chat/subscription.model.js';
import { fileModel } from '../src/files/file.model.js';
import { invitationModel } from '../src/invitations/invitation.model.js';
import { locationModel } from '../src/locations/location.model.js';
import { orderModel } from '../src/orders/order.model.js';
import { changeRequestModel } from '../src/organizations/change-request.model.js';
import { organizationModel } from '../src/organizations/organization.model.js';
import { productVariantModel } from '../src/product-variants/product-variant.model.js';
import { productModel } from '../src/products/product.model.js';
import { profileModel } from '../src/profiles/profile.model.js';
import { openChannel, say } from './chat-world.js';
import { identityModel } from '../src/identities/identity.model.js';
import { webhookModel } from '../src/webhooks/webhook.model.js';
import { createOrganization } from './people.js';
import { upload } from './uploads.js';

/** An answer without its `secret`, which is shown once: who is first has it. */
export function withoutSecret(outcome: Outcome): Outcome {
  if (!outcome.ok || Array.isArray(outcome.value)) return outcome;
  const { secret, ...value } = outcome.value as Record<string, unknown>;
  return { ...outcome, value };
}

/** What is created, and how many records of it there are. */
export interface Creation {
  input: Record<string, unknown>;
  count(): Promise<number>;
}
/** A creating operation. */
export interface Create {
  /** Something new to create: nobody else's. */
  prepare(): Promise<Creation>;
  /** What else to create with the same key. */
  other: Record<string, unknown>;
  /** Records that one call creates. Default 1. */
  records?: number;
}

/** All operations that take an `Idempotency-Key`, by name. `person` is an admin, so that each is allowed. */
export function createsOf(app: Pick<TestServer, 'storage' | 'signUp'>, person: () => Person): Record<string, Create> {
  type Model = Parameters<TestServer['storage']['model']>[0];
  const counting = (model: unknown, filter: object) => () => app.storage.model(model as Model).collection.countDocuments(filter);
  const named = (model: unknown, fields: object = {}, key = 'name'): Omit<Create, 'records'> => ({
    async prepare() {
      const name = randomUUID();
      return { input: { [key]: name, ...fields }, count: counting(model, { [key]: name }) };
    },
    other: { [key]: 'other' },
  });
  const product = (fields: object = {}) =>
    person()
      .rest('POST', '/products', { name: randomUUID(), description: '', ...fields })
      .expect<{ id: string }>(201);

  return {
    'attributes.create': named(attributeModel, { items: [{ key: 'S', value: 'small' }] }),
    'categories.create': named(categoryModel, { description: '' }),
    'locations.create': named(locationModel, { code: 'P', type: 'CITY' }),
    'profiles.create': {
      async prepare() {
        const [name, { id }] = [randomUUID(), person()];
        const route = await person().rest('POST', '/profiles', { identityId: id, name: 'first' }).expect<{ id: string }>(201);
        const avatar = await upload(person(), `/profiles/${route.id}/avatar-upload-url`, 'image/png', name);
        return { input: { identityId: id, name, avatar }, count: counting(profileModel, { name }) };
      },
      other: { name: 'other' },
    },
    'chat.createChannel': {
      async prepare() {
        const [name, { id }] = [randomUUID(), person()];
        return { input: { name, ownerId: id }, count: counting(channelModel, { name }) };
      },
      other: { name: 'other' },
    },
    'chat.createMessageTemplate': {
      async prepare() {
        const [title, organizationId] = [randomUUID(), await createOrganization(person())];
        return { input: { title, content: 'Hello', organizationId }, count: counting(messageTemplateModel, { title }) };
      },
      other: { title: 'other' },
    },
    'chat.createMessage': {
      async prepare() {
        const { id: channelId } = await openChannel(person());
        return {
          input: { channelId, senderId: person().id, content: 'Hello' },
          count: counting(messageModel, { channelId, ...NUMBERED }),
        };
      },
      other: { content: 'other' },
    },
    'chat.addAttachment': {
      async prepare() {
        const { id: messageId } = await say(person(), (await openChannel(person())).id);
        const file = await upload(person(), `/messages/${messageId}/attachment-upload-url`, 'image/png', randomUUID());
        return { input: { messageId, ...file }, count: counting(fileModel, { resourceId: messageId }) };
      },
      other: { objectId: randomUUID() },
    },
    'chat.createSubscription': {
      async prepare() {
        const { id: channelId } = await openChannel(person());
        const { id: subscribedId } = await app.signUp();
        return { input: { channelId, subscribedId }, count: counting(subscriptionModel, { channelId, subscribedId }) };
      },
      other: { subscribedId: randomUUID() },
    },
    'chat.createBan': {
      async prepare() {
        const { id: channelId } = await openChannel(person());
        const { id: identityId } = await app.signUp();
        return { input: { channelId, identityId }, count: counting(banModel, { channelId, identityId }) };
      },
      other: { identityId: randomUUID() },
    },
    'chat.createReport': {
      async prepare() {
        const { id: messageId } = await say(person(), (await openChannel(person())).id);
        return { input: { messageId, reason: 'rude' }, count: counting(reportModel, { messageId }) };
      },
      other: { reason: 'other' },
    },
    'invitations.create': {
      async prepare() {
        const [email, organizationId] = [newEmail(), await createOrganization(person())];
        return { input: { email, organizationId }, count: counting(invitationModel, { email }) };
      },
      other: { email: newEmail() },
    },
    'organizations.createServiceAccount': {
      async prepare() {
        const [name, organizationId] = [randomUUID(), await createOrganization(person())];
        return { input: { organizationId, name, role: 'member' }, count: counting(identityModel, { name }) };
      },
      other: { name: 'other' },
    },
    'webhooks.create': {
      async prepare() {
        const [description, organizationId] = [randomUUID(), await createOrganization(person())];
        const input = { url: 'https://93.184.215.14/', types: ['order.*'], organizationId, description };
        return { input, count: counting(webhookModel, { description }) };
      },
      other: { description: 'other' },
    },
    'orders.create': {
      async prepare() {
        const { id: productId } = await product();
        const items = [{ productId, quantity: 1, price: 2 }];
        const input = { identityId: person().id, currency: 'EUR', items, privateMetadata: { cost: 1 } };
        return { input, count: counting(orderModel, { 'items.productId': productId }) };
      },
      other: { tax: 1 },
    },
    'organizations.create': {
      async prepare() {
        const name = randomUUID();
        const organization = { name, description: '', contact_email: 'a@example.org', privateMetadata: { rank: 1 } };
        return { input: { organization }, count: counting(organizationModel, { name }) };
      },
      other: { organization: { name: 'other', description: '', contact_email: 'a@example.org' } },
    },
    'organizations.requestChange': {
      async prepare() {
        const organizationId = await createOrganization(person());
        const input = { organizationId, name: randomUUID() };
        return { input, count: counting(changeRequestModel, { organizationId }) };
      },
      other: { name: 'other' },
    },
    'products.create': {
      async prepare() {
        const [name, organizationId] = [randomUUID(), await createOrganization(person())];
        return { input: { name, description: '', organizationId }, count: counting(productModel, { name }) };
      },
      other: { name: 'other' },
    },
    'products.createMany': {
      async prepare() {
        const name = randomUUID();
        return {
          input: { products: [1, 2, 3].map((n) => ({ name, description: String(n) })) },
          count: counting(productModel, { name }),
        };
      },
      other: { products: [{ name: 'other', description: '' }] },
      records: 3,
    },
    'products.copy': {
      async prepare() {
        const name = randomUUID();
        const { id } = await product({ name });
        return { input: { productId: id }, count: counting(productModel, { name, _id: { $ne: id } }) };
      },
      other: { productId: randomUUID() },
    },
    'products.copyMany': {
      async prepare() {
        const name = randomUUID();
        const ids = [await product({ name }), await product({ name })].map(({ id }) => id);
        return { input: { ids }, count: counting(productModel, { name, _id: { $nin: ids } }) };
      },
      other: { ids: [randomUUID()] },
      records: 2,
    },
    'products.addImage': {
      async prepare() {
        const { id: productId } = await product();
        const file = await upload(person(), `/products/${productId}/image-upload-url`, 'image/png', randomUUID());
        return { input: { productId, ...file }, count: counting(fileModel, { resourceId: productId }) };
      },
      other: { objectId: randomUUID() },
    },
    'productVariants.create': {
      async prepare() {
        const { id: productId } = await product();
        return { input: { productId, title: 'Red' }, count: counting(productVariantModel, { productId }) };
      },
      other: { title: 'other' },
    },
    'productVariants.createMany': {
      async prepare() {
        const { id: productId } = await product();
        const variants = ['Red', 'Green'].map((title) => ({ title }));
        return { input: { productId, variants }, count: counting(productVariantModel, { productId }) };
      },
      other: { variants: [{ title: 'other' }] },
      records: 2,
    },
  };
}
