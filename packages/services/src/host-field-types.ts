import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure, TRPCSubscriptionProcedure } from '@trpc/server';
import type { z } from 'zod';
import type { Category } from './categories/categories.schemas.js';
import type { Channel } from './chat/channels.schemas.js';
import type { Message } from './chat/messages.schemas.js';
import type { Identity } from './identities/identities.schemas.js';
import type { Location } from './locations/locations.schemas.js';
import type { Order } from './orders/orders.schemas.js';
import type { Organization } from './organizations/organizations.schemas.js';
import type { ProductVariant } from './product-variants/product-variants.schemas.js';
import type { Product } from './products/products.schemas.js';
import type { Profile } from './profiles/profiles.schemas.js';

/** What records look like without a host's fields, by the name of their collection. */
interface Records {
  categories: Category;
  channels: Channel;
  identities: Identity;
  locations: Location;
  messages: Omit<Message, 'reactions'>;
  orders: Omit<Order, 'items'>;
  organizations: Organization;
  productVariants: ProductVariant;
  products: Product;
  profiles: Profile;
}
export type Kind = keyof Records;

/** The fields that a host adds to records, by the name of their collection (docs/embedding.md). */
export type DeclaredFields = { [Name in Kind]?: z.ZodObject };

/** The procedures of a router whose records have fields of the host. */
export type WithFields<Router, Fields extends DeclaredFields> = keyof Fields extends never
  ? Router
  : Router extends TRPCBuiltRouter<infer Root, infer Services>
    ? TRPCBuiltRouter<Root, { [Name in keyof Services]: ServiceWith<Services[Name], Name, Fields, Extensions<Fields>> }>
    : never;

type ServiceWith<Procedures, Service, Fields, Added> = {
  [Name in keyof Procedures]: Procedures[Name] extends TRPCQueryProcedure<infer Of>
    ? TRPCQueryProcedure<{ input: Of['input']; output: ShownIn<Of['output'], Added>; meta: Of['meta'] }>
    : Procedures[Name] extends TRPCMutationProcedure<infer Of>
      ? TRPCMutationProcedure<{
          input: InputWith<Of['input'], Given<FieldsOf<Fields, KindIn<Service, Name>>, Name>>;
          output: ShownIn<Of['output'], Added>;
          meta: Of['meta'];
        }>
      : Procedures[Name] extends TRPCSubscriptionProcedure<infer Of>
        ? TRPCSubscriptionProcedure<{ input: Of['input']; output: EventsWith<Of['output'], Added>; meta: Of['meta'] }>
        : Procedures[Name];
};

/** The kind of records that a procedure writes. */
type KindIn<Service, Name> = Service extends 'chat'
  ? Name extends `${string}Channel`
    ? 'channels'
    : Name extends `${string}Message`
      ? 'messages'
      : never
  : Service;
type FieldsOf<Fields, Of> = [Of] extends [keyof Fields] ? Fields[Of] : unknown;

/** Each kind with fields: its record, and what answers show besides. */
type Extensions<Fields extends DeclaredFields> = {
  [Name in keyof Fields & Kind]: Extension<Records[Name], Fields[Name] extends z.ZodObject ? Shown<Fields[Name]> : unknown>;
}[keyof Fields & Kind];
interface Extension<Row = unknown, Added = unknown> {
  record: Row;
  shown: Added;
}

/** Fields in answers: null where a record has none. */
type Shown<Fields extends z.ZodObject> = {
  [Name in keyof Fields['shape']]: NonNullable<z.output<Fields['shape'][Name]>> | null;
};

/** Fields in a change: null clears one that may be left out. */
type Patch<Fields extends z.ZodObject> = {
  [Name in keyof z.input<Fields>]?: undefined extends z.input<Fields>[Name]
    ? z.input<Fields>[Name] | null
    : z.input<Fields>[Name];
};

/** What an input gives beside its metadata. */
type Given<Fields, Name> = Fields extends z.ZodObject
  ? Name extends `patch${string}`
    ? Patch<Fields>
    : z.input<Fields>
  : unknown;
/** An input with more beside its metadata, which may be in a part of it. */
type InputWith<Input, Added> = Input extends (infer One)[]
  ? InputWith<One, Added>[]
  : Input extends object
    ? 'metadata' extends keyof Input
      ? Input & Added
      : { [Key in keyof Input]: InputWith<Input[Key], Added> }
    : Input;

/** A type with more fields in each record that has some, at any depth. */
type ShownIn<Answer, Added> = Answer extends (infer One)[]
  ? ShownIn<One, Added>[]
  : Answer extends object
    ? { [Key in keyof Answer]: ShownIn<Answer[Key], Added> } & ([AddedTo<Answer, Added>] extends [never]
        ? unknown
        : AddedTo<Answer, Added>)
    : Answer;
/** What a record shows besides; never for anything else. */
type AddedTo<Answer, Added> = Added extends Extension ? (Answer extends Added['record'] ? Added['shown'] : never) : never;
type EventsWith<Events, Added> = Events extends AsyncIterable<infer Event> ? AsyncIterable<ShownIn<Event, Added>> : Events;
