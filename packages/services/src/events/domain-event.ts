import { TRACE_TYPES } from '@tandem/storage';

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
  'ban',
  'report',
] as const;

/** All types of events. */
export const EVENT_TYPES: readonly string[] = [
  ...KINDS.flatMap((kind) => TRACE_TYPES.map((change) => `${kind}.${change}`)),
  'webhook.disabled',
];
