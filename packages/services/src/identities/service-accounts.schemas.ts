import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Name, Timestamp } from '../shared/schemas.js';
import { serviceAccountResource } from './identity.model.js';

/** An identity of a program, which belongs to an organization and acts by its API keys alone (decisions E4). */
export const ServiceAccountSchema = z
  .object({
    id: Id.describe('Its identity.'),
    name: z.string().describe('What it is for.'),
    role: z.string().nullable().describe('Its role in the organization; null if it has been removed from the members.'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'ServiceAccount' });
export type ServiceAccount = z.infer<typeof ServiceAccountSchema>;

export const serviceAccountList = defineList(serviceAccountResource, {
  row: ServiceAccountSchema,
  own: { organizationId: Id },
});

export const serviceAccountInput = z.strictObject({ organizationId: Id, identityId: Id });

export const createServiceAccountInput = z.strictObject({
  organizationId: Id,
  name: Name.describe('What it is for.'),
  role: z.enum(['admin', 'member']).describe('Its role in the organization.'),
});
export type NewServiceAccount = z.infer<typeof createServiceAccountInput>;
