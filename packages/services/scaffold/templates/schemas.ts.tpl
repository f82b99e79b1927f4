import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Name, Timestamp } from '../shared/schemas.js';

export const {{One}}Schema = z
  .object({ id: Id, identityId: Id, title: z.string(), createdAt: Timestamp, updatedAt: Timestamp })
  .meta({ id: '{{One}}' });
export type {{One}} = z.infer<typeof {{One}}Schema>;

export const {{one}}Resource = defineListResource({
  name: '{{many}}',
  fields: { identityId: 'string', title: 'string', createdAt: 'date', updatedAt: 'date' },
  defaultOrder: 'createdAt desc, id desc',
});
export const {{one}}List = defineList({{one}}Resource, { row: {{One}}Schema, equal: { identityId: Id } });

export const {{one}}Input = z.strictObject({ {{one}}Id: Id });
export const create{{One}}Input = z.strictObject({ title: Name });
export const {{one}}PatchInput = z.strictObject({ {{one}}Id: Id, title: Name });
