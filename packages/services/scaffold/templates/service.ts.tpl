import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { newId, present, type Storage } from '@tandem/storage';
import { madeIn } from '../shared/made-records.js';
import { {{one}}Model, type {{One}}Record } from './{{file}}.model.js';
import { {{one}}Errors as errors } from './{{files}}.errors.js';
import { {{one}}List, type {{One}} } from './{{files}}.schemas.js';

export type {{Many}}Service = ReturnType<typeof create{{Many}}Service>;

function show(record: {{One}}Record): {{One}} {
  return present(record);
}

/** {{Plural}}. Ids are UUID strings; nothing here depends on HTTP. */
export function create{{Many}}Service({ storage, lists }: { storage: Storage; lists: Lists }) {
  const {{Many}} = storage.model({{one}}Model);
  lists.tell('{{one}}', {{one}}List, { show });
  const showOne = lists.one({{one}}List, show);

  return {
    async create(given: { identityId: string; title: string }, _id = newId(storage.clock)): Promise<{{One}}> {
      return show((await {{Many}}.create({ _id, ...given })).toObject());
    },

    /** What an earlier attempt with the same `Idempotency-Key` has stored. */
    made: madeIn({{Many}}, show),

    list(query: ListQuery): Promise<ListAnswer<{{One}}>> {
      return lists.answer({{one}}List, {{Many}}, { show }, query);
    },

    /** Who created it; undefined when there is none. */
    async ownerOf({{one}}Id: string): Promise<string | undefined> {
      const record = await {{Many}}.findById({{one}}Id, { identityId: 1 }).lean<{{One}}Record>();
      return record?.identityId;
    },

    /** @throws errors.notFound */
    async get({{one}}Id: string): Promise<{{One}}> {
      return showOne(await {{Many}}.findById({{one}}Id).lean<{{One}}Record>(), errors.notFound);
    },

    /** @throws errors.notFound */
    async patch({{one}}Id: string, title: string): Promise<{{One}}> {
      const options = { returnDocument: 'after' } as const;
      return showOne(await {{Many}}.findByIdAndUpdate({{one}}Id, { $set: { title } }, options).lean<{{One}}Record>(), errors.notFound);
    },

    /** Soft-deletes it. @throws errors.notFound */
    async delete({{one}}Id: string): Promise<void> {
      const { deletedCount } = await {{Many}}.deleteOne({ _id: {{one}}Id });
      if (deletedCount === 0) throw errors.notFound();
    },

    /** @throws errors.notFound when there is nothing to restore */
    async restore({{one}}Id: string): Promise<{{One}}> {
      return showOne(await {{Many}}.restore({{one}}Id), errors.notFound);
    },
  };
}
