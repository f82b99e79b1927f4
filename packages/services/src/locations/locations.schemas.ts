import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Line, Name, Timestamp } from '../shared/schemas.js';

/** Spec, "Other named resources". */
export const LOCATION_TYPES = ['ORGANIZATION', 'REGION', 'CITY', 'BUILDING'] as const;

const Type = z.enum(LOCATION_TYPES);

export const LocationSchema = z
  .object({
    id: Id,
    name: z.string(),
    code: z.string(),
    type: z.string(),
    parentId: Id.nullable(),
    /** Ancestor ids, from the top down to the parent. */
    ancestors: z.array(Id),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Location' });
export type Location = z.infer<typeof LocationSchema>;

export const locationResource = defineListResource({
  name: 'locations',
  fields: { name: 'string', code: 'string', type: 'string', parentId: 'string', createdAt: 'date', updatedAt: 'date' },
  hidden: ['treeVersion'],
  defaultOrder: 'createdAt desc, id desc',
});
export const locationList = defineList(locationResource, { row: LocationSchema });

export const locationInput = z.strictObject({ locationId: Id });

export const createLocationInput = z.strictObject({ name: Name, code: Line, type: Type, parentId: Id.nullable().optional() });
export type NewLocation = z.infer<typeof createLocationInput>;

export const locationPatchInput = z.strictObject({
  locationId: Id,
  name: Name.optional(),
  code: Line.optional(),
  type: Type.optional(),
  /** Null moves it to the top. Its subtree moves along. */
  parentId: Id.nullable().optional(),
});
export type LocationPatch = Omit<z.infer<typeof locationPatchInput>, 'locationId'>;
