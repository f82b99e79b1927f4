import { defineListResource } from '@tandem/list-query';
import { z } from 'zod';
import { FileSchema } from '../files/files.schemas.js';
import { Id, Timestamp } from '../shared/schemas.js';

/** What may be asked of relations of one kind: those of a profile, and the profiles at their beginning. */
export function relationResources<Key extends string>(name: string, key: Key) {
  const times = { createdAt: 'date', updatedAt: 'date' } as const;
  const shared = { name, hidden: ['deletionId'], defaultOrder: 'createdAt desc, id desc' };
  const target = { [key]: 'string' } as Record<Key, 'string'>;
  return {
    ofProfile: defineListResource({ ...shared, fields: { ...target, ...times } }),
    /** A row is a profile, with its id; the times are those of the relation. */
    profiles: defineListResource({ ...shared, fields: { id: { type: 'string', stored: 'profileId' }, createdAt: 'date' } }),
  };
}

/** What who follows or likes shows of itself, and since when it does. */
export const FollowerSchema = z
  .object({ id: Id, name: z.string(), avatar: FileSchema.nullable(), createdAt: Timestamp })
  .meta({ id: 'Follower' });
export type Follower = z.infer<typeof FollowerSchema>;

/** What every follow and like shows, beside whom or what. */
export const relationFields = { id: Id, profileId: Id, createdAt: Timestamp, updatedAt: Timestamp };
