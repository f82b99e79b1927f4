import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { NOBODY } from '@tandem/storage';
import { FACES, PATIENCE, databaseOf, fixture, startGitHubServer, startRedis, startTestServer } from '@tandem/testing';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { findWords, forNamed, letErasuresPass, nameSomebody } from '../../test/named-person.js';
import { signUpAll } from '../../test/people.js';
import { startReceiver } from '../../test/webhook-receiver.js';
import type { Message } from '../chat/messages.schemas.js';
import { messageModel as webhookMessageModel } from '../webhooks/delivery.models.js';
import { exportModel, type ExportRecord } from './export.model.js';
import { queuedMailModel } from '../mail/mail.model.js';
import { orderModel } from '../orders/order.model.js';
import { profileModel } from '../profiles/profile.model.js';

const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-erasure-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
const redis = fixture(startRedis);
const github = fixture(startGitHubServer);
const start = (erasedMessages: 'keep' | 'blank', given: { mongodbUri?: string } = {}) =>
  startTestServer({
    ...given,
    ...forNamed(github),
    dataDir: folder.dir,
    mail: { url: 'outbox:', from: 'Tandem <a@example.org>', linksUrl: undefined, pollMs: 3_600_000 },
    webhooks: { privateAddresses: true, pollMs: 3_600_000 },
    eventMessageTexts: true,
    // those that are left fill Redis
    rateLimits: { register: {}, login: { perAccount: [100, 60] } },
    redisUrl: redis.url,
    trustProxy: true,
    erasure: { erasureDelay: '0s', erasedMessages },
  });
const app = fixture(() => start('keep'));
const receiver = fixture(startReceiver);

/** All keys and values of the Redis. */
async function textOfRedis(): Promise<string> {
  const client = new Redis(redis.url);
  const keys = await client.keys('*');
  const values = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
  client.disconnect();
  return [...keys, ...values.map((value) => value?.toString('latin1') ?? '')].join('\n');
}

describe.each(FACES)('somebody who is erased over %s', (face) => {
  it('is found by no word in any document, file, mail, line of the log or in Redis', async () => {
    const { admin, bob } = await signUpAll(app, ['admin', 'bob'] as const, { isVerified: true });
    await admin.rest('POST', '/webhooks', { url: receiver.url, types: ['*'] }).expect(201);
    const { person, words } = await nameSomebody(app, admin, bob, github);
    await person.rest('POST', `/auth/${person.id}/export`).expect(202);
    app.clock.advance(10_000);
    await app.tandem.runJobs();
    const archive = await app.storage.model(exportModel).findOne({ _id: person.id }).lean<ExportRecord>();
    const archives = async () =>
      (await readdir(folder.dir, { recursive: true })).filter((one) => one.includes(String(archive?.objectId)));
    expect(await archives()).not.toEqual([]);
    words.push(String(archive?.objectId));
    await app.tandem.services.mails.work();
    await expect
      .poll(() => app.storage.model(webhookMessageModel).countDocuments({ body: { $regex: person.email } }))
      .toBeGreaterThan(0);
    expect((await findWords(app, words, folder.dir)).length).toBeGreaterThan(20);
    const outcome = await person.call(face, 'auth.erase', { identityId: person.id });
    expect(outcome).toMatchObject({ ok: true, value: { eraseAt: expect.any(String) as string } });
    await letErasuresPass(app);
    const left = await findWords(app, words, folder.dir);
    expect(left).toEqual([]);
    const shared = await textOfRedis();
    expect(words.filter((word) => shared.includes(word))).toEqual([]);
    expect(await archives()).toEqual([]);
  });
});

