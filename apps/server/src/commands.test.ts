import { once } from 'node:events';
import { chmod, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { openRedis } from '@tandem/drivers/redis';
import { HAS_REDIS, TEST_SECRETS, startMailServer, startOidcProvider, startRedis, startStoreProxy } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine, type CommandLine } from '../test/command-line.js';

const PASSWORD = 'a password of the tests';
const PRODUCTION = {
  NODE_ENV: 'production',
  BCRYPT_COST: '10',
  AUTH_ENC_SECRET: TEST_SECRETS.authEncSecret,
  AUTH_SIGN_SECRET: TEST_SECRETS.authSignSecret,
};

let dataDir: string;
let { start, run } = {} as CommandLine;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-commands-'));
  ({ start, run } = commandLine(dataDir));
});
afterAll(() => rm(dataDir, { recursive: true }));

/** Starts a server and waits until it reports its address. */
async function serve(environment?: Record<string, string>): Promise<{ url: string; stop(): Promise<number> }> {
  const child = start(['serve'], environment);
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    const { url } = JSON.parse(line) as { url?: string };
    if (url === undefined) continue;
    child.stdout?.resume();
    return {
      url,
      async stop() {
        child.kill('SIGTERM');
        return ((await ended) as [number])[0];
      },
    };
  }
  throw new Error('the server did not start');
}

async function post(url: string, body: object): Promise<Record<string, string>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (await response.json()) as Record<string, string>;
}

