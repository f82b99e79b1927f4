import { defineList, relatedKind, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { metadataField } from '../shared/metadata.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, Line, Name } from '../shared/schemas.js';
import { treeField } from '../shared/trees.js';

/** Spec, "Other named resources". */
export const LOCATION_TYPES = ['ORGANIZATION', 'REGION', 'CITY', 'BUILDING'] as const;

const Type = z.enum(LOCATION_TYPES);

export const locationRecord = defineRecord('locations', {
  fields: {
    name: field(Name.describe('The name of the place.'), { list: 'string' }),
    code: field(Line.describe('A code of your own.'), { list: 'string' }),
    type: field(Type.describe('The kind of place.'), { shown: z.string(), list: 'string' }),
    /**
     * The only stored edge of the tree; null at the top. Ancestors are derived, so that a move is one write however large the
     * subtree.
     */
    parentId: field(Id.nullable().describe('The place that it is in; null at the top.'), {
      shown: Id.nullable(),
      list: 'string',
    }),
    metadata: metadataField,
    /** Ancestor ids, from the top down to the parent. */
    ancestors: serverField(z.array(Id)),
  },
  searched: ['name'],
  internal: treeField,
});
export const LocationSchema = locationRecord.schema.meta({ id: 'Location' });
export interface Location extends z.infer<typeof LocationSchema> {}

export const locationKind = relatedKind<Location>('location', LocationSchema, { resource: locationRecord.resource });

export const locationList = defineList(locationRecord.resource, {
  row: LocationSchema,
  relations: { parent: relatedOne(locationKind, 'parentId') },
});

export const locationInput = z.strictObject({ locationId: Id });

export const createLocationInput = z.strictObject(locationRecord.given);
export type NewLocation = z.infer<typeof createLocationInput>;

export const locationPatchInput = z.strictObject({ locationId: Id, ...locationRecord.patch });
export type LocationPatch = Omit<z.infer<typeof locationPatchInput>, 'locationId'>;
