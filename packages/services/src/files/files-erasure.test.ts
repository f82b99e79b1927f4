import { fixture, startS3Server, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { letErasuresPass } from '../../test/named-person.js';
import { fileModel } from './file.model.js';

const s3 = fixture(startS3Server);
const app = fixture(() =>
  startTestServer({
    files: { url: s3.url, pollMs: 3_600_000 },
    erasure: { erasureDelay: '0s', erasedMessages: 'keep' },
  }),
);

it('an outage of the storage keeps no erasure waiting for more than one file; the queue removes them all later', async () => {
  const [ann, bob] = [await app.signUp(), await app.signUp()];
  for (const { id, rest } of [ann, bob]) {
    const profile = await rest('POST', '/profiles', { identityId: id, name: 'Somebody' }).expect<{ id: string }>(201);
    for (let count = 0; count < 3; count++)
      await rest('GET', `/profiles/${profile.id}/avatar-upload-url?contentType=image/png&contentLength=10`).expect(200);
  }
  s3.fail(true);
  for (const { id, call } of [ann, bob]) expect(await call('rest', 'auth.erase', { identityId: id })).toMatchObject({ ok: true });
  await letErasuresPass(app);
  s3.fail(false);
  const refused = [...app.logs().matchAll(/^.*files were not removed at once.*$/gm)];
  const files = new Set(refused.map(([line]) => (JSON.parse(line) as { fileId: string }).fileId));
  expect(files.size).toBe(2);
  const { collection } = app.storage.model(fileModel);
  expect(await collection.countDocuments({ state: 'removing' })).toBe(6);
  app.clock.advance(3_600_000);
  await app.tandem.services.files.work();
  expect(await collection.countDocuments({})).toBe(0);
});
