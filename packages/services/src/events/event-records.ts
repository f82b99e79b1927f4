import type { TraceType } from '@tandem/storage';
import type { Attribute } from '../attributes/attributes.schemas.js';
import type { Category } from '../categories/categories.schemas.js';
import type { Ban } from '../chat/bans.schemas.js';
import type { Channel } from '../chat/channels.schemas.js';
import type { MessageTemplate } from '../chat/message-templates.schemas.js';
import type { Message } from '../chat/messages.schemas.js';
import type { Report } from '../chat/reports.schemas.js';
import type { Subscription } from '../chat/subscriptions.schemas.js';
import type { Identity } from '../identities/identities.schemas.js';
import type { Invitation } from '../invitations/invitations.schemas.js';
import type { Location } from '../locations/locations.schemas.js';
import type { Order } from '../orders/orders.schemas.js';
import type { ChangeRequest } from '../organizations/change-requests.schemas.js';
import type { Member, Organization } from '../organizations/organizations.schemas.js';
import type { ProductVariant } from '../product-variants/product-variants.schemas.js';
import type { Product } from '../products/products.schemas.js';
import type { Profile } from '../profiles/profiles.schemas.js';
import type { DomainEvent } from './events.schemas.js';

/** What events of each kind show. Texts of messages may be missing. */
export interface EventRecords {
  attribute: Attribute;
  ban: Ban;
  category: Category;
  changeRequest: ChangeRequest;
  channel: Channel;
  identity: Identity;
  invitation: Invitation;
  location: Location;
  member: Member;
  message: Omit<Message, 'content' | 'title'> & Partial<Pick<Message, 'content' | 'title'>>;
  messageTemplate: MessageTemplate;
  order: Order;
  organization: Organization;
  product: Product;
  productVariant: ProductVariant;
  profile: Profile;
  report: Omit<Report, 'content' | 'title'> & Partial<Pick<Report, 'content' | 'title'>>;
  subscription: Subscription;
}
type Kind = keyof EventRecords;

/** An event as the log shows it: the type tells which record `data` is. */
export type ShownEvent = {
  [Of in Kind]: Omit<DomainEvent, 'type' | 'data'> & { type: `${Of}.${TraceType}`; data: EventRecords[Of] };
}[Kind];
export interface ShownEventPage {
  data: ShownEvent[];
  nextSince: string | null;
}

/** A type of events, or all of a kind: `order.created`, `order.*`. */
export type EventPattern = `${Kind}.${TraceType | '*'}`;

/** An event of a type, with the record that it shows. */
export type EventOf<Pattern extends EventPattern> = Pattern extends `${infer Of extends Kind}.${string}`
  ? Omit<DomainEvent, 'data'> & { data: EventRecords[Of] }
  : never;

/**
 * Handlers by type of events (docs/embedding.md).
 * @typeParam OwnKind kinds of records of the host's own
 */
export type EventHandlers<OwnKind extends string = never> = {
  [Pattern in EventPattern]?: (event: EventOf<Pattern>) => unknown;
} & { [Pattern in `${OwnKind}.${TraceType | '*'}`]?: (event: DomainEvent) => unknown };
