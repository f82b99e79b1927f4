import { defineListResource } from '@tandem/list-query';
import { relatedOne } from '@tandem/lists';
import { DELETION_FIELDS } from '@tandem/storage';
import { z } from 'zod';
import { FileSchema } from '../files/files.schemas.js';
import { personOfProfileKind } from '../people/people.schemas.js';
import { Id, Timestamp } from '../shared/schemas.js';

/** List resources for one kind of relation: a profile's relations, and a target's profiles. */
export function relationResources<Key extends string>(name: string, key: Key) {
  const times = { createdAt: 'date', updatedAt: 'date' } as const;
  const shared = { name, hidden: DELETION_FIELDS, defaultOrder: 'createdAt desc, id desc' };
  const target = { [key]: 'string' } as Record<Key, 'string'>;
  return {
    ofProfile: defineListResource({ ...shared, fields: { ...target, ...times } }),
    /** Each row has the id of a profile and the times of the relation. */
    profiles: defineListResource({ ...shared, fields: { id: { type: 'string', stored: 'profileId' }, createdAt: 'date' } }),
  };
}

/** A follower or liker, and since when. */
export const FollowerSchema = z
  .object({ id: Id, name: z.string(), avatar: FileSchema.nullable(), createdAt: Timestamp })
  .meta({ id: 'Follower' });
export type Follower = z.infer<typeof FollowerSchema>;
/** How lists show followers and likers. */
export const followers = { row: FollowerSchema, relations: { person: relatedOne(personOfProfileKind, 'profileId') } };

/** Fields of every follow and like, besides the target's id. */
export const relationFields = { id: Id, profileId: Id, createdAt: Timestamp, updatedAt: Timestamp };
