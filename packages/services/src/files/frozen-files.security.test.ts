import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import net from 'node:net';
import path from 'node:path';
import { FACES, createTestClock, fixture, makeFolder, startS3Server, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Attachments } from './attachments.js';
import { fileModel } from './file.model.js';
import { profileModel } from '../profiles/profile.model.js';
import { fileQuotaModel } from './file-quota.model.js';
import type { GivenFile, UploadAddress } from './files.schemas.js';

const TYPE = 'image/png';
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const failure = (status: number, message: string) => ({ ok: false, status, message });
const put = (url: string, body: string) =>
  fetch(url, { method: 'PUT', headers: { 'content-type': TYPE }, body: Buffer.from(body) });
const answerOf = async (response: Response) => {
  const text = await response.text();
  return [response.status, text && (JSON.parse(text) as { error: { message: string } }).error.message];
};
const textOf = async (url: string) => (await fetch(url)).text();
const newId = () => crypto.randomUUID();

describe.each(['disk', 's3'] as const)('an attached file on %s', (kind) => {
  const clock = createTestClock();
  const folder = fixture(makeFolder);
  const s3 = fixture(() => startS3Server(clock.now));
  const start = () => {
    const files = { url: kind === 'disk' ? 'disk:' : s3.url, pollMs: 3_600_000, quota: '100b' };
    return startTestServer({ clock, dataDir: folder.path, files });
  };
  const app = fixture(start);
  const other = fixture(start);
  const ann = fixture(() => app.signUp());
  const admin = fixture(() => app.signUpAdmin());
  const notes = fixture(() => app.tandem.services.files.attachments({ purpose: 'note' }));
  let replaceNote: ReturnType<Attachments['replacing']>;
  beforeAll(() => {
    replaceNote = notes.replacing(app.storage.model(profileModel));
  });

  const uploaded = async (me: string, body: string) => {
    const { objectId, url } = await notes.issue({ contentType: TYPE, contentLength: body.length }, me);
    expect((await put(url, body)).status).toBe(200);
    return { given: { objectId, type: TYPE }, url };
  };
  /** Names of all files in the storage. */
  const stored = async (): Promise<string[]> => {
    if (kind === 's3') return [...s3.objects.keys()].map((key) => key.replace('uploads/', ''));
    const entries = await readdir(path.join(folder.path, 'files'), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  };
  const bakery = () => ({ name: `Bakery ${newId()}`, description: 'Bread', contact_email: 'bread@example.org' });

  it('stays what the admin has approved: a certificate cannot be swapped at its upload address', async () => {
    const { id } = await ann.rest('POST', '/organizations', { organization: bakery() }).expect<{ id: string }>(201);
    const query = `contentType=${TYPE}&contentLength=4`;
    const { objectId, url } = await ann
      .rest('GET', `/organizations/${id}/certificate-upload-url?${query}`)
      .expect<UploadAddress>(200);
    expect((await put(url, 'good')).status).toBe(200);
    const certificateImage = { objectId, type: TYPE };
    const asked = await ann
      .rest('POST', `/organizations/${id}/change-requests`, { certificateImage })
      .expect<{ id: string; certificateImageUrl: string }>(201);
    await admin.rest('POST', `/organizations/${id}/change-requests/${asked.id}/approve`).expect(200);
    const swapped = await put(url, 'evil');
    expect(await answerOf(swapped)).toEqual(kind === 'disk' ? [409, 'Object is already attached'] : [200, '']);
    expect(await textOf(asked.certificateImageUrl)).toBe('good');
  });

  it('is what is looked at: what its address had before is removed when that is out of date, and the file stays', async () => {
    const [me, note] = [newId(), newId()];
    const { given } = await uploaded(me, 'kept');
    const { id } = await notes.attach(note, given, me);
    const { storedAs } = await app.storage.model(fileModel).findById(id).orFail();
    expect(await stored()).toEqual(expect.arrayContaining([given.objectId, storedAs]));
    clock.advance(21 * MINUTE_MS);
    await app.tandem.services.files.work();
    expect(await stored()).toContain(storedAs);
    expect(await stored()).not.toContain(given.objectId);
    expect(await textOf((await notes.of([note])).get(note)?.[0]?.url ?? '')).toBe('kept');
    await notes.remove(note, id);
    await app.tandem.services.files.work();
    expect(await stored()).not.toContain(storedAs);
  });

  it('has no copies that outlive it: neither of a refused attachment, nor of one whose process died', async () => {
    const me = newId();
    const single = app.tandem.services.files.attachments({ purpose: 'note', max: 1 });
    const [first, second] = [await uploaded(me, '1'), await uploaded(me, '2')];
    const note = newId();
    await single.attach(note, first.given, me);
    const before = (await stored()).toSorted();
    await expect(single.attach(note, second.given, me)).rejects.toThrow('There must NOT be more than 1 files');
    expect((await stored()).toSorted()).toEqual(before);
    const writing = replaceNote(newId(), second.given, me, () => Promise.reject(new Error('refused')));
    await expect(writing).rejects.toThrow('refused');
    expect((await stored()).toSorted()).toEqual(before);
    // a copy is noted before it is made: this one was, by a process that died then
    const { given: dead } = await uploaded(me, '3');
    await app.storage.model(fileModel).updateOne({ objectId: second.given.objectId }, { $push: { copies: dead.objectId } });
    await single.attach(newId(), second.given, me);
    clock.advance(21 * MINUTE_MS);
    await app.tandem.services.files.work();
    expect(await stored()).not.toContain(dead.objectId);
  });

  it.each(FACES)('counts toward the byte quota of its identity, over %s', async (face) => {
    const me = await app.signUp();
    const organization = await me.rest('POST', '/organizations', { organization: bakery() }).expect<{ id: string }>(201);
    const withLogo = async () => {
      const query = { organizationId: organization.id, contentType: TYPE, contentLength: 60 };
      const { value } = (await me.call(face, 'organizations.logoUploadUrl', query)) as { value: UploadAddress };
      await put(value.url, 'x'.repeat(60));
      return me.call(face, 'organizations.create', {
        organization: { ...bakery(), logo: { objectId: value.objectId, type: TYPE } },
      });
    };
    expect(await withLogo()).toMatchObject({ ok: true });
    expect(await withLogo()).toEqual(failure(409, 'File quota is exceeded'));
  });

  it('is limited by the quota if twenty are attached at once on two instances, and frees its bytes when removed', async () => {
    const me = newId();
    const note = newId();
    const given = await Promise.all(Array.from({ length: 20 }, () => uploaded(me, 'x'.repeat(20))));
    const others = other.tandem.services.files.attachments({ purpose: 'note' });
    const outcomes = await Promise.allSettled(
      given.map((file, at) => (at % 2 === 0 ? notes : others).attach(note, file.given, me)),
    );
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [(outcome.reason as Error).message] : []));
    expect(refusals).toEqual(Array(15).fill('File quota is exceeded'));
    const files = (await notes.of([note])).get(note) ?? [];
    expect(files).toHaveLength(5);
    const refused = given[outcomes.findIndex(({ status }) => status === 'rejected')]?.given as GivenFile;
    await expect(notes.attach(note, refused, me)).rejects.toThrow('File quota is exceeded');
    await notes.remove(note, files[0]?.id ?? '');
    expect(await notes.attach(note, refused, me)).toMatchObject({ type: TYPE });
  });

  it('is counted once, whatever reservation a dead process has left', async () => {
    const me = newId();
    const reserve = (until: Date, fileId: string) => {
      const reservations = [{ key: newId(), fileId, size: 90, until }];
      return app.storage
        .model(fileQuotaModel)
        .collection.updateOne({ _id: me } as object, { $set: { reservations } }, { upsert: true });
    };
    const [first, second] = [await uploaded(me, 'x'.repeat(90)), await uploaded(me, 'x'.repeat(90))];
    const time = (await app.storage.time()).getTime();
    await reserve(new Date(time + MINUTE_MS), newId());
    await expect(notes.attach(newId(), first.given, me)).rejects.toThrow('File quota is exceeded');
    await reserve(new Date(time - 1), newId());
    const { id } = await notes.attach(newId(), first.given, me);
    const small = await uploaded(me, 'x'.repeat(10));
    // attached, and not yet let go of
    await reserve(new Date(time + MINUTE_MS), id);
    expect(await notes.attach(newId(), small.given, me)).toMatchObject({ type: TYPE });
    await expect(notes.attach(newId(), second.given, me)).rejects.toThrow('File quota is exceeded');
  });

  it('leaves its place among two hundred unused addresses to another, of which five hundred at once get no more', async () => {
    const me = newId();
    const others = other.tandem.services.files.attachments({ purpose: 'note' });
    const issue = (from = notes) => from.issue({ contentType: TYPE, contentLength: 1 }, me);
    const issued = await Promise.allSettled(Array.from({ length: 500 }, (_, at) => issue(at % 2 === 0 ? notes : others)));
    const refusals = issued.flatMap((outcome) => (outcome.status === 'rejected' ? [(outcome.reason as Error).message] : []));
    expect(refusals).toEqual(Array(300).fill('Too many requests'));
    const [address] = issued.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    await put(address?.url ?? '', 'x');
    const given = { objectId: address?.objectId ?? '', type: TYPE };
    // one that is given back keeps its place
    await expect(replaceNote(newId(), given, me, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    await expect(issue()).rejects.toThrow('Too many requests');
    await replaceNote(newId(), given, me, () => Promise.resolve());
    await issue();
    await expect(issue()).rejects.toThrow('Too many requests');
    clock.advance(DAY_MS + 1000);
    await app.tandem.services.files.work();
    await issue();
  });

  it.runIf(kind === 's3')('is what was checked, even if another is uploaded in its place at that moment', async () => {
    const me = newId();
    const { given, url } = await uploaded(me, 'good');
    const { objects } = s3;
    let copies = 0;
    s3.onCopy(async () => {
      // an address takes one size alone; a storage that does not hold to that is not believed
      if (copies++ === 0) objects.set(`uploads/${given.objectId}`, { type: TYPE, body: Buffer.from('evil and long') });
    });
    await expect(notes.attach(newId(), given, me)).rejects.toThrow('File has not been uploaded');
    await put(url, 'good');
    copies = 0;
    s3.onCopy(async () => void (copies++ === 0 && (await put(url, 'best'))));
    const { url: shown } = await notes.attach(newId(), given, me);
    s3.onCopy(async () => {});
    expect([await textOf(shown), copies]).toEqual(['best', 2]);
  });

  describe.runIf(kind === 'disk')('that is being uploaded', () => {
    /** An upload whose body has arrived in part. */
    const begin = async (url: string, size: number, part: string) => {
      const { hostname, port, pathname, search } = new URL(url);
      const socket = net.connect(Number(port), hostname);
      let answer = '';
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).on('error', () => {});
      const head = `host: ${hostname}\r\ncontent-type: ${TYPE}\r\ncontent-length: ${size}\r\nconnection: close`;
      socket.write(`PUT ${pathname}${search} HTTP/1.1\r\n${head}\r\n\r\n${part}`);
      const { pathname: target } = new URL(url);
      const objectId = target.split('/')[2] as string;
      const lease = async () => (await app.storage.model(fileModel).findOne({ objectId }).orFail()).uploader;
      await expect.poll(lease).not.toBeNull();
      return { socket, lease, end: async (rest: string) => (socket.write(rest), await once(socket, 'close'), answer) };
    };

    it('cannot be attached, nor uploaded by another, even on another instance', async () => {
      const me = newId();
      const { objectId, url } = await notes.issue({ contentType: TYPE, contentLength: 4 }, me);
      expect((await put(url, 'once')).status).toBe(200);
      const upload = await begin(url, 4, 'go');
      const there = url.replace(app.url, other.url);
      for (const address of [url, there])
        expect(await answerOf(await put(address, 'evil'))).toEqual([409, 'Object is being uploaded']);
      await expect(notes.attach(newId(), { objectId, type: TYPE }, me)).rejects.toThrow('Object is being uploaded');
      expect(await upload.end('od')).toMatch(/^HTTP\/1\.1 200 /);
      const { url: shown } = await notes.attach(newId(), { objectId, type: TYPE }, me);
      expect(await textOf(shown)).toBe('good');
    });

    it('is free as soon as the upload is aborted', async () => {
      const me = newId();
      const { url } = await uploaded(me, 'good');
      const upload = await begin(url, 4, 'ev');
      upload.socket.destroy();
      await expect.poll(upload.lease).toBeNull();
      expect((await put(url, 'best')).status).toBe(200);
    });

    it('is not replaced by an upload that has lost it to who attached it after two minutes', async () => {
      const me = newId();
      const { given, url } = await uploaded(me, 'good');
      const upload = await begin(url, 4, 'ev');
      clock.advance(2 * MINUTE_MS);
      const { url: shown } = await notes.attach(newId(), given, me);
      expect(await upload.end('il')).toMatch(/^HTTP\/1\.1 409 .*Object is already attached/s);
      expect(await textOf(shown)).toBe('good');
    });
  });
});
