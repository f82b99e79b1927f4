import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  PASSWORD,
  RETURN_URL,
  createBrowser,
  createTotpApp,
  databaseOf,
  fixture,
  newGitHubAccount,
  startGitHubServer,
  startStoreProxy,
  startTestServer,
  type Person,
  type RestAnswer,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { findWords, forNamed, letErasuresPass } from '../../test/named-person.js';
import { createOrganization } from '../../test/people.js';
import { exportModel, type ExportRecord } from './export.model.js';

const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-late-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
const mongodbUri = databaseOf('late_requests');
const github = fixture(startGitHubServer);
const start = (given: Partial<Parameters<typeof startTestServer>[0]> = {}) =>
  startTestServer({ mongodbUri, ...forNamed(github), dataDir: folder.dir, erasure: { erasureDelay: '0s' }, ...given });
const app = fixture(() => start());
/** The way to the store of another instance, which stalls on it. */
const proxy = fixture(() => startStoreProxy(mongodbUri));
const late = fixture(() => start({ mongodbUri: proxy.uri, clock: app.clock }));

interface World {
  person: Person;
  /** The same, at the instance that stalls. */
  there: Person;
  bob: Person;
  word: string;
}
async function newWorld(): Promise<World> {
  const person = await app.signUp({ isVerified: true });
  const bob = await app.signUp({ isVerified: true });
  return { person, bob, there: await late.signIn(person.email), word: `late-${crypto.randomUUID()}` };
}

/** Holds a request up before a command, `collection.command`, until the person is erased but for a last look. */
async function during<T>({ person }: World, before: string, request: () => PromiseLike<T>): Promise<T> {
  const [collection = '', command] = before.split('.');
  const { reached, release } = proxy.hold((one) => one.collection.split('+').includes(collection) && one.command === command);
  const answering = Promise.resolve(request());
  await Promise.race([
    reached,
    answering.then((answer) => {
      throw new Error(`was answered before ${before}: ${JSON.stringify(answer)}`);
    }),
  ]);
  const elsewhere = await app.signIn(person.email);
  await elsewhere.rest('POST', `/auth/${person.id}/erase`).expect(202);
  app.clock.advance(10_000);
  await app.tandem.runJobs();
  release();
  return answering;
}
/** Nothing of the person, and of what came late, is left after the last look. */
async function expectNothing({ person, word }: World, words: string[] = []): Promise<void> {
  await letErasuresPass(app);
  expect(await findWords(app, [person.email, word, ...words], folder.dir)).toEqual([]);
}

