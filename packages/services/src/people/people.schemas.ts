import { relatedKind } from '@tandem/lists';
import { z } from 'zod';
import { Id } from '../shared/schemas.js';

/** Maximum number of people in one request (decisions N1). */
const IDS_MAX = 100;

export const PersonSchema = z
  .object({
    id: Id.describe('The identity.'),
    name: z.string().nullable().describe('The name of its oldest profile, else of the service account; null without one.'),
    avatarUrl: z.url().nullable().describe('The address of the picture of that profile, the same for a while.'),
    profileId: Id.nullable().describe('That profile.'),
  })
  .meta({ id: 'Person' });
/** What people may know of each other: never an email (decisions N1). */
export interface Person extends z.infer<typeof PersonSchema> {}

/** Cards as related records (decisions N2): of an identity, of a profile's identity, and of an organization's owners. */
export const personKind = relatedKind<Person>('person', PersonSchema, { isPrivate: true });
export const personOfProfileKind = relatedKind<Person>('person of a profile', PersonSchema, { isPrivate: true });
export const ownersKind = relatedKind<Person[]>('owners of an organization', z.array(PersonSchema), { isPrivate: true });

export const personInput = z.strictObject({ identityId: Id.describe('The identity.') });

export const peopleInput = z.strictObject({
  ids: z
    // one wrong id is refused as thousands are, by the refinement (decisions H5)
    .union([z.string(), z.array(z.unknown()) as unknown as z.ZodType<string[], string[]>])
    .meta({
      description: `The identities, at most ${IDS_MAX}, separated by commas. Repeated ones count once.`,
      examples: ['0198c0de-5a5a-7000-8000-2f9d1c4b7e60,0198c0de-5a5a-7000-8000-2f9d1c4b7e61'],
      // REST has text alone
      override: { type: 'string', anyOf: undefined },
    })
    .transform((ids) => [...new Set(typeof ids === 'string' ? ids.split(',') : ids)])
    .refine((ids) => ids.every((id) => Id.safeParse(id).success), { error: 'must match format "uuid"', abort: true })
    .refine((ids) => ids.length <= IDS_MAX, `must NOT have more than ${IDS_MAX} items`),
});
export const PeopleSchema = z.object({ data: z.array(PersonSchema) });
