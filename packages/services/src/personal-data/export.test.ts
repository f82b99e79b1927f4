import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  FACES,
  NO_ID,
  databaseOf,
  fixture,
  newEmail,
  startGitHubServer,
  startS3Server,
  startTestServer,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { strFromU8, unzipSync } from 'fflate';
import { beforeEach, describe, expect, it } from 'vitest';
import { forNamed, nameSomebody, type NamedPerson } from '../../test/named-person.js';
import { upload } from '../../test/uploads.js';

const HOUR_MS = 60 * 60_000;
const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-export-test-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
const github = fixture(startGitHubServer);
const app = fixture(() => startTestServer({ ...forNamed(github), dataDir: folder.dir }));
const account = fixture(() => app.signUpAdmin());
let admin: Person;
// tests move the time
beforeEach(async () => {
  admin = await app.signIn(account.email);
});

/** The link in the mail about an archive. */
async function linkOf({ email }: Person, { mail, tandem }: TestServer = app): Promise<string> {
  await tandem.services.mails.work();
  const { text } = await mail.next(email, ({ subject }) => subject === 'Your data is ready');
  return /https?:\S+/.exec(text)?.[0] ?? '';
}

async function contentsOf(url: string): Promise<Map<string, string>> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('application/zip');
  const entries = unzipSync(new Uint8Array(await answer.arrayBuffer()));
  return new Map(Object.entries(entries).map(([name, bytes]) => [name, strFromU8(bytes)]));
}

/** Gives a person a picture whose object the storage loses. @returns the file's id */
async function loseAvatar({ tandem }: TestServer, who: Person): Promise<string> {
  const { id } = await who.rest('POST', '/profiles', { identityId: who.id, name: 'Carol' }).expect<{ id: string }>(201);
  const given = await upload(who, `/profiles/${id}/avatar-upload-url`, 'image/png', 'picture');
  const changed = who.rest('PATCH', `/profiles/${id}`, { avatar: given });
  const { avatar } = await changed.expect<{ avatar: { id: string; url: string } }>(200);
  await tandem.services.files.whole.drop(new URL(avatar.url).pathname.split('/').at(-1) as string);
  return avatar.id;
}

type Row = { id: string; namedAs: string } & Record<string, unknown>;
const rowsOf = (contents: Map<string, string>, collection: string) =>
  JSON.parse(contents.get(`${collection}.json`) ?? '[]') as Row[];

describe.each(FACES)('the request of an archive over %s', (face) => {
  const ask = (who: Person, identityId: string) => who.call(face, 'auth.requestExport', { identityId });

  it('is one’s own or an admin’s, and counts once a day', async () => {
    const [carol, dave] = await Promise.all([app.signUp(), app.signUp()]);
    expect(await ask(carol, dave.id)).toMatchObject({ status: 403 });
    expect(await ask(carol, NO_ID)).toMatchObject({ status: 403 });
    expect(await ask(admin, NO_ID)).toEqual({ ok: false, status: 404, message: 'Identity not found' });
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(n % 2 === 0 ? carol : admin, carol.id)));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.find(({ ok }) => !ok)).toMatchObject({ status: 429, message: 'Too many requests' });
    app.clock.advance(23 * HOUR_MS);
    admin = await app.signIn(account.email);
    expect(await ask(admin, carol.id)).toMatchObject({ status: 429 });
    app.clock.advance(HOUR_MS + 1000);
    admin = await app.signIn(account.email);
    expect(await ask(admin, carol.id)).toMatchObject({ ok: true });
  });
});

