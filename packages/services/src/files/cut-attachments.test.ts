import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isCommand, startStoreProxy, startTestServer, type StoreProxy, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attachments } from './attachments.js';

const TYPE = 'image/png';
const MINUTE_MS = 60_000;

let dataDir: string;
let app: TestServer;
let proxy: StoreProxy;
/** Another instance, whose way to the store is cut. */
let cut: TestServer;
let notes: Attachments;
let cutNotes: Attachments;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-cut-'));
  const files = { url: 'disk:', pollMs: 3_600_000 };
  app = await startTestServer({ dataDir, files });
  proxy = await startStoreProxy(app.mongodbUri);
  cut = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock, dataDir, files });
  [notes, cutNotes] = [app, cut].map(({ tandem }) => tandem.services.files.attachments({ purpose: 'note' })) as [Attachments, Attachments]; // prettier-ignore
});
afterAll(async () => {
  await Promise.all([app.close(), cut.close()]);
  await proxy.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Names of all files in the storage. */
const stored = async () =>
  (await readdir(path.join(dataDir, 'files'), { recursive: true, withFileTypes: true })).flatMap((entry) =>
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
