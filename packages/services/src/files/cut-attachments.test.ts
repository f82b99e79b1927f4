import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { fixture, isCommand, makeFolder, startStoreProxy, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const TYPE = 'image/png';
const MINUTE_MS = 60_000;

const folder = fixture(makeFolder);
const app = fixture(() => startTestServer({ dataDir: folder.path }));
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
/** Another instance, whose way to the store is cut. */
const cut = fixture(() => startTestServer({ mongodbUri: proxy.uri, clock: app.clock, dataDir: folder.path }));
const notes = fixture(() => app.tandem.services.files.attachments({ purpose: 'note' }));
const cutNotes = fixture(() => cut.tandem.services.files.attachments({ purpose: 'note' }));

/** Names of all files in the storage. */
const stored = async () =>
  (await readdir(path.join(folder.path, 'files'), { recursive: true, withFileTypes: true })).flatMap((entry) =>
    entry.isFile() ? [entry.name] : [],
  );

describe('a file that is attached while the way to the store is cut', () => {
  it.each([
    ['keeps its copy, if it was attached', 'after'],
    ['can be attached again, if it was not, and leaves one copy', 'before'],
  ] as const)('%s', async (_, when) => {
    const [me, note, body] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
    const { objectId, url } = await notes.issue({ contentType: TYPE, contentLength: body.length }, me);
    const given = { objectId, type: TYPE };
    await fetch(url, { method: 'PUT', headers: { 'content-type': TYPE }, body });
    const wasCut = proxy.cut(isCommand('files.findAndModify'), when);
    await expect(cutNotes.attach(note, given, me)).rejects.toThrow('connection');
    await wasCut;
    const again = notes.attach(note, given, me).then(
      () => 'attached',
      (error: Error) => error.message,
    );
    expect(await again).toBe(when === 'before' ? 'attached' : 'File is already attached');
    app.clock.advance(21 * MINUTE_MS);
    await app.tandem.services.files.work();
    const [file] = (await notes.of([note])).get(note) ?? [];
    expect(await (await fetch(file?.url ?? 'about:blank')).text()).toBe(body);
    expect(await stored()).toHaveLength(1);
    await notes.remove(note, file?.id ?? '');
    await app.tandem.services.files.work();
    expect(await stored()).toEqual([]);
  });
});
