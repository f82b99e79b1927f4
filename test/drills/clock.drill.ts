import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PASSWORD, openStream, startServerProcess, type ServerProcess } from '@tandem/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

/** Debian's `libfaketime`: without it these tests are skipped, and the run says so. */
const LIBRARY = existsSync('/usr/lib')
  ? readdirSync('/usr/lib')
      .map((folder) => `/usr/lib/${folder}/faketime/libfaketime.so.1`)
      .find((file) => existsSync(file))
  : undefined;

interface Tokens {
  id: string;
  accessToken: string;
  refreshToken: string;
}
interface Page {
  value: { id: string; name?: string; seq?: number; content?: string }[];
  nextToken?: string;
}

let dataDir: string;
let timeFile: string;
let server: ServerProcess;
let email: string;
beforeEach(async (context) => {
  if (LIBRARY === undefined) context.skip('libfaketime is not installed (Debian: apt-get install libfaketime)');
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-faults-'));
  timeFile = path.join(dataDir, 'time');
  await moveClock('+0');
  server = await startServerProcess({
    DATA_DIR: dataDir,
    BOOTSTRAP_ADMIN_EMAIL: 'admin@example.org',
    BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
    LD_PRELOAD: LIBRARY as string,
    FAKETIME_TIMESTAMP_FILE: timeFile,
    FAKETIME_NO_CACHE: '1',
    // as on a real machine, where timers use the monotonic clock
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  });
  email = `${crypto.randomUUID()}@example.org`;
  await server.rest('POST', '/auth/register', { email, password: PASSWORD }).expect(201);
});
afterEach(async () => {
  await server?.kill();
  if (dataDir) await rm(dataDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

/** Sets the server's clock to an offset from the machine's, in libfaketime's syntax. */
const moveClock = (offset: string) => writeFile(timeFile, offset);
const signIn = (who = email) => server.rest('POST', '/auth/login', { email: who, password: PASSWORD }).expect<Tokens>(200);

/** All rows of a list, in pages of three. */
async function readAll(me: Tokens, listPath: string): Promise<Page['value']> {
  const rows: Page['value'] = [];
  for (let next: string | undefined = ''; next !== undefined;) {
    const more: string = next === '' ? '' : `&$nextToken=${encodeURIComponent(next)}`;
    const page: Page = await server.rest('GET', `${listPath}$top=3${more}`, undefined, me).expect<Page>(200);
    rows.push(...page.value);
    next = page.nextToken;
  }
  return rows;
}

describe('a clock', () => {
  it('that jumps ahead by three days ends what has expired by then, and nothing else', async () => {
    const me = await signIn();
    const stream = await openStream(server.url, '/messages/listen', me);
    await stream.next('ready');
    await moveClock('+3d');
    expect(await stream.closed).toMatchObject({ code: 4401 });
    await server.rest('GET', `/identities/${me.id}`, undefined, me).expect(401, 'token could not be verified');
    const renewed = await server.rest('POST', '/auth/token/refresh', { refreshToken: me.refreshToken }).expect<Tokens>(200);
    await server.rest('GET', `/identities/${me.id}`, undefined, renewed).expect(200);

    await moveClock('+30d');
    const { refreshToken } = renewed;
    await server.rest('POST', '/auth/token/refresh', { refreshToken }).expect(422, 'Token was not found');
    await server.rest('GET', `/identities/${me.id}`, undefined, await signIn()).expect(200);
  });

  it('that goes back by an hour extends no session, and breaks neither numbers nor pages', async () => {
    const [me, admin] = [await signIn(), await signIn('admin@example.org')];
    const channel = await server.rest('POST', '/channels', { name: 'Tea', ownerId: me.id }, me).expect<Tokens>(201);
    const names: string[] = [];
    async function write(): Promise<void> {
      for (let n = 0; n < 5; n++) {
        names.push(`No. ${names.length}`);
        const [name] = names.slice(-1);
        await server.rest('POST', '/messages', { channelId: channel.id, senderId: me.id, content: name }, me).expect(201);
        await server.rest('POST', '/products', { name, description: '' }, admin).expect(201);
      }
    }
    await write();
    const again = await server.rest('POST', '/auth/token/refresh', { refreshToken: me.refreshToken }).expect<Tokens>(200);
    await moveClock('-1h');
    await write();
    await server.rest('GET', `/identities/${me.id}`, undefined, again).expect(200);
    await server.rest('POST', '/auth/token/refresh', { refreshToken: again.refreshToken }).expect(200);

    const messages = (await readAll(me, `/channels/${channel.id}/messages?`)).toReversed();
    expect(messages.map(({ seq, content }) => [seq, content])).toEqual(names.map((name, n) => [n + 1, name]));
    const products = await readAll(admin, '/products?');
    expect(new Set(products.map(({ name }) => name))).toEqual(new Set(names));
    expect(products).toHaveLength(names.length);
    const { value } = await server.rest('GET', '/products?$orderby=id&$top=100', undefined, admin).expect<Page>(200);
    expect(new Set(value.map(({ id }) => id)).size).toBe(names.length);

    const stream = await openStream(server.url, '/messages/listen', me);
    await server.rest('POST', `/identities/${me.id}/lock`, undefined, admin).expect(204);
    expect(await stream.closed).toMatchObject({ code: 1008 });
    await server.rest('GET', `/identities/${me.id}`, undefined, me).expect(401, 'token could not be verified');
  });
});
