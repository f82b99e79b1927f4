import { gzipSync } from 'node:zlib';
import { createTestClock, fixture, startS3Server, startTestServer, type Person, type S3Object } from '@tandem/testing';
import { strFromU8, unzipSync } from 'fflate';
import { expect, it } from 'vitest';
import type { ShownFile, UploadAddress } from '../files/files.schemas.js';

const TYPE = 'image/png';
const clock = createTestClock();
const s3 = fixture(() => startS3Server(clock.now));
const app = fixture(() => startTestServer({ clock, files: { url: s3.url, pollMs: 3_600_000 } }));

/** Gives a person a picture. @returns its file, and the key of what the storage has of it */
async function give(who: Person, body: Buffer, headers: Record<string, string> = {}): Promise<{ file: ShownFile; key: string }> {
  const { id } = await who.rest('POST', '/profiles', { identityId: who.id, name: 'Carol' }).expect<{ id: string }>(201);
  const place = `/profiles/${id}/avatar-upload-url?contentType=${TYPE}&contentLength=${body.length}`;
  const { url, objectId } = await who.rest('GET', place).expect<UploadAddress>(200);
  const answer = await fetch(url, { method: 'PUT', headers: { ...headers, 'content-type': TYPE }, body: new Uint8Array(body) });
  expect(answer.status).toBe(200);
  const changed = who.rest('PATCH', `/profiles/${id}`, { avatar: { objectId, type: TYPE } });
  const { avatar } = await changed.expect<{ avatar: ShownFile }>(200);
  return { file: avatar, key: new URL(avatar.url).pathname.split('/').slice(2).join('/') };
}

const ask = (who: Person) => who.rest('POST', `/auth/${who.id}/export`).expect(202);
/** The files of the only archive, and what it says of those left out; undefined while there is none. */
function archived(): { files: Map<string, Uint8Array>; leftOut: unknown } | undefined {
  const zip = [...s3.objects.values()].find(({ type }) => type === 'application/zip');
  if (!zip) return undefined;
  const entries = Object.entries(unzipSync(zip.body));
  const { filesLeftOut: leftOut } = JSON.parse(strFromU8(new Map(entries).get('about.json') as Uint8Array)) as {
    filesLeftOut?: unknown;
  };
  return { files: new Map(entries.filter(([name]) => name.startsWith('files/'))), leftOut };
}

it('a file keeps its size in S3, in an archive and for readers, whatever encoding its upload has named', async () => {
  const carol = await app.signUp();
  const packed = gzipSync(Buffer.alloc(5_000_000));
  const { file, key } = await give(carol, packed, { 'content-encoding': 'gzip' });
  const shown = Buffer.from(await (await fetch(file.url)).arrayBuffer());
  expect([shown.length, shown.equals(packed)]).toEqual([packed.length, true]);
  // as an earlier version copied it
  s3.objects.set(key, { type: TYPE, body: packed, encoding: 'gzip' });
  await ask(carol);
  clock.advance(10_000);
  await app.tandem.runJobs();
  const { files, leftOut } = archived() ?? {};
  expect([...(files ?? [])].map(([name, { length }]) => [name, length])).toEqual([[`files/${file.id}.png`, packed.length]]);
  expect(leftOut).toBeUndefined();
});

it('an archive leaves out a file that cannot be read after some attempts with growing waits, and names it', async () => {
  s3.objects.clear();
  const dave = await app.signUp();
  const [good, bad] = [await give(dave, Buffer.from('good')), await give(dave, Buffer.from('bad'))];
  (s3.objects.get(bad.key) as S3Object).isArchived = true;
  await ask(dave);
  for (let minute = 0; minute < 90; minute++) {
    clock.advance(60_000);
    await app.tandem.runJobs();
  }
  const { files, leftOut } = archived() ?? {};
  expect([...(files ?? [])].map(([name, bytes]) => [name, strFromU8(bytes)])).toEqual([[`files/${good.file.id}.png`, 'good']]);
  expect(leftOut).toEqual([bad.file.id]);
  expect(s3.reads.filter((key) => key === good.key)).toHaveLength(4);
});
