import { isNamedBy, type ScopedProcedure } from '@tandem/core';
import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Name, Timestamp, distinct } from '../shared/schemas.js';
import { apiKeyResource } from './api-key.model.js';
import { isNetwork } from './networks.js';

const SCOPE_MAX = 200;
const SCOPES_MAX = 100;
const NETWORK_MAX = 50;
const NETWORKS_MAX = 50;

const described = {
  scopes:
    'The operations that it may call: `orders.list`, `products.*`, `products.*:read`, `*:read` (all that change nothing), `*`.',
  networks: 'The addresses and networks from which it is accepted, as in `203.0.113.0/24`; null for all.',
  expiresAt: 'When it ends; null for never.',
};

/** An API key, as its owner sees it. */
export const ApiKeySchema = z
  .object({
    id: Id,
    name: z.string().describe('What it is for.'),
    scopes: z.array(z.string()).describe(described.scopes),
    networks: z.array(z.string()).nullable().describe(described.networks),
    expiresAt: Timestamp.nullable().describe(described.expiresAt),
    lastUsedAt: Timestamp.nullable().describe('When it was last used, to the minute; null for never.'),
    createdAt: Timestamp,
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKeySchema>;

export const CreatedApiKeySchema = ApiKeySchema.extend({
  key: z.string().describe('The key itself, which is shown this once.'),
}).meta({ id: 'CreatedApiKey' });
export type CreatedApiKey = z.infer<typeof CreatedApiKeySchema>;

export const apiKeyList = defineList(apiKeyResource, { row: ApiKeySchema, own: { identityId: Id } });

export const apiKeyInput = z.strictObject({ identityId: Id, keyId: Id });

/** @param procedures those that keys may call */
export function createApiKeyInput(procedures: () => readonly ScopedProcedure[]) {
  const namesOne = (scope: string) => procedures().some((procedure) => isNamedBy(scope, procedure));
  const Scope = z.string().max(SCOPE_MAX).refine(namesOne, 'must name operations that API keys may call');
  const Network = z.string().max(NETWORK_MAX).refine(isNetwork, 'must be an address or a network such as 10.0.0.0/8');
  return z.strictObject({
    identityId: Id,
    name: Name.describe('What it is for.'),
    scopes: distinct(Scope)
      .min(1)
      .max(SCOPES_MAX)
      .meta({ description: described.scopes, examples: [['products.*']] }),
    networks: distinct(Network)
      .min(1)
      .max(NETWORKS_MAX)
      .nullable()
      .meta({ description: described.networks, examples: [['203.0.113.0/24']] })
      .optional(),
    expiresAt: z.iso
      .datetime({ offset: true })
      .nullable()
      .meta({ description: described.expiresAt, examples: ['2099-01-31T09:30:00.000Z'] })
      .optional(),
  });
}
export type NewApiKey = Omit<z.infer<ReturnType<typeof createApiKeyInput>>, 'identityId'>;
