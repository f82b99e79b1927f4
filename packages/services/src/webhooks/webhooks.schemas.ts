import { defineList } from '@tandem/lists';
import { deletionFields } from '@tandem/storage';
import { z } from 'zod';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, Line, Timestamp, distinct } from '../shared/schemas.js';

const URL_MAX = 2000;
const TYPES_MAX = 100;

/** Every entry of `types` that an event of this type matches. */
export function namesOf(type: string): string[] {
  return [type, type.replace(/\.\w+$/, '.*'), '*'];
}

/** That each exists is checked later: a host may have kinds of its own. */
const EventTypes = distinct(z.string())
  .min(1)
  .max(TYPES_MAX)
  .meta({
    description: 'The events to send: types, all of a kind as `order.*`, or `*`.',
    examples: [['order.*']],
  });

const WebhookUrl = z
  .string()
  .max(URL_MAX)
  .check(z.url({ protocol: /^https?$/ }))
  .refine((text) => {
    const { username, password } = URL.canParse(text) ? new URL(text) : { username: '', password: '' };
    return username === '' && password === '';
  }, 'must NOT have a user name or password')
  .meta({
    description: 'A public http or https address.',
    examples: ['https://example.org/webhooks'],
  });

export const webhookRecord = defineRecord('webhooks', {
  fields: {
    url: field(WebhookUrl),
    types: field(EventTypes, { stored: { type: [String], required: true } }),
    organizationId: field(
      Id.describe('The organization whose events are sent; without one those of all, and only admins manage the webhook.'),
      { optional: true, fixed: true, shown: z.string().nullable(), list: { type: 'string', sort: false } },
    ),
    description: field(Line.nullable().describe('What it is for.')),
    createdBy: serverField(z.string().describe('The identity that made it.'), { stored: { type: String, required: true } }),
    disabledAt: serverField(
      Timestamp.nullable().describe('When it was disabled, since its receiver was gone or took nothing for three days.'),
      { stored: { type: Date, default: null }, list: { type: 'date', sort: false } },
    ),
  },
  internal: {
    ...deletionFields,
    secrets: { type: [{ _id: false, secret: String, expiresAt: { type: Date, default: null } }], required: true },
    slot: { type: Number, required: true },
    disablingId: { type: String, default: null },
  },
});

export const WebhookSchema = webhookRecord.schema.meta({ id: 'Webhook' });
export type Webhook = z.infer<typeof WebhookSchema>;

/** After creation and rotation. */
export const WebhookWithSecretSchema = WebhookSchema.extend({
  secret: z
    .string()
    .describe('Verifies the signatures. No read shows it.')
    .meta({ examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'] })
    .optional(),
}).meta({ id: 'WebhookWithSecret' });
export type WebhookWithSecret = z.infer<typeof WebhookWithSecretSchema>;

export const webhookInput = z.strictObject({ webhookId: Id });
export const createWebhookInput = z.strictObject(webhookRecord.given);
export type NewWebhook = z.infer<typeof createWebhookInput>;
export const webhookPatchInput = z.strictObject({
  webhookId: Id,
  ...webhookRecord.patch,
  disabledAt: z.null().describe('Null enables it again.').optional(),
});
export type WebhookPatch = Omit<z.infer<typeof webhookPatchInput>, 'webhookId'>;

export const webhookList = defineList(webhookRecord.resource, {
  row: WebhookSchema,
  equal: { organizationId: Id },
});