/** The stored files. */
async function files(): Promise<string[]> {
  const below = path.join(folder.dir, 'files');
  const entries = await readdir(below, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((one) => one.isFile()).map(({ name }) => name);
}

describe('of somebody who is erased meanwhile', () => {
  it('a message that is being posted keeps the id alone, its mentions and metadata go', async () => {
    const world = await newWorld();
    const { person, there, bob, word } = world;
    const channel = await openChannel(person, [bob]);
    const message = { channelId: channel.id, senderId: person.id, content: 'Hello', metadata: { word }, mentions: [bob.id] };
    await during(world, 'messages.insert', () => there.rest('POST', '/messages', message));
    await expectNothing(world);
    const who = await app.signIn(bob.email);
    const { data } = await who.rest('GET', `/messages?channelId=${channel.id}`).expect<{ data: object[] }>(200);
    expect(data).toMatchObject([{ senderId: person.id, content: 'Hello', metadata: {} }]);
  });

  it('a profile, an order and an invitation that are being created go', async () => {
    const admin = await app.signUpAdmin();
    const product = { name: 'Tea', description: '', price: { amount: 1, currency: 'EUR' } };
    const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    for (const [write, made] of [
      ['units.aggregate', ({ person, word }) => ['/profiles', { identityId: person.id, name: word }]],
      [
        'orders.insert',
        ({ person, word }) => [
          '/orders',
          { identityId: person.id, items: [{ productId, quantity: 1 }], metadata: { street: word } },
        ],
      ],
    ] as [string, (world: World) => [string, object]][]) {
      const world = await newWorld();
      await during(world, write, () => world.there.rest('POST', ...made(world)));
      await expectNothing(world);
    }
    const world = await newWorld();
    const organizationId = await createOrganization(world.person, { owner: [world.bob] });
    const email = `${world.word}@example.org`;
    await during(world, 'invitations.insert', () =>
      world.there.rest('POST', '/invitations', { email, organizationId, role: 'member' }),
    );
    await expectNothing(world);
  });

  it('a login, a refresh, an API key and a fresh proof end in nothing', async () => {
    const login = (world: World) => late.rest('POST', '/auth/login', { email: world.person.email, password: PASSWORD });
    const refresh = ({ there }: World) => late.rest('POST', '/auth/token/refresh', { refreshToken: there.refreshToken });
    const key = ({ there, person, word }: World) => there.rest('POST', `/auth/${person.id}/keys`, { name: word, scopes: ['*'] });
    const prove = ({ there, person }: World) => there.rest('POST', `/auth/${person.id}/proof`, { password: PASSWORD });
    for (const [write, request] of [
      ['sessions.bulkWrite', login],
      ['sessions.update', refresh],
      ['sessions.update', prove],
      ['apiKeys.insert', key],
    ] as const) {
      const world = await newWorld();
      const { body } = await during<RestAnswer>(world, write, () => request(world));
      const { accessToken, key: text } = (body ?? {}) as { accessToken?: string; key?: string };
      const credentials = { accessToken: accessToken ?? text ?? world.there.accessToken };
      // within a second
      const look = () => late.rest('GET', `/auth/${world.person.id}/sessions`, undefined, credentials);
      await expect.poll(async () => (await look()).status, { timeout: 1500 }).toBe(401);
      await expectNothing(world);
    }
  });

  it('a second factor and an account at a provider that are being added are not', async () => {
    const world = await newWorld();
    const { person, there, word } = world;
    const at = `/auth/${person.id}/factors/totp`;
    const { id, secret } = await there.rest('POST', at, { name: word }).expect<{ id: string; secret: string }>(201);
    const code = createTotpApp(secret, app.clock)();
    const confirmed = await during(world, 'identities.findAndModify', () =>
      there.rest('POST', `${at.replace('totp', id)}/confirm`, { code }),
    );
    expect(confirmed.status).toBeGreaterThanOrEqual(400);
    await expectNothing(world, [secret]);

    const other = await newWorld();
    const account = newGitHubAccount({ login: other.word });
    const browser = createBrowser(late);
    const headers = { authorization: `Bearer ${other.there.accessToken}` };
    const url = `${late.url}/auth/${other.person.id}/oauth/github`;
    const { body } = await browser.send('POST', url, { redirectUrl: RETURN_URL, password: PASSWORD }, headers);
    const callback = await github.visit(browser, (body as { url: string }).url, { account });
    expect(await during(other, 'identities.update', () => browser.goTo(callback))).toBe(`${RETURN_URL}?error=signed_out`);
    await expectNothing(other, [`github:${account.id}`]);
  });

  it('a file that is being uploaded is not kept', async () => {
    const world = await newWorld();
    const { person, there } = world;
    const { id } = await person.rest('POST', '/profiles', { identityId: person.id, name: 'P' }).expect<{ id: string }>(201);
    const route = `/profiles/${id}/avatar-upload-url?contentType=image/png&contentLength=4`;
    const answer = await during(world, 'files.insert', () => there.rest('GET', route));
    const { url } = answer.body as { url?: string };
    if (url !== undefined) await fetch(url, { method: 'PUT', headers: { 'content-type': 'image/png' }, body: 'four' });
    await expectNothing(world);
    app.clock.advance(60 * 60_000);
    await app.tandem.services.files.work();
    expect(await files()).toEqual([]);
  });

  it('an archive that is being written is dropped, also when its process dies', async () => {
    const { model } = app.storage;
    // before it is begun, and while its records are read
    for (const command of ['exports.update', 'profiles.find']) {
      const world = await newWorld();
      const { person, there } = world;
      await there.rest('POST', `/auth/${person.id}/export`).expect(202);
      app.clock.advance(10_000);
      await during(world, command, () => late.tandem.runJobs());
      expect(await files()).toEqual([]);
      const archive = await model(exportModel).findOne({ _id: person.id }).lean<ExportRecord>();
      const stored = { objectId: archive?.objectId ?? crypto.randomUUID(), type: 'application/zip', size: 4 };
      const file = path.join(folder.dir, 'left');
      await writeFile(file, 'left');
      if (archive?.objectId) await late.tandem.services.files.whole.store(stored, file);
      await expectNothing(world);
      expect(await files()).toEqual([]);
    }
  });
});
