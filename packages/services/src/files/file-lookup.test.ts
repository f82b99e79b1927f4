import { openStorage } from '@tandem/storage';
import { databaseOf, fixture } from '@tandem/testing';
import { expect, it, vi } from 'vitest';
import { createFileLookup } from './file-lookup.js';
import { fileModel, type FileRecord } from './file.model.js';

const storage = fixture(async () => {
  const opened = await openStorage({ uri: databaseOf('file-lookup') });
  return Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() });
});

it('finds the files of records, oldest first, with one query for all that are asked for at the same time', async () => {
  const Files = storage.model(fileModel);
  const times = { createdAt: new Date(), updatedAt: new Date(), dueAt: new Date(), attempts: 0, owner: null };
  const attach = (_id: string, purpose: string, resourceId: string, at: number, state = 'attached') =>
    Files.create({ _id, purpose, resourceId, state, attachedAt: new Date(at), objectId: _id, issuedTo: 'ann', type: 'image/png', size: 1, ...times } as never); // prettier-ignore
  await attach('icon', 'icon', 'one', 1);
  await attach('second', 'attachment', 'one', 3);
  await attach('first', 'attachment', 'one', 2);
  await attach('others', 'attachment', 'two', 1);
  await attach('removed', 'attachment', 'one', 1, 'removing');
  await attach('unasked', 'avatar', 'one', 1);
  const find = vi.spyOn(Files.collection, 'find');
  const lookUp = createFileLookup(Files);
  const idsOf = (files: FileRecord[]) => files.map(({ _id }) => _id);
  const [attachments, icons, none] = await Promise.all([
    lookUp('attachment', ['two', 'none', 'one']),
    lookUp('icon', ['one', 'two']),
    lookUp('attachment', []),
  ]);
  expect(idsOf(attachments)).toEqual(['others', 'first', 'second']);
  expect(idsOf(icons)).toEqual(['icon']);
  expect(none).toEqual([]);
  expect(find).toHaveBeenCalledTimes(1);
});