describe('the command line', { timeout: 90_000 }, () => {
  it('serves, works beside the running server, stops at SIGTERM, and has all data after the next start', async () => {
    const server = await serve();
    const ann = { email: 'ann@example.org', password: PASSWORD };
    const { id } = await post(`${server.url}/auth/register`, ann);

    const admin = { email: 'admin@example.org', password: PASSWORD };
    const created = await run(['admin', 'create', '--email', admin.email], { ADMIN_PASSWORD: PASSWORD });
    expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^created the admin [0-9a-f-]{36}\n$/) as unknown });
    const { accessToken } = await post(`${server.url}/auth/login`, admin);
    const identities = await fetch(`${server.url}/identities`, { headers: { authorization: `Bearer ${accessToken}` } });
    expect(((await identities.json()) as { data: unknown[] }).data).toHaveLength(2);
    const refused = (await (await fetch(`${server.url}/identities`)).json()) as { error: { stack: string } };
    expect(refused.error.stack).toMatch(/packages\/core\/src\/\S+\.ts:\d+/);

    expect(await run(['admin', 'create', '--email', admin.email], { ADMIN_PASSWORD: PASSWORD })).toMatchObject({
      code: 1,
      err: 'admin@example.org has an account: to make it an admin, run  tandem admin promote --email admin@example.org\n',
    });
    const promote = ['admin', 'promote', '--email', ann.email];
    expect(await run(promote)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^nobody has verified ann@example\.org, so the account may be a stranger's/) as unknown,
    });
    await fetch(`${server.url}/identities/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ emailVerified: true }),
    });
    expect(await run(promote)).toMatchObject({ code: 0, out: `${id} is an admin\n` });
    const promoted = await post(`${server.url}/auth/login`, ann);
    const asAnn = { headers: { authorization: `Bearer ${promoted['accessToken']}` } };
    expect((await fetch(`${server.url}/identities`, asAnn)).status).toBe(200);
    expect(await run(['admin', 'promote', '--email', 'nobody@example.org'])).toMatchObject({
      code: 1,
      err: 'nobody@example.org has no account: run  tandem admin create --email nobody@example.org\n',
    });
    expect(await run(['admin', 'create', '--email', 'no address'], { ADMIN_PASSWORD: 'short' })).toMatchObject({
      code: 1,
      err: expect.stringContaining('must match format "email"') as unknown,
    });

    const [indexes, doctor, openapi] = await Promise.all([run(['indexes', '--check']), run(['doctor']), run(['openapi'])]);
    expect(indexes).toMatchObject({
      code: 0,
      out: expect.stringContaining('ok      email_1_unique_where_email: login and registration') as unknown,
    });
    expect(doctor.out).toContain('ok   database: answers (embedded engine)');
    expect(doctor.out).toContain('ok   indexes');
    expect(doctor.out).toContain('ok   admin');
    expect(doctor.out).toContain('ok   factors: sealed by the first AUTH_ENC_SECRET');
    expect(doctor.out).toMatch(/ok {3}mail queue: \d+ waiting/);
    expect(doctor.out).toContain("ok   clock: agrees with the database's");
    expect(doctor.out).toContain('ok   mail: written into DATA_DIR/outbox');
    expect(JSON.parse(openapi.out)).toEqual(await (await fetch(`${server.url}/openapi.json`)).json());

    expect(await server.stop()).toBe(0);
    const again = await serve();
    expect(await post(`${again.url}/auth/login`, ann)).toMatchObject({ id });
    expect(await again.stop()).toBe(0);
  });

  it('moves a whole database: from the embedded engine to a server', async () => {
    const file = path.join(dataDir, 'export.jsonl');
    const engine = new URL(process.env['TANDEM_TEST_MONGODB_URI'] ?? '');
    engine.pathname = `/imported_${process.pid}`;
    const elsewhere = { MONGODB_URI: engine.href };
    const exported = await run(['export', file]);
    expect(exported).toMatchObject({ code: 0, out: '' });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await run(['export', file])).toMatchObject({
      code: 1,
      err: `${file} already exists: an export overwrites nothing\n`,
    });
    const unused = path.join(dataDir, 'unused');
    expect(await run(['export'], { DATA_DIR: unused })).toMatchObject({
      code: 1,
      err: `${path.join(unused, 'mongodb')} does not exist: set DATA_DIR or MONGODB_URI to that of the server\n`,
    });
    expect(await run(['export', `${file}.empty`], elsewhere)).toMatchObject({
      code: 1,
      err: 'the database is empty: is this the MONGODB_URI or DATA_DIR of the server?\n',
    });
    await expect(stat(`${file}.empty`), 'the empty export').rejects.toThrow('ENOENT');
    expect(await run(['import', `${file}.gone`], elsewhere)).toMatchObject({
      code: 1,
      err: expect.stringContaining('ENOENT') as unknown,
    });

    // above the last line is the progress of whatever takes more than a second
    const count = /^exported (\d+ documents)\n$/m.exec(exported.err)?.[1];
    const imported = { code: 0, err: expect.stringMatching(new RegExp(`^imported ${count}\n$`, 'm')) as unknown };
    expect(await run(['import', file], elsewhere)).toMatchObject(imported);
    expect((await run(['export'], elsewhere)).out).toBe(await readFile(file, 'utf8'));
    const again = await run(['import', file], elsewhere);
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining('needs an empty one') as unknown });

    const server = await serve(elsewhere);
    const answer = await post(`${server.url}/auth/login`, { email: 'ann@example.org', password: PASSWORD });
    expect(answer).toHaveProperty('accessToken');
    expect(await server.stop()).toBe(0);
  });

  it('writes mails as files to its data folder, with links to itself, in the look of its settings', async () => {
    const outbox = path.join(dataDir, 'outbox');
    await rm(outbox, { recursive: true, force: true });
    const server = await serve({ MAIL_LOGO_URL: 'https://example.org/logo.png', MAIL_COLOR: '#b4551d' });
    const bob = { email: 'bob@example.org', password: PASSWORD };
    await post(`${server.url}/auth/register`, bob);
    const asked = await fetch(`${server.url}/auth/send-reset-password-link-email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: bob.email }),
    });
    expect(asked.status).toBe(204);
    async function readMails(): Promise<{ to: string; subject: string; text: string; html: string }[]> {
      const files = (await readdir(outbox).catch(() => [])).filter((name) => name.endsWith('.json'));
      return Promise.all(files.map(async (name) => JSON.parse(await readFile(path.join(outbox, name), 'utf8')) as never));
    }
    const findReset = async () => (await readMails()).find(({ subject }) => subject === 'Reset your password');
    await expect.poll(findReset, { timeout: 30_000 }).toMatchObject({
      to: bob.email,
      text: expect.stringContaining(`${server.url}/reset-password?token=`) as unknown,
      html: expect.stringMatching(/src="https:\/\/example.org\/logo.png" alt="Tandem"[^]+background:#b4551d/) as unknown,
    });
    expect(await server.stop()).toBe(0);
  });

  it('asks the mail server whether it would accept mails', async () => {
    await using server = await startMailServer();
    await using gone = await startMailServer();
    gone.goAway(true);
    // sequentially: a command that ends takes its engine along
    const well = await run(['doctor'], { MAIL_URL: server.url });
    expect(well.out).toContain('ok   mail: the server of MAIL_URL takes mails\n');
    const ill = await run(['doctor'], { ...PRODUCTION, AUTH_SIGN_SECRET: PRODUCTION.AUTH_ENC_SECRET, MAIL_URL: gone.url });
    expect(ill.code).toBe(1);
    expect(ill.out).toMatch(/look mail: mails cannot leave \(E\w+\): check MAIL_URL\n/);
    expect(ill.out).toContain('set MAIL_FROM: mail servers refuse senders at localhost\n');
    expect(ill.out).toContain('set AUTH_ENC_SECRET and AUTH_SIGN_SECRET to different texts');
    expect(ill.out).toContain('set PUBLIC_URL: otherwise links in mails lead to HOST and PORT\n');
    const typed = await run(['doctor'], { AUTH_ENC_SECRET: 'e'.repeat(32) });
    expect(typed.out).toContain('look secrets: AUTH_ENC_SECRET could be guessed: make one with  openssl rand -base64 48\n');
  });

  it('asks identity providers whether people could sign in by them', async () => {
    await using acme = await startOidcProvider();
    const { clientId, clientSecret, issuer } = acme.settings;
    const { code, out } = await run(['doctor'], {
      OAUTH_ACME_CLIENT_ID: clientId,
      OAUTH_ACME_CLIENT_SECRET: clientSecret,
      OAUTH_ACME_ISSUER: issuer,
      OAUTH_GONE_CLIENT_ID: clientId,
      OAUTH_GONE_CLIENT_SECRET: clientSecret,
      OAUTH_GONE_ISSUER: 'http://127.0.0.1:9',
      REDIRECT_URLS: 'https://app.example.org/welcome',
    });
    expect(code).toBe(1);
    expect(out).toContain('ok   identity provider: acme\n');
    expect(out).toContain('look identity provider: gone: its issuer does not answer');
  });

  it('checks everything else in the doctor while the database and Redis are down, and DATA_DIR is not a folder', async () => {
    const environment = {
      MONGODB_URI: 'mongodb://somebody:hidden@127.0.0.1:9/x',
      REDIS_URL: 'redis://127.0.0.1:9',
      DATA_DIR: '/dev/null/x',
    };
    const { code, out } = await run(['doctor'], { ...PRODUCTION, ...environment, MAIL_URL: 'smtp://127.0.0.1:9' });
    expect(code).toBe(1);
    expect(out).toMatch(/look database: MONGODB_URI cannot be used \(\w+\): check the address, and that the server there runs/);
    for (const subject of ['redis: the server of REDIS_URL', 'mail', 'files: kept in DATA_DIR/files'])
      expect(out).toContain(`look ${subject}: `);
    expect(out).toContain('look disk: DATA_DIR cannot be used (ENOTDIR): create the folder');
    expect(out).not.toContain('hidden');
  });

  it.skipIf(!HAS_REDIS).each([
    ['send events, as new users of Redis 7', ['~*', '+@all', 'resetchannels']],
    ['use keys of Tandem', ['~other:*', '+@all', 'allchannels']],
  ])('says in the doctor that the user of REDIS_URL may not %s', async (_, rights) => {
    await using redis = await startRedis();
    const { client, verify, close } = openRedis(redis.url);
    await verify();
    await client.acl('SETUSER', 'deaf', 'on', '>hidden', ...rights);
    close();
    const environment = { MONGODB_URI: 'mongodb://127.0.0.1:9/x', REDIS_URL: redis.url.replace('//', '//deaf:hidden@') };
    const { out } = await run(['doctor'], environment);
    expect(out).toMatch(/^look redis: the server of REDIS_URL: its user may not do everything: .* &tandem:\*$/m);
    expect(out).not.toContain('hidden');
  });

  it('works with a HOST that is an IPv6 address', async () => {
    expect(await run(['indexes', '--check'], { HOST: '::1' })).toMatchObject({ code: 0 });
  });

  it('says nothing in the doctor of a DATA_DIR that nothing is kept in', async () => {
    const environment = {
      ...PRODUCTION,
      MONGODB_URI: 'mongodb://127.0.0.1:9/x',
      MAIL_URL: 'smtp://127.0.0.1:9',
      FILES_URL: 's3://key:secret@bucket?endpoint=http://127.0.0.1:9',
      DATA_DIR: path.join(dataDir, 'never made'),
    };
    expect((await run(['doctor'], environment)).out).not.toContain('disk');
  });

  it('refuses an older MongoDB, and w=1 in a replica set, with one line, in the doctor too', async () => {
    const engine = process.env['TANDEM_TEST_MONGODB_URI'] ?? '';
    await using old = await startStoreProxy(engine, { as: 'MongoDB 6.0' });
    await using member = await startStoreProxy(engine, { as: 'MongoDB 8.0' });
    const [refused, weak, ill] = await Promise.all([
      run(['serve'], { MONGODB_URI: old.uri }),
      run(['serve'], { MONGODB_URI: `${member.uri}&w=1` }),
      run(['doctor'], { MONGODB_URI: old.uri }),
    ]);
    const text = 'The store has to be MongoDB 7.0 or later: a server of it speaks wire version 17, not 21\n';
    expect(refused).toMatchObject({ code: 1, err: text });
    expect(weak).toMatchObject({ code: 1, err: expect.stringMatching(/^The address of the store must not have w=1: .*\n$/) });
    expect(ill.out).toContain(`look database: ${text}`);
  }, 60_000);

  it('reports in the doctor who can read the development secrets', async () => {
    const file = path.join(dataDir, 'secrets.json');
    await chmod(file, 0o644);
    expect((await run(['doctor'])).out).toContain(
      `look secrets: others can read the development secrets: run  chmod 600 ${file}\n`,
    );
    await chmod(file, 0o600);
    expect((await run(['doctor'])).out).toContain('ok   secrets\n');
  });

  it('makes the development secrets once, readable only by their owner', async () => {
    const file = path.join(dataDir, 'secrets.json');
    const before = await readFile(file, 'utf8');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await run(['indexes'])).code).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(before);
  });
});
