import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, Name } from '../shared/schemas.js';

export const {{one}}Record = defineRecord('{{many}}', {
  fields: {
    identityId: serverField(Id, { stored: { type: String, required: true }, list: 'string' }),
    title: field(Name, { list: 'string' }),
  },
});
export const {{One}}Schema = {{one}}Record.schema.meta({ id: '{{One}}' });
export type {{One}} = z.infer<typeof {{One}}Schema>;

export const {{one}}List = defineList({{one}}Record.resource, { row: {{One}}Schema, equal: { identityId: Id } });

export const {{one}}Input = z.strictObject({ {{one}}Id: Id });
export const create{{One}}Input = z.strictObject({{one}}Record.given);
export const {{one}}PatchInput = z.strictObject({ {{one}}Id: Id, title: Name });
