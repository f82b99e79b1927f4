import { listIndexes } from '@tandem/lists';
import { defineModel, type Deletable } from '@tandem/storage';
import type { StoredFields } from '../shared/record.js';
import type { StoredSecret } from './signatures.js';
import { webhookRecord } from './webhooks.schemas.js';

export interface WebhookRecord extends Deletable, StoredFields<typeof webhookRecord> {
  types: string[];
  createdBy: string;
  disabledAt: Date | null;
  /** The newest first. */
  secrets: StoredSecret[];
  /** Its number within its organization, so that there are not too many. */
  slot: number;
  /** The id of the event `webhook.disabled`, until that and the mail are on their way. Written with `disabledAt`, so that no crash loses them. */
  disablingId: string | null;
}

export const webhookModel = defineModel<WebhookRecord>('webhooks', {
  // no event tells of it: its version alone is asked for, and an address may hold a secret
  traced: { kind: 'webhook', hidden: ['url', 'secrets', 'slot', 'disablingId'], untold: ['slot', 'disablingId'] },
  // who made it may have left, and others changed its address, which may hold a secret, and its text
  people: { createdBy: { erased: 'replace', exported: ['types', 'organizationId', 'createdAt'] } },
  fields: webhookRecord.stored,
  cascades: [{ with: 'organizations', by: 'organizationId' }],
  indexes: [
    ...listIndexes(webhookRecord.resource, { by: ['organizationId'] }),
    { keys: { organizationId: 1, slot: 1 }, unique: true, serves: 'a limited number of webhooks of an organization' },
    {
      keys: { organizationId: 1, types: 1 },
      where: { disabledAt: null },
      serves: 'the webhooks that an event is sent to',
    },
    {
      keys: { disablingId: 1 },
      where: { disablingId: { $type: 'string' } },
      serves: 'what a process that died has not told of disabled webhooks',
    },
    {
      keys: { organizationId: 1, deletionId: 1 },
      deletedToo: true,
      replaces: 'organizationId_1_deletionId_1_where_deletionId',
      serves: 'the webhooks that come back, or go for good, with their organization',
    },
  ],
});