describe('an erasure', () => {
  it('leaves messages, orders and memberships with the id, and the texts of messages; reactions are counted without it', async () => {
    const { admin, bob } = await signUpAll(app, ['admin', 'bob'] as const, { isVerified: true });
    const { person, said, messageIds, orderId, channelId, organizationId } = await nameSomebody(app, admin, bob, github);
    await person.rest('POST', `/auth/${person.id}/erase`).expect(202);
    await letErasuresPass(app);
    const [who, asAdmin] = [await app.signIn(bob.email), await app.signIn(admin.email)];
    const [own, bobs] = await Promise.all(messageIds.map((id) => who.rest('GET', `/messages/${id}`).expect<Message>(200)));
    expect(own).toMatchObject({ senderId: person.id, content: `${said} again`, metadata: {} });
    expect(own?.attachments).toHaveLength(1);
    expect(bobs).toMatchObject({ mentions: [], reactions: [{ key: 'tea', count: 1, mine: true }] });
    const order = await asAdmin.rest('GET', `/orders/${orderId}`).expect(200);
    expect(order).toMatchObject({ identityId: person.id, metadata: {} });
    const { data: pins } = await who.rest('GET', `/channels/${channelId}/pins`).expect<{ data: object[] }>(200);
    expect(pins).toMatchObject([{ pinnedBy: NOBODY }]);
    const { data: members } = await who.rest('GET', `/organizations/${organizationId}/members`).expect<{ data: object[] }>(200);
    expect(members).toContainEqual(expect.objectContaining({ identityId: person.id, role: 'member' }));
    // the member who has been there longest
    expect(await who.rest('GET', `/channels/${channelId}`).expect(200)).toMatchObject({ ownerId: bob.id });
  });

  it('takes what comes late while it goes on: of a request that was under way, of a mail, of a webhook', async () => {
    const { admin, bob } = await signUpAll(app, ['admin', 'bob'] as const, { isVerified: true });
    const { person, words } = await nameSomebody(app, admin, bob, github);
    const [mark = ''] = words;
    await person.rest('POST', `/auth/${person.id}/erase`).expect(202);
    app.clock.advance(10_000);
    await app.tandem.runJobs();
    const now = app.clock.now();
    await app.storage.model(profileModel).create({ identityId: person.id, name: `late-${mark}` });
    const order = await app.storage.model(orderModel).findOne({ identityId: person.id }).lean<Record<string, unknown>>();
    const { _id, trace, ...fields } = order ?? {};
    await app.storage.model(orderModel).create({ ...fields, metadata: { note: `late-${mark}` } });
    await app.storage.model(queuedMailModel).create({ template: 'deactivated', to: person.email, dueAt: now });
    await app.tandem.services.audit.record('logout', { ip: '203.0.113.77', userAgent: 'a' }, { identityId: person.id });
    await letErasuresPass(app);
    expect(await findWords(app, words, folder.dir)).toEqual([]);
  });

  it('leaves no lock after failed logins to whoever has the address next', async () => {
    const { email, ...bob } = await app.signUp();
    const guess = () => app.rest('POST', '/auth/login', { email, password: 'a wrong password' });
    for (let guesses = 0; guesses < 5; guesses++) await guess().expect(401, 'wrong credentials provided');
    await guess().expect(401, 'This account is locked');
    await bob.rest('POST', `/auth/${bob.id}/erase`).expect(202);
    app.clock.advance(10_000);
    await app.tandem.runJobs();
    expect((await app.signUp({ email })).id).not.toBe(bob.id);
    await letErasuresPass(app);
  });

  it('is made once where two instances look for it', async () => {
    await using other = await start('keep');
    const people = await Promise.all(Array.from({ length: 5 }, () => app.signUp()));
    await Promise.all(people.map((one) => one.rest('POST', `/auth/${one.id}/erase`).expect(202)));
    for (const wait of [10_000, 30_000, 11 * 60_000]) {
      app.clock.advance(wait);
      other.clock.advance(wait);
      await Promise.all([app.tandem.runJobs(), other.tandem.runJobs()]);
    }
    expect(
      await findWords(
        app,
        people.map(({ email }) => email),
        folder.dir,
      ),
    ).toEqual([]);
    expect(app.logs() + other.logs()).not.toContain('an erasure failed');
  });
});

it('with ERASED_MESSAGES=blank texts go too, with earlier ones, attachments, reports and what events show of them', async () => {
  await using blank = await start('blank', { mongodbUri: databaseOf('erasure_blank') });
  const { admin, bob } = await signUpAll(blank, ['admin', 'bob'] as const, { isVerified: true });
  const { person, said, messageIds, channelId } = await nameSomebody(blank, admin, bob, github);
  const before = await bob.rest('GET', `/channels/${channelId}`).expect<{ lastChange: number }>(200);
  await person.rest('POST', `/auth/${person.id}/erase`).expect(202);
  await letErasuresPass(blank);
  expect(await findWords(blank, [said], folder.dir)).toEqual([]);
  const who = await blank.signIn(bob.email);
  const message = await who.rest('GET', `/messages/${messageIds[0]}`).expect<Message>(200);
  expect(message).toMatchObject({ senderId: person.id, content: '', attachments: [] });
  const { data } = await who.rest('GET', `/messages/${messageIds[0]}/versions`).expect<{ data: object[] }>(200);
  expect(data).toEqual([]);
  expect(await who.rest('GET', `/messages?channelId=${channelId}&$search=said`).expect(200)).toMatchObject({ data: [] });
  expect(before.lastChange).toBeGreaterThan(0);
});

it('takes what webhooks were sent of events that the log has no more, and leaves what they were told of themselves', async () => {
  const webhooks = { privateAddresses: true, pollMs: 3_600_000 };
  const mongodbUri = databaseOf('erasure_brief');
  await using brief = await startTestServer({ mongodbUri, eventRetention: '1h', webhooks, erasure: { erasureDelay: '0s' } });
  const person = await brief.signUpAdmin();
  const { id } = await person.rest('POST', '/webhooks', { url: receiver.url, types: ['*'] }).expect<{ id: string }>(201);
  await person.rest('POST', '/profiles', { identityId: person.id, name: 'Zebedee' }).expect(201);
  const { eventId } = await person.rest('POST', `/webhooks/${id}/test`).expect<{ eventId: string }>(201);
  const Messages = brief.storage.model(webhookMessageModel);
  await expect.poll(() => Messages.countDocuments({ body: { $regex: 'Zebedee' } })).toBe(1);
  brief.clock.advance(2 * 60 * 60_000);
  const later = await brief.signIn(person.email);
  await later.rest('POST', '/profiles', { identityId: person.id, name: 'Other' }).expect(201);
  const isInLog = (place: string) => place.startsWith('store: {"collection":"events"');
  await expect.poll(async () => (await findWords(brief, ['Zebedee'])).filter(isInLog), PATIENCE).toEqual([]);
  await later.rest('POST', `/auth/${person.id}/erase`).expect(202);
  await letErasuresPass(brief);
  expect(await findWords(brief, ['Zebedee'])).toEqual([]);
  expect(await Messages.countDocuments({ _id: eventId })).toBe(1);
});
