import {
  FACES,
  fixture,
  isCommand,
  isWrite,
  makeFolder,
  startStoreProxy,
  startTestServer,
  type Face,
  type StoreCommand,
  type StoreProxy,
} from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization } from '../../test/people.js';
import type { GivenFile, UploadAddress } from './files.schemas.js';

/** Longer than a unit of work is its process's own, in milliseconds. */
const TAKEN_OVER_AFTER_MS = 61_000;
const TYPE = 'image/png';
const UNAVAILABLE = { ok: false, status: 503 };

// the clock is moved by more minutes than an access token lives
const lifetimes = { accessTokenExpireTime: '1d' } as const;
const folder = fixture(makeFolder);
const app = fixture(() => startTestServer({ dataDir: folder.path, lifetimes }));
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
/** Another instance, whose way to the store is cut. */
const cut = fixture(() => startTestServer({ mongodbUri: proxy.uri, clock: app.clock, dataDir: folder.path, lifetimes }));
const ann = fixture(() => app.signUpAdmin());
let organizationId: string;
let channelId: string;
let profileId: string;
beforeAll(async () => {
  organizationId = await createOrganization(ann);
  profileId = (await ann.rest('POST', '/profiles', { identityId: ann.id, name: 'Ann' }).expect<{ id: string }>(201)).id;
  channelId = (await ann.rest('POST', '/channels', { name: 'Tea', ownerId: ann.id }).expect<{ id: string }>(201)).id;
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
      (await listed<{ certificateImageUrl?: string }>(`/organizations/${organizationId}/change-requests?limit=50`)).map(
        ({ certificateImageUrl }) => certificateImageUrl,
      ),
    completed: () => [isCommand('organizationChangeRequests.update'), 'before'],
    takenBack: () => [isCommand('organizations.update'), 'before'],
  },
  channel: {
    uploadTo: () => `/channels/${channelId}/icon-upload-url`,
    create: (icon) => ['chat.createChannel', { name: 'Tea', ownerId: ann.id, icon }],
    list: async () =>
      (await listed<{ icon?: { url: string } }>('/channels?$orderby=createdAt desc&limit=50')).map(({ icon }) => icon?.url),
    completed: () => [second('units.aggregate'), 'after'],
    takenBack: () => [isCommand('units.aggregate'), 'before'],
  },
  profile: {
    uploadTo: () => `/profiles/${profileId}/avatar-upload-url`,
    create: (avatar) => ['profiles.create', { identityId: ann.id, name: 'Ann', avatar }],
    list: async () =>
      (await listed<{ avatar?: { url: string } }>('/profiles?$orderby=createdAt desc&limit=50')).map(({ avatar }) => avatar?.url),
    completed: () => [isCommand('units.aggregate'), 'after'],
    takenBack: () => [isCommand('units.aggregate'), 'before'],
  },
  organization: {
    uploadTo: () => `/organizations/${organizationId}/logo-upload-url`,
    create: (logo) => [
      'organizations.create',
      { organization: { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org', logo } },
    ],
    list: async () =>
      (await listed<{ logo?: { url: string } }>('/organizations?$orderby=createdAt desc&limit=50')).map(({ logo }) => logo?.url),
    completed: () => [isCommand('units.aggregate'), 'after'],
    takenBack: () => [isCommand('units.aggregate'), 'before'],
  },
};

/** Records that are changed together with their file. */
interface ChangedKind {
  path: string;
  create(): object;
  /** Of the upload address below the record. */
  uploadTo: string;
  /** The write of the record. */
  write: string;
  change(id: string, name: string, file: GivenFile | null): [procedure: string, input: Record<string, unknown>];
  read(record: object): { name: string; url: string | undefined };
}
type Shown = { name: string } & Partial<Record<'avatar' | 'icon', { url: string } | null>> & { logo?: { url: string } | null };
const changedKinds: Record<string, ChangedKind> = {
  profile: {
    path: '/profiles',
    create: () => ({ identityId: ann.id, name: 'before' }),
    uploadTo: 'avatar-upload-url',
    write: 'profiles.findAndModify',
    change: (profileId, name, avatar) => ['profiles.patch', { profileId, name, avatar }],
    read: (record) => ({ name: (record as Shown).name, url: (record as Shown).avatar?.url }),
  },
  channel: {
    path: '/channels',
    create: () => ({ ownerId: ann.id, name: 'before' }),
    uploadTo: 'icon-upload-url',
    write: 'channels.findAndModify',
    change: (id, name, icon) => ['chat.patchChannel', { channelId: id, name, icon }],
    read: (record) => ({ name: (record as Shown).name, url: (record as Shown).icon?.url }),
  },
  organization: {
    path: '/organizations',
    create: () => ({ organization: { name: `before ${crypto.randomUUID()}`, description: '', contact_email: 'a@example.org' } }),
    uploadTo: 'logo-upload-url',
    write: 'organizations.findAndModify',
    change: (id, name, logo) => ['organizations.patchAsAdmin', { organizationId: id, name, logo }],
    read: (record) => ({ name: (record as Shown).name, url: (record as Shown).logo?.url }),
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

    it('stays with the record if a sweep completes it', async () => {
      const body = crypto.randomUUID();
      const before = await kind.list();
      await create(await upload(body), kind.completed());
      expect(await kind.list()).toHaveLength(before.length + 1);
      expect(await newest()).toBe(body);
    });

    it('is free again if a sweep undoes it', async () => {
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

  describe.each(Object.entries(changedKinds))('a change of a %s with a file that is answered 503', (_, kind) => {
    async function begin() {
      const { id } = await ann.rest('POST', kind.path, kind.create()).expect<{ id: string }>(201);
      const uploadTo = `${kind.path}/${id}/${kind.uploadTo}`;
      /** A change to a new name and a new file, or to none. */
      async function changeTo(body: string | null) {
        const name = crypto.randomUUID();
        let file: GivenFile | null = null;
        if (body !== null) {
          const query = `contentType=${encodeURIComponent(TYPE)}&contentLength=${body.length}`;
          const { objectId, url } = await ann.rest('GET', `${uploadTo}?${query}`).expect<UploadAddress>(200);
          expect((await fetch(url, { method: 'PUT', headers: { 'content-type': TYPE }, body })).status).toBe(200);
          file = { objectId, type: TYPE };
        }
        const [procedure, input] = kind.change(id, name, file);
        const change = (on = app) => on.call(face, procedure, input, ann.credentials);
        return {
          name,
          change,
          async cutAt(when: 'before' | 'after', command = kind.write) {
            const wasCut = proxy.cut(isCommand(command), when);
            expect(await change(cut)).toMatchObject(UNAVAILABLE);
            await wasCut;
          },
        };
      }
      const body = crypto.randomUUID();
      return {
        body,
        changeTo,
        ...(await changeTo(body)),
        async shown() {
          const { name: now, url: address } = kind.read(await ann.rest('GET', `${kind.path}/${id}`).expect<object>(200));
          return { name: now, body: address && (await (await fetch(address)).text()) };
        },
      };
    }
    async function sweepLater(): Promise<void> {
      app.clock.advance(TAKEN_OVER_AFTER_MS);
      await app.storage.sweep();
    }

    it('is complete if the record was written', async () => {
      const { name, body, cutAt, shown } = await begin();
      await cutAt('after');
      await sweepLater();
      expect(await shown()).toEqual({ name, body });
    });

    it('is not made if the record was not written, and its file is free', async () => {
      const { name, body, cutAt, change, shown } = await begin();
      await cutAt('before');
      await sweepLater();
      expect(await shown()).toEqual({ name: expect.stringContaining('before') as string, body: undefined });
      expect(await change()).toMatchObject({ ok: true });
      expect(await shown()).toEqual({ name, body });
    });

    it('has its file free also where its process comes back only when the upload would be removed', async () => {
      const { name, body, cutAt, change, shown } = await begin();
      await cutAt('before');
      app.clock.advance(30 * 60_000);
      await app.tandem.services.files.work();
      await app.storage.sweep();
      expect(await change()).toMatchObject({ ok: true });
      expect(await shown()).toEqual({ name, body });
    });

    it('stays when it is asked for again before the sweep', async () => {
      const { name, body, cutAt, change, shown } = await begin();
      await cutAt('before');
      expect(await change()).toMatchObject({ ok: true });
      await sweepLater();
      expect(await shown()).toEqual({ name, body });
    });

    it.each(['before', 'after'] as const)('is made whole or not at all, whichever of its writes is cut: %s it', async (when) => {
      const collections = new Set(['units', 'files', 'fileQuotas', kind.write.split('.')[0]]);
      let isCut = true;
      for (let n = 1; isCut; n++) {
        const { name, body, change, shown } = await begin();
        const whole = { name, body };
        const before = await shown();
        let writes = 0;
        void proxy.cut((command) => isWrite(command) && collections.has(command.collection) && ++writes === n, when);
        const outcome = await change(cut);
        proxy.clear();
        isCut = writes >= n;
        await sweepLater();
        const found = await shown();
        expect(outcome.ok ? [whole] : [before, whole]).toContainEqual(found);
        // an object that is attached stays so, and one that is free can be attached
        expect(await change()).toMatchObject({ ok: true });
        expect(await shown()).toEqual(whole);
      }
    });

    it.each([
      ['not at all, if the record was not written', 'before', undefined, false],
      ['whole, if the record was written', 'after', undefined, true],
      ['whole, if the file was still to be removed', 'before', 'files.update', true],
    ] as const)('to none is made %s', async (_, when, command, isRemoved) => {
      const { name, body, change, changeTo, shown } = await begin();
      expect(await change()).toMatchObject({ ok: true });
      const removal = await changeTo(null);
      await removal.cutAt(when, command);
      await sweepLater();
      expect(await shown()).toEqual(isRemoved ? { name: removal.name, body: undefined } : { name, body });
    });

    it('to none leaves the file that another change has attached before the sweep', async () => {
      const { change, changeTo, shown } = await begin();
      expect(await change()).toMatchObject({ ok: true });
      await (await changeTo(null)).cutAt('after');
      const body = crypto.randomUUID();
      const later = await changeTo(body);
      expect(await later.change()).toMatchObject({ ok: true });
      await sweepLater();
      expect(await shown()).toEqual({ name: later.name, body });
    });
  });
});
