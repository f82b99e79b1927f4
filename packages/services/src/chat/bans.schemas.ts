import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { personKind } from '../people/people.schemas.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id, Timestamp } from '../shared/schemas.js';

export const banRecord = defineRecord('bans', {
  fields: {
    channelId: field(Id, { fixed: true, shown: Id }),
    identityId: field(Id.describe('The identity that is kept out.'), { fixed: true, list: { type: 'string', sort: false } }),
    until: field(Timestamp.nullable().describe('When it ends; null for never.'), {
      shown: Timestamp.nullable(),
      stored: { type: Date, default: null },
      list: { type: 'date', sort: false },
    }),
    bannedBy: serverField(Id.describe('Who said so last.'), {
      stored: { type: String, required: true },
      list: { type: 'string', sort: false },
    }),
  },
});
export const BanSchema = banRecord.schema.meta({ id: 'Ban' });
export type Ban = z.infer<typeof BanSchema>;

export const banList = defineList(banRecord.resource, {
  row: BanSchema,
  relations: { identity: relatedOne(personKind, 'identityId') },
  own: { channelId: Id },
});

export const banInput = z.strictObject({ channelId: Id, identityId: Id });
export const createBanInput = z.strictObject(banRecord.given);
export type NewBan = z.infer<typeof createBanInput>;
