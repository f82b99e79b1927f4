import { statSync } from 'node:fs';
import { chmod, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmbeddedMongo } from '../src/index.js';
import { connect, socketOf, startObserved, temporaryDirectory } from './fixture.js';
import { isRunning } from './processes.js';

test('written data is there after a stop and a start', async () => {
  const dir = await temporaryDirectory();
  {
    await using mongo = await startEmbeddedMongo({ dir });
    await connect(mongo.uri).db().collection('notes').insertOne({ text: 'kept' });
  }
  const mongo = await startObserved({ dir });
  expect(await connect(mongo.uri).db().collection('notes').countDocuments({ text: 'kept' })).toBe(1);
});

test('the URI asks for the journal, on a socket that only its user can access', async () => {
  const { uri } = await startObserved({ dir: await temporaryDirectory() });
  const { options } = connect(uri);
  expect(options).toMatchObject({ directConnection: true, dbName: 'tandem' });
  expect(options.writeConcern?.journal).toBe(true);
  expect(statSync(dirname(socketOf(uri))).mode & 0o777).toBe(0o700);
  expect(Buffer.byteLength(socketOf(uri))).toBeLessThanOrEqual(107);
});

test('what the engine stores is readable by its user alone, also in a directory that others may read', async () => {
  const dir = await temporaryDirectory();
  await chmod(dir, 0o755);
  const { uri } = await startObserved({ dir });
  await connect(uri).db().collection('notes').insertOne({ text: 'secret' });
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  expect(files.some((file) => file.includes('collection'))).toBe(true);
  expect(files.filter((file) => (statSync(file).mode & 0o077) !== 0)).toEqual([]);
});

test('a directory with a long name still gets a socket', async () => {
  const dir = join(await temporaryDirectory(), 'long'.repeat(40), 'with spaces, and ünïcode');
  const { uri } = await startObserved({ dir });
  expect(await connect(uri).db().command({ ping: 1 })).toMatchObject({ ok: 1 });
});

test('stopping ends the process, removes the socket, and may be repeated', async () => {
  const mongo = await startObserved({ dir: await temporaryDirectory() });
  await Promise.all([mongo.stop(), mongo.stop()]);
  await mongo.stop();
  expect(isRunning(mongo.pid())).toBe(false);
  expect(() => statSync(socketOf(mongo.uri))).toThrow('ENOENT');
});

test('a query with two candidate indexes and a sort that neither supports is answered', async () => {
  const { uri } = await startObserved({ dir: await temporaryDirectory() });
  const notes = connect(uri).db().collection('notes');
  await notes.insertMany(Array.from({ length: 20_000 }, (_, n) => ({ owner: 'ann', a: n % 100, b: n % 70, c: n % 1000 })));
  await notes.createIndexes([{ key: { owner: 1, a: 1 } }, { key: { owner: 1, b: 1 } }]);
  const last = await notes.find({ owner: 'ann' }, { sort: { c: -1 }, limit: 1 }).toArray();
  expect(last).toMatchObject([{ c: 999 }]);
});
