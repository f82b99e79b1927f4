/** Something that happened to a record: an entry of the event log (decisions E1). */
export interface DomainEvent {
  id: string;
  /** `order.created`. */
  type: string;
  at: Date;
  subject: { type: string; id: string };
  /** The organization whose record it is; null for none. */
  organizationId: string | null;
  actor: { type: 'identity' | 'key' | 'system'; id: string | null } | null;
  /** The record, as its own read shows it. */
  data: Record<string, unknown>;
}

const KINDS = [
  'identity',
  'profile',
  'organization',
  'member',
  'changeRequest',
  'invitation',
  'product',
  'productVariant',
  'category',
  'attribute',
  'order',
  'location',
  'channel',
  'subscription',
  'message',
  'messageTemplate',
] as const;
const HAPPENINGS = ['created', 'updated', 'deleted', 'restored'] as const;

/** All types of events. */
export const EVENT_TYPES: readonly string[] = [
  ...KINDS.flatMap((kind) => HAPPENINGS.map((happening) => `${kind}.${happening}`)),
  'webhook.disabled',
];
