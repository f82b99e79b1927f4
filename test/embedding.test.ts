import { scryptSync } from 'node:crypto';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInProcessBus, type EventBus } from '@tandem/core';
import { openFilesDriver, type FilesDriver } from '@tandem/drivers/files';
import type { MailDriver } from '@tandem/drivers/mail';
import { createTandem, type MailTemplates, type Tandem, type TandemConfiguration } from '@tandem/services';
import { openStorage, type BaseRecord, type ModelDefinition, type Storage } from '@tandem/storage';
import { PASSWORD, startTestServer, type TestServer, TEST_SECRETS } from '@tandem/testing';
import express, { type Express } from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, signUp, type Listening } from './host-application.js';
import { compileSamples, runSample, sampleOf, samplesOf } from './samples.js';

const DOCUMENT = 'docs/embedding.md';
const authSecrets = TEST_SECRETS;
const sample = <Exported>(part: string) => runSample<Exported>(sampleOf(DOCUMENT, part));

describe('a host application', () => {
  interface Shop {
    app: Express;
    tandem: Tandem;
    close(): Promise<void>;
  }
  let dataDir: string;
  let shop: Shop;
  let listening: Listening;
  let authorization: string;
  let id: string;
  const call: Listening['call'] = (method, route, body, headers = { authorization }) =>
    listening.call(method, route, body, headers);

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-shop-'));
    const { createShop } = await sample<{ createShop(options: object): Promise<Shop> }>('createShop(');
    shop = await createShop({ dataDir, authSecrets });
    listening = await listen(shop.app);
    ({ id, authorization } = await signUp(listening, 'ann@example.org'));
  });
  afterAll(async () => {
    await listening[Symbol.asyncDispose]();
    await shop.close();
    await rm(dataDir, { recursive: true });
  });

  it('answers its own procedure on both faces, and its notification is in the list', async () => {
    const overRest = await call('POST', '/parcels/p-1/announcements', { note: 'on its way' });
    const overTrpc = await call('POST', '/trpc/parcels.announce', { parcelId: 'p-1', note: 'nearly there' });
    expect([overRest.status, overTrpc.status]).toEqual([201, 200]);
    const list = await call('GET', `/notifications/identities/${id}`);
    expect(list.body?.data).toMatchObject([
      { note: 'nearly there', kind: 'parcel', isRead: false },
      { id: overRest.body?.notificationId, note: 'on its way' },
    ]);
  });

  it('has its own errors and validation in the same envelope', async () => {
    expect(await call('POST', '/parcels/p-2/announcements', { note: 'x' })).toEqual({
      status: 404,
      body: { error: { message: 'Parcel not found' } },
    });
    expect(await call('POST', '/parcels/p-1/announcements', { note: '' })).toMatchObject({
      status: 400,
      body: { error: { data: ['request body/note must NOT have fewer than 1 characters'] } },
    });
    expect(await call('POST', '/parcels/p-1/announcements', { note: 'x' }, {})).toMatchObject({ status: 422 });
    expect(await call('GET', '/nowhere')).toEqual({ status: 404, body: { error: { message: 'Not Found' } } });
  });

  it('guards its plain routes with isAuthenticated, also by its old name', async () => {
    expect(await call('GET', '/whoami')).toMatchObject({ status: 200, body: { id, typeId: 'customer' } });
    expect(await call('GET', '/whoami', undefined, {})).toEqual({
      status: 422,
      body: { error: { message: 'Missing authorization header' } },
    });
    expect(shop.tandem.verifyAuthentication).toBe(shop.tandem.isAuthenticated);
  });

  it('has its own operations in the OpenAPI document', async () => {
    const { body } = await call('GET', '/openapi.json');
    expect(body?.paths).toMatchObject({
      '/parcels/{parcelId}/announcements': { post: { operationId: 'parcels.announce' } },
      '/auth/login': { post: { operationId: 'auth.login' } },
    });
  });
});

