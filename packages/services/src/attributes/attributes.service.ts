import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { newId, present, type Storage } from '@tandem/storage';
import { existingIn } from '../shared/existing.js';
import { madeIn } from '../shared/made-records.js';
import { attributeModel, type AttributeRecord } from './attribute.model.js';
import { attributeErrors as errors } from './attributes.errors.js';
import { attributeKind, attributeList, type Attribute, type AttributePatch, type NewAttribute } from './attributes.schemas.js';

export type AttributesService = ReturnType<typeof createAttributesService>;

function show(record: AttributeRecord): Attribute {
  return present(record);
}

/** Attribute groups. Ids are UUID strings; nothing here depends on HTTP. */
export function createAttributesService({ storage, lists }: { storage: Storage; lists: Lists }) {
  const Attributes = storage.model(attributeModel);

  const showOne = lists.one(attributeList, show);

  lists.relate(attributeKind, { model: Attributes as never, show });
  lists.tell('attribute', attributeList, { show });

  return {
    /** Those of the given attribute groups that are live. */
    existing: existingIn(Attributes),

    async create(given: NewAttribute, id = newId(storage.clock)): Promise<Attribute> {
      const record = await Attributes.create({ _id: id, ...given });
      return show(record.toObject());
    },

    made: madeIn(Attributes, show),

    list(query: ListQuery): Promise<ListAnswer<Attribute>> {
      return lists.answer(attributeList, Attributes, { show }, query);
    },

    /** @throws errors.notFound */
    async get(attributeId: string, query?: ReadQuery): Promise<Attribute> {
      return lists.find(attributeList, Attributes, { _id: attributeId }, { show }, errors.notFound, query);
    },

    /** @throws errors.nothingToUpdate for an empty change, notFound */
    async patch(attributeId: string, patch: AttributePatch): Promise<Attribute> {
      const set = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
      if (Object.keys(set).length === 0) throw errors.nothingToUpdate();
      const options = { returnDocument: 'after' } as const;
      const record = await Attributes.findByIdAndUpdate(attributeId, { $set: set }, options).lean<AttributeRecord>();
      return showOne(record, errors.notFound);
    },

    /** Soft-deletes an attribute group. @throws errors.notFoundToDelete */
    async delete(attributeId: string): Promise<void> {
      const { deletedCount } = await Attributes.deleteOne({ _id: attributeId });
      if (deletedCount === 0) throw errors.notFoundToDelete();
    },

    /** @throws errors.notFound when there is nothing to restore */
    async restore(attributeId: string): Promise<Attribute> {
      return showOne(await Attributes.restore(attributeId), errors.notFound);
    },
  };
}
