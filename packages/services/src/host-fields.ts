import { NO_EXTENSION, indexesLike, madeAgain, type Extension } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import type { z } from 'zod';
import { categoryModel } from './categories/category.model.js';
import { categoryRecord } from './categories/categories.schemas.js';
import { channelModel } from './chat/channel.model.js';
import { channelRecord } from './chat/channels.schemas.js';
import { SentMessageSchema } from './chat/chat-events.js';
import { messageModel } from './chat/message.model.js';
import { messageRecord } from './chat/messages.schemas.js';
import type { DeclaredFields, Kind } from './host-field-types.js';
import { identityRecord } from './identities/identities.schemas.js';
import { identityModel } from './identities/identity.model.js';
import { locationModel } from './locations/location.model.js';
import { locationRecord } from './locations/locations.schemas.js';
import { orderModel } from './orders/order.model.js';
import { orderRecord } from './orders/orders.schemas.js';
import { organizationModel } from './organizations/organization.model.js';
import { organizationRecord } from './organizations/organizations.schemas.js';
import { productVariantModel } from './product-variants/product-variant.model.js';
import { productVariantRecord } from './product-variants/product-variants.schemas.js';
import { productModel } from './products/product.model.js';
import { productRecord } from './products/products.schemas.js';
import { profileModel } from './profiles/profile.model.js';
import { profileRecord } from './profiles/profiles.schemas.js';
import { extendingSchemas } from './shared/extended-schemas.js';
import { extendKind, type Extendable } from './shared/host-fields.js';

/** The kinds of records that have metadata, by the name of their collection. */
export const EXTENDABLE: Record<Kind, Extendable> = {
  categories: { ...categoryRecord, model: categoryModel },
  channels: { ...channelRecord, model: channelModel },
  identities: { ...identityRecord, model: identityModel },
  locations: { ...locationRecord, model: locationModel },
  messages: { ...messageRecord, variants: [SentMessageSchema], model: messageModel },
  orders: { ...orderRecord, model: orderModel },
  organizations: { ...organizationRecord, model: organizationModel },
  productVariants: { ...productVariantRecord, model: productVariantModel },
  products: { ...productRecord, model: productModel },
  profiles: { ...profileRecord, model: profileModel },
};

/**
 * Makes what adds a host's fields to all schemas and lists in which a record of theirs appears.
 * @throws Error naming a setting that is wrong
 */
export function createHostFields(declared: DeclaredFields, storage: Pick<Storage, 'addIndexes'>): Extension {
  const kinds = Object.entries(declared).map(([name, fields]) => {
    if (!Object.hasOwn(EXTENDABLE, name)) throw new Error(`fields: "${name}" has no records that fields can be added to`);
    const { model, resource } = EXTENDABLE[name as Kind];
    const kind = extendKind(`fields.${name}`, EXTENDABLE[name as Kind], fields);
    storage.addIndexes(model, indexesLike(kind.resource, resource));
    return { ...kind, of: resource.fields };
  });
  if (kinds.length === 0) return NO_EXTENSION;
  const lists = new Map<object, object>();
  const extension: Extension = {
    resource: (given) => kinds.find(({ of }) => of === given.fields)?.resource ?? given,
    schema: extendingSchemas(
      (given) => madeAgain(given, extension) ?? given,
      (object) => kinds.reduce<z.ZodObject | undefined>((found, kind) => found ?? kind.object(object), undefined),
    ),
    list<List extends object>(given: List): List {
      const made = lists.get(given) ?? madeAgain(given, extension) ?? given;
      lists.set(given, made);
      return made as List;
    },
  };
  return extension;
}