describe('a host with parts of its own', () => {
  let app: TestServer;
  let dataDir: string;
  beforeAll(async () => {
    app = await startTestServer();
    dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-host-'));
  });
  afterAll(async () => {
    await app.close();
    await rm(dataDir, { recursive: true });
  });

  /** Runs work with a Tandem on the database, and its caller. */
  async function withTandem(
    given: Partial<TandemConfiguration>,
    work: (tandem: Tandem, listening: Listening) => Promise<void>,
  ): Promise<void> {
    const storage = await openStorage({ uri: app.mongodbUri });
    const tandem = await createTandem({ storage, authSecrets, bcryptCost: 4, ...given });
    await using listening = await listen(express().use(tandem.routes(), ...tandem.errorMiddlewares()));
    try {
      await work(tandem, listening);
    } finally {
      await tandem.close();
      await storage.close();
    }
  }

  it('sends its own texts through its own driver', async () => {
    const { templates } = await sample<{ templates: Partial<MailTemplates> }>('mail.templates');
    const sent: string[][] = [];
    const driver: MailDriver = {
      send: async ({ to, subject, html }) => void sent.push([to, subject, html]),
      close: async () => {},
    };
    await withTandem({ mail: { driver, linksUrl: 'https://shop.example.org', templates } }, async ({ services }, { call }) => {
      const email = `o'${crypto.randomUUID()}@example.org`;
      await call('POST', '/auth/register', { email, password: PASSWORD });
      await call('POST', '/auth/send-reset-password-link-email', { email });
      await services.mails.work();
      const [reset] = sent.filter(([to, subject]) => to === email && subject === 'Your new password');
      expect(reset?.[2]).toMatch(
        new RegExp(
          `for ${email.replace("'", '&#39;')} within 30 minutes: <a href="https://shop.example.org/reset-password\\?token=[^"]+">here`,
        ),
      );
    });
  });

  it('sends through a URL, until it is closed', async () => {
    type Create = (address: string, given: object) => Promise<{ tandem: Tandem; close(): Promise<void> }>;
    const { createSendingTandem } = await sample<{ createSendingTandem: Create }>('createSendingTandem');
    const storage = await openStorage({ uri: app.mongodbUri });
    const { tandem, close } = await createSendingTandem(app.mail.url, { storage, authSecrets });
    const email = `${crypto.randomUUID()}@example.org`;
    await tandem.services.mails.enqueue([{ template: 'password-changed', to: email }]);
    expect(await app.mail.next(email)).toMatchObject({ from: 'Shop <shop@example.org>' });
    await close();
    await storage.close();
  });

  it('is asked before operations, and runs its jobs until it is closed', async () => {
    type Create = (given: object, remind: () => Promise<boolean>) => Promise<Tandem>;
    const { createWatchfulTandem } = await sample<{ createWatchfulTandem: Create }>('createWatchfulTandem');
    const storage = await openStorage({ uri: app.mongodbUri });
    let left = 3;
    const tandem = await createWatchfulTandem({ storage, authSecrets }, () => Promise.resolve((left -= 1) > 0));
    await expect.poll(() => left).toBe(0);
    const host = express().use(tandem.routes(), ...tandem.errorMiddlewares());
    await using listening = await listen(host);
    const { id, accessToken } = await app.signUpAdmin();
    const call = (route: string, body: object) => listening.call('POST', route, body, { authorization: `Bearer ${accessToken}` });
    const product = await call('/products', { name: 'Green  tea', description: '', price: { amount: 1, currency: 'EUR' } });
    expect(product).toMatchObject({ status: 201, body: { name: 'Green tea' } });
    const order = (quantity: number) => ({ items: [{ productId: product.body?.id, quantity }], identityId: id });
    expect(await call('/orders', order(10))).toMatchObject({ status: 201 });
    expect(await call('/orders', order(11))).toEqual({
      status: 422,
      body: { error: { message: 'An order has at most 10 pieces of a product' } },
    });
    const document = await tandem.openApi({ title: '', description: '', version: '', url: '/' });
    expect(JSON.stringify(document)).toContain('pieces of a product');
    await tandem.close();
    await storage.close();
  });

  it('stores several records together, or none', async () => {
    type Kept = BaseRecord & { shelfId: string; parcelIds: string[] };
    type Sample = Record<'parcelModel' | 'shelfModel', ModelDefinition<Kept>> & {
      createParcels(storage: Storage): (shelfId: string, id?: string) => Promise<Kept>;
    };
    const { createParcels, parcelModel, shelfModel } = await sample<Sample>('createParcels(');
    const storage = await openStorage({ uri: app.mongodbUri });
    const [Parcels, Shelves] = [storage.model(parcelModel), storage.model(shelfModel)];
    const others = Array.from({ length: 19 }, () => crypto.randomUUID());
    const { _id: shelfId } = await Shelves.create({ _id: crypto.randomUUID(), parcelIds: others });
    const store = createParcels(storage);
    const { _id } = await store(shelfId);
    await expect(store(shelfId)).rejects.toThrow('the shelf is full');
    // an earlier attempt that comes late takes back nothing of what a later one has stored
    await expect(store(shelfId, _id)).rejects.toThrow('E11000');
    expect(await Shelves.find().lean()).toMatchObject([{ parcelIds: [...others, _id] }]);
    expect(await Parcels.find().lean()).toMatchObject([{ _id, shelfId }]);
    await storage.close();
  });

  it('accepts files that its scanner allows', async () => {
    type Scanned = (driver: FilesDriver, isClean: (objectId: string) => Promise<boolean>) => FilesDriver;
    const { scanned } = await sample<{ scanned: Scanned }>('scanned(');
    let isClean = false;
    const disk = await openFilesDriver('disk:', {
      dir: dataDir,
      secrets: ['s'.repeat(32)],
      publicUrl: '',
      now: () => new Date(),
    });
    const driver = scanned(disk, async () => isClean);
    await withTandem({ files: { driver } }, async ({ services }, { url, call }) => {
      const { id } = await signUp({ call } as Listening, `${crypto.randomUUID()}@example.org`);
      const covers = services.files.attachments({ purpose: 'book-cover' });
      const address = await covers.issue({ contentType: 'image/png', contentLength: 9 }, id);
      await fetch(url + address.url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: 'a picture' });
      const given = { objectId: address.objectId, type: 'image/png' };
      await expect(covers.attach('book-1', given, id)).rejects.toThrow('File has not been uploaded');
      isClean = true;
      expect(await covers.attach('book-1', given, id)).toMatchObject({ type: 'image/png' });
      expect((await readdir(dataDir)).length).toBeGreaterThan(0);
    });
  });

  it('receives published events', async () => {
    const heard: [string, object][] = [];
    const inProcess = createInProcessBus({ error() {} });
    const bus: EventBus = {
      subscribe: inProcess.subscribe,
      publish(topic, event) {
        inProcess.publish(topic, event);
        heard.push([topic, event]);
      },
    };
    await withTandem({ bus }, async ({ services }) => {
      await services.notifications.notify('somebody', { kind: 'parcel' });
      expect(heard).toEqual([
        ['notifications:somebody', { type: 'notification.created', notification: expect.objectContaining({ kind: 'parcel' }) }],
      ]);
    });
  });

  it('has people with passwords of another system', async () => {
    type Verify = NonNullable<TandemConfiguration['verifyImportedPassword']>;
    const { verifyImportedPassword } = await sample<{ verifyImportedPassword: Verify }>('verifyImportedPassword(');
    await withTandem({ verifyImportedPassword }, async ({ services }, { call }) => {
      const importHash = async (length: number) => {
        const email = `${crypto.randomUUID()}@example.org`;
        const passwordHash = `scrypt:salt:${scryptSync(PASSWORD, 'salt', 64).subarray(0, length).toString('hex')}`;
        await services.identities.create({ email, passwordHash, typeId: 'regular' });
        return async (password: string) => (await call('POST', '/auth/login', { email, password })).status;
      };
      for (const length of [32, 64]) {
        const signIn = await importHash(length);
        expect([await signIn('another one'), await signIn(PASSWORD)]).toEqual([401, 200]);
      }
      expect(await (await importHash(0))(PASSWORD)).toBe(401);
    });
  });

  it('refuses passwords that its own check refuses', async () => {
    const checkPassword = async (password: string) => password !== 'a breached password';
    await withTandem({ checkPassword }, async (_, { call }) => {
      const register = (password: string) =>
        call('POST', '/auth/register', { email: `${crypto.randomUUID()}@example.org`, password });
      expect(await register('a breached password')).toMatchObject({ status: 400 });
      expect(await register(PASSWORD)).toMatchObject({ status: 201 });
    });
  });
});

it('the code of docs/embedding.md compiles, and a test runs all of it', async () => {
  const samples = samplesOf(DOCUMENT);
  expect(await compileSamples(samples)).toBe('');
  const files = ['./embedding.test.ts', './embedding-entity.test.ts'];
  const tests = (await Promise.all(files.map((file) => readFile(new URL(file, import.meta.url), 'utf8')))).join('');
  const run = [...tests.matchAll(/sample(?:<.*>|Of)\((?:'docs.*?', )?'(.*?)'\)/g)].map(([, part = '']) => part);
  expect(samples.filter((code) => !run.some((part) => code.includes(part)))).toEqual([]);
});
