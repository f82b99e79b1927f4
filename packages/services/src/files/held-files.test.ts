import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  FACES,
  isCommand,
  startStoreProxy,
  startTestServer,
  type Face,
  type Person,
  type StoreCommand,
  type StoreProxy,
  type TestServer,
} from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GivenFile, UploadAddress } from './files.schemas.js';

/** Longer than a unit of work is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER_MS = 61_000;
const TYPE = 'image/png';
const UNAVAILABLE = { ok: false, status: 503 };

let dataDir: string;
let app: TestServer;
let proxy: StoreProxy;
/** Another instance, whose way to the store is cut. */
let cut: TestServer;
let ann: Person;
let organizationId: string;
let channelId: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-held-'));
  app = await startTestServer({ dataDir });
  proxy = await startStoreProxy(app.mongodbUri);
  cut = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock, dataDir });
  ann = await app.signUpAdmin();
  const organization = { name: 'Bakery', description: '', contact_email: 'a@example.org' };
  organizationId = (await ann.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
  channelId = (await ann.rest('POST', '/channels', { name: 'Tea', ownerId: ann.id }).expect<{ id: string }>(201)).id;
});
afterAll(async () => {
  await Promise.all([app.close(), cut.close()]);
  await proxy.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** The second of these commands: the first is of the step before. */
function second(name: string): (command: StoreCommand) => boolean {
  let seen = 0;
  return (command) => isCommand(name)(command) && ++seen === 2;
}

interface Kind {
  uploadTo(): string;
  create(file: GivenFile): [procedure: string, input: Record<string, unknown>];
  /** Where the files are that there are, by the newest first. */
  list(): Promise<(string | undefined)[]>;
  /** Writes of it that are cut: one after which a sweep completes it, and one after which it takes it back. */
  completed(): Parameters<StoreProxy['cut']>;
  takenBack(): Parameters<StoreProxy['cut']>;
}
const listed = async <Row extends object>(of: string) => (await ann.rest('GET', of).expect<{ data: Row[] }>(200)).data;

const kinds: Record<string, Kind> = {
  'change request': {
    uploadTo: () => `/organizations/${organizationId}/certificate-upload-url`,
    create: (certificateImage) => ['organizations.requestChange', { organizationId, certificateImage }],
    list: async () =>
      (await listed<{ certificateImageUrl?: string }>(`/organizations/${organizationId}/change-requests`)).map(
        ({ certificateImageUrl }) => certificateImageUrl,
      ),
    completed: () => [isCommand('organizationChangeRequests.update'), 'before'],
    takenBack: () => [isCommand('organizations.update'), 'before'],
  },
  channel: {
    uploadTo: () => `/channels/${channelId}/icon-upload-url`,
    create: (icon) => ['chat.createChannel', { name: 'Tea', ownerId: ann.id, icon }],
    list: async () =>
      (await listed<{ icon?: { url: string } }>('/channels?$orderby=createdAt desc')).map(({ icon }) => icon?.url),
    completed: () => [second('units.aggregate'), 'after'],
    takenBack: () => [isCommand('units.aggregate'), 'before'],
  },
};

describe.each(FACES)('over %s', (face: Face) => {
  describe.each(Object.entries(kinds))('the file of a %s that is answered 503', (_, kind) => {
    async function upload(body: string): Promise<GivenFile> {
      const query = `contentType=${encodeURIComponent(TYPE)}&contentLength=${body.length}`;
      const { objectId, url } = await ann.rest('GET', `${kind.uploadTo()}?${query}`).expect<UploadAddress>(200);
      expect((await fetch(url, { method: 'PUT', headers: { 'content-type': TYPE }, body })).status).toBe(200);
      return { objectId, type: TYPE };
    }
    /** Asks for it where the way to the store is cut. What becomes of it a sweep decides a minute later. */
    async function create(file: GivenFile, at: Parameters<StoreProxy['cut']>): Promise<void> {
      const [procedure, input] = kind.create(file);
      const wasCut = proxy.cut(...at);
      expect(await cut.call(face, procedure, input, ann.credentials)).toMatchObject(UNAVAILABLE);
      await wasCut;
      app.clock.advance(TAKEN_OVER_AFTER_MS);
      await app.storage.sweep();
    }
    const newest = async () => (await fetch((await kind.list())[0] ?? 'about:blank')).text();

    it('stays with it where a sweep completes it', async () => {
      const body = crypto.randomUUID();
      const before = await kind.list();
      await create(await upload(body), kind.completed());
      expect(await kind.list()).toHaveLength(before.length + 1);
      expect(await newest()).toBe(body);
    });

    it('comes free where a sweep takes it back', async () => {
      const body = crypto.randomUUID();
      const file = await upload(body);
      const before = await kind.list();
      await create(file, kind.takenBack());
      expect(await kind.list()).toHaveLength(before.length);
      const [procedure, input] = kind.create(file);
      expect(await ann.call(face, procedure, input)).toMatchObject({ ok: true });
      expect(await newest()).toBe(body);
    });
  });
});
