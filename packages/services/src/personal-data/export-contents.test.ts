import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { defineModel, type BaseRecord } from '@tandem/storage';
import { fixture, startTestServer } from '@tandem/testing';
import { strFromU8, unzipSync } from 'fflate';
import { beforeEach, expect, it } from 'vitest';
import { writeContents } from './export-contents.js';

interface Trip extends BaseRecord {
  vehicleId: string;
  driverId: string;
}
const tripModel = defineModel<Trip>('trips', {
  softDelete: false,
  fields: { vehicleId: String, driverId: String },
  indexes: [],
  people: { driverId: { erased: 'keep' } },
  cascades: [{ with: 'vehicles', by: 'vehicleId' }],
});
interface Vehicle extends BaseRecord {
  ownerId: string;
}
const vehicleModel = defineModel<Vehicle>('vehicles', {
  softDelete: false,
  fields: { ownerId: String },
  indexes: [],
  people: { ownerId: { erased: 'remove' } },
});

const app = fixture(startTestServer);
const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-contents-test-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
let archive: string;
beforeEach(async () => {
  archive = path.join(folder.dir, 'archive.zip');
  await writeFile(archive, '');
});

const { signal } = new AbortController();

/** The names of all entries, as the archive's directory has them, in which one may stand twice. */
function namesIn(zip: Buffer): string[] {
  const names: string[] = [];
  const end = zip.lastIndexOf('PK\u0005\u0006');
  for (let at = zip.readUInt32LE(end + 16); at < end;) {
    const length = zip.readUInt16LE(at + 28);
    names.push(zip.toString('utf8', at + 46, at + 46 + length));
    at += 46 + length + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return names;
}
const textIn = (zip: Buffer, name: string) =>
  strFromU8(unzipSync(zip, { filter: (one) => one.name === name })[name] as Uint8Array);

it('an archive has one file for a collection whose records name the person, or belong to what does', async () => {
  // children first
  const Trips = app.storage.model(tripModel);
  const Vehicles = app.storage.model(vehicleModel);
  const { id, email } = await app.signUp();
  await Vehicles.create([
    { _id: 'own', ownerId: id },
    { _id: 'theirs', ownerId: 'somebody' },
  ]);
  const driven = { _id: 'driven', vehicleId: 'theirs', driverId: id };
  const lent = { _id: 'lent', vehicleId: 'own', driverId: 'somebody' };
  await Trips.create([driven, lent]);
  await writeContents(archive, { id, emails: [email] }, { storage: app.storage, files: app.tandem.services.files.whole, signal });
  const zip = await readFile(archive);
  const names = namesIn(zip);
  expect(names).toEqual(expect.arrayContaining(['vehicles.json', 'trips.json', 'about.json']));
  expect(names).toEqual([...new Set(names)]);
  expect(JSON.parse(textIn(zip, 'trips.json'))).toMatchObject([
    { id: 'driven', namedAs: 'driverId' },
    { id: 'lent', namedAs: 'vehicleId' },
  ]);
});

it('an archive has 60,000 files at most, since its format ends soon after, and names those that it leaves out', async () => {
  const { id, email } = await app.signUp();
  const files = {
    ...app.tandem.services.files.whole,
    async *ofPerson() {
      for (let n = 1; n <= 60_002; n++)
        yield { id: String(n), type: 'image/png', size: 0, open: () => Promise.resolve(Readable.from([])) };
    },
  };
  await writeContents(archive, { id, emails: [email] }, { storage: app.storage, files, signal });
  const zip = await readFile(archive);
  expect(namesIn(zip).filter((name) => name.startsWith('files/'))).toHaveLength(60_000);
  expect(JSON.parse(textIn(zip, 'about.json'))).toMatchObject({ filesLeftOut: ['60001', '60002'] });
});

it('an archive has no more of a file than the size by which it counts, and names those that are longer or shorter', async () => {
  const { id, email } = await app.signUp();
  const long = () => Promise.resolve(Readable.from([Buffer.from('abc'), Buffer.from('def'), Buffer.from('ghi')]));
  const files = {
    ...app.tandem.services.files.whole,
    async *ofPerson() {
      yield { id: 'long', type: 'image/png', size: 4, open: long };
      yield { id: 'whole', type: 'image/png', size: 9, open: long };
      yield { id: 'short', type: 'image/png', size: 20, open: long };
    },
  };
  await writeContents(archive, { id, emails: [email] }, { storage: app.storage, files, signal });
  const zip = await readFile(archive);
  expect([textIn(zip, 'files/long.png'), textIn(zip, 'files/whole.png')]).toEqual(['abcd', 'abcdefghi']);
  expect(JSON.parse(textIn(zip, 'about.json'))).toMatchObject({ filesLeftOut: ['long', 'short'] });
});

it('an archive goes on without a file that breaks off, and names it, when it is told to', async () => {
  const { id, email } = await app.signUp();
  const breaking = async function* () {
    yield Buffer.from('abc');
    throw new Error('the disk cannot be read');
  };
  const files = {
    ...app.tandem.services.files.whole,
    async *ofPerson() {
      yield { id: 'broken', type: 'image/png', size: 9, open: () => Promise.resolve(Readable.from(breaking())) };
      yield { id: 'whole', type: 'image/png', size: 3, open: () => Promise.resolve(Readable.from([Buffer.from('abc')])) };
    },
  };
  const write = (leaveOut: boolean) =>
    writeContents(archive, { id, emails: [email] }, { storage: app.storage, files, signal, leaveOut });
  await expect(write(false)).rejects.toThrow('the disk cannot be read');
  await write(true);
  const zip = await readFile(archive);
  expect([textIn(zip, 'files/broken.png'), textIn(zip, 'files/whole.png')]).toEqual(['abc', 'abc']);
  expect(JSON.parse(textIn(zip, 'about.json'))).toMatchObject({ filesLeftOut: ['broken'] });
});