describe('an archive', () => {
  let somebody: NamedPerson;
  async function madeFor({ person }: NamedPerson): Promise<string> {
    await admin.rest('POST', `/auth/${person.id}/export`).expect(202);
    app.clock.advance(10_000);
    await app.tandem.runJobs();
    return linkOf(person);
  }

  it('has everything that names the person, the person’s files, and nobody else’s address', async () => {
    somebody = await nameSomebody(app, admin, await app.signUp({ isVerified: true }), github);
    const { person, messageIds, orderId, organizationId, channelId, profileIds, said } = somebody;
    const contents = await contentsOf(await madeFor(somebody));
    expect(rowsOf(contents, 'identities')).toMatchObject([
      {
        id: person.id,
        email: person.email,
        metadata: { note: expect.any(String) as string },
        providers: [{ provider: 'github', key: expect.stringMatching(/^github:\d+$/) as string }],
        factors: [{ type: 'totp' }, { type: 'passkey' }],
      },
    ]);
    expect(rowsOf(contents, 'messages').map(({ id }) => id)).toEqual(expect.arrayContaining(messageIds));
    expect(rowsOf(contents, 'messages')[0]).toMatchObject({ namedAs: 'senderId', content: `${said} again` });
    expect(rowsOf(contents, 'messages').find(({ namedAs }) => namedAs === 'mentions')).not.toHaveProperty('content');
    const order = await person.rest('GET', `/orders/${orderId}`).expect<Record<string, unknown>>(200);
    const { currency, subtotal, tax, total, items } = order;
    const archived = rowsOf(contents, 'orders').find(({ id }) => id === orderId);
    expect(archived).toMatchObject({ currency, subtotal, tax, total, items });
    expect(archived).not.toHaveProperty('shown');
    expect(rowsOf(contents, 'organizations')).toMatchObject([
      { id: organizationId, members: [{ identityId: person.id, role: 'owner' }] },
    ]);
    expect(rowsOf(contents, 'subscriptions').map((row) => row['channelId'])).toContain(channelId);
    expect(rowsOf(contents, 'profiles').map(({ id }) => id)).toEqual(expect.arrayContaining(profileIds));
    expect(rowsOf(contents, 'profileFollows')).toHaveLength(1);
    for (const collection of [
      'apiKeys',
      'sessions',
      'securityEvents',
      'notifications',
      'invitations',
      'reports',
      'reactions',
      'pins',
      'bans',
      'files',
    ])
      expect(rowsOf(contents, collection).length, collection).toBeGreaterThan(0);
    const files = [...contents].filter(([name]) => name.startsWith('files/')).map(([, text]) => text);
    expect(files).toHaveLength(2);
    for (const part of ['picture', said])
      expect(
        files.filter((text) => text.includes(part)),
        part,
      ).toHaveLength(1);
    const all = [...contents.values()].join('');
    const addresses = new Set(all.match(/[\w.-]+@[\w.-]+/g));
    expect([...addresses].filter((one) => !somebody.words.includes(one))).toEqual([]);
    for (const secret of ['hash', 'jti', 'epoch', 'search', 'trace', 'passwordHash']) expect(all).not.toContain(`"${secret}"`);
  });

  it('is JSON whatever the texts say, without the addresses of others in them', async () => {
    const carol = await app.signUp({ email: `o'brien.${newEmail()}` });
    const own = `\n${carol.email}, d'${carol.email}, '${carol.email}', or ${carol.email}.`;
    const metadata = { said: 'say "bob@example.com" now', own, long: `${'a'.repeat(490)}@b.c`, others: "o'hara@b.c." };
    await admin.rest('PATCH', `/identities/${carol.id}`, { metadata }).expect(200);
    const contents = await contentsOf(await madeFor({ person: carol } as NamedPerson));
    const somebodys = '(an email address)';
    expect(rowsOf(contents, 'identities')[0]?.['metadata']).toEqual({
      said: `say "${somebodys}" now`,
      own,
      long: 'a'.repeat(490 - 254) + somebodys,
      others: `${somebodys}.`,
    });
    expect(rowsOf(contents, 'identities')[0]).toMatchObject({ email: carol.email });
  });

  it('has nothing of who has an address now that was the person’s', async () => {
    const carol = await app.signUp({ isVerified: true });
    const former = carol.email;
    await admin.rest('PATCH', `/identities/${carol.id}`, { email: newEmail(), emailVerified: true }).expect(200);
    const invite = (email: string) => admin.rest('POST', '/invitations', { email }).expect(201);
    const { email } = await admin.rest('GET', `/identities/${carol.id}`).expect<{ email: string }>(200);
    await app.signUp({ email: former });
    await invite(former);
    await invite(email);
    const contents = await contentsOf(await madeFor({ person: { ...carol, email } } as NamedPerson));
    expect(rowsOf(contents, 'invitations')).toHaveLength(1);
    expect([...contents.values()].join('')).not.toContain(former);
  });

  it('has nothing of others about an address that the person gave and never proved', async () => {
    const mallory = await app.signUp();
    await admin.rest('POST', '/invitations', { email: mallory.email }).expect(201);
    const email = newEmail();
    await admin.rest('PATCH', `/identities/${mallory.id}`, { email, emailVerified: true }).expect(200);
    const contents = await contentsOf(await madeFor({ person: { ...mallory, email } } as NamedPerson));
    expect(rowsOf(contents, 'invitations')).toEqual([]);
    expect(rowsOf(contents, 'mails').filter(({ namedAs }) => namedAs === 'to')).toEqual([]);
  });

  it('is told of in a mail to the person, by an address that works for 24 hours; then it is removed', async () => {
    const carol = await app.signUp();
    const url = await madeFor({ person: carol } as NamedPerson);
    app.clock.advance(23 * HOUR_MS);
    await contentsOf(url);
    const before = await readdir(path.join(folder.dir, 'files'), { recursive: true });
    app.clock.advance(HOUR_MS);
    expect((await fetch(url)).status).toBe(403);
    await app.tandem.runJobs();
    const after = await readdir(path.join(folder.dir, 'files'), { recursive: true });
    const id = new URL(url).pathname.split('/').at(-1);
    expect(before.some((name) => name.endsWith(id as string))).toBe(true);
    expect(after.some((name) => name.endsWith(id as string))).toBe(false);
  });

  it('goes with the person', async () => {
    const carol = await app.signUp();
    const url = await madeFor({ person: carol } as NamedPerson);
    await app.tandem.services.personalExports.erase({ id: carol.id, emails: [carol.email] }, { blank: false });
    expect((await fetch(url)).status).toBe(404);
  });

  it('leaves out a file whose object is gone, and says so', async () => {
    const carol = await app.signUp();
    const lost = await loseAvatar(app, carol);
    const contents = await contentsOf(await madeFor({ person: carol } as NamedPerson));
    expect(JSON.parse(contents.get('about.json') ?? '')).toMatchObject({ filesLeftOut: [lost] });
    expect([...contents.keys()].filter((name) => name.startsWith('files/'))).toEqual([]);
  });

  it('is stored in S3 by an address, and says there too which files are gone', async () => {
    await using s3 = await startS3Server();
    await using other = await startTestServer({
      mongodbUri: databaseOf('export-addresses'),
      files: { url: s3.url, pollMs: 3_600_000 },
    });
    const carol = await other.signUp();
    const lost = await loseAvatar(other, carol);
    await carol.rest('POST', `/auth/${carol.id}/export`).expect(202);
    other.clock.advance(10_000);
    await other.tandem.runJobs();
    const contents = await contentsOf(await linkOf(carol, other));
    expect(rowsOf(contents, 'profiles')).toMatchObject([{ name: 'Carol' }]);
    expect(JSON.parse(contents.get('about.json') ?? '')).toMatchObject({ filesLeftOut: [lost] });
  });
});
