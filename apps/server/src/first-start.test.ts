import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN, commandLine, type CommandLine } from '../test/command-line.js';

let dataDir: string;
let { run } = {} as CommandLine;
/** An empty database. */
let mongodbUri: string;
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-first-start-'));
  ({ run } = commandLine(dataDir));
  const engine = new URL(process.env['TANDEM_TEST_MONGODB_URI'] ?? '');
  engine.pathname = `/first_start_${process.pid}`;
  mongodbUri = engine.href;
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

describe('a server that cannot start says so in one line', () => {
  it('when its port is in use', async () => {
    await using other = net.createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await run(['serve'], { PORT: String(port), MONGODB_URI: mongodbUri })).toMatchObject({
      code: 1,
      err: `PORT ${port} is in use: stop the program that listens there, or set another PORT\n`,
    });
  });

  it.each(['192.0.2.1', 'nowhere.invalid'])('when HOST is %s', async (HOST) => {
    const advice = 'set another, such as 127.0.0.1, or 0.0.0.0 for all';
    expect(await run(['serve'], { HOST, MONGODB_URI: mongodbUri })).toMatchObject({
      code: 1,
      err: `HOST ${HOST} is not an address of this machine: ${advice}\n`,
    });
  });

  it.each(['serve', 'indexes'])('when %s does not reach its database, without the secrets of its address', async (command) => {
    const { code, out, err } = await run([command], { MONGODB_URI: 'mongodb://somebody:hidden@127.0.0.1:9/x' });
    expect(code).toBe(1);
    expect(err).toMatch(
      /^MONGODB_URI cannot be used \(\w+\): check the address, and that the server there runs and accepts the password\n$/,
    );
    expect(out + err).not.toMatch(/hidden|somebody/);
  });

  it('when the address of its database is malformed', async () => {
    const { code, err } = await run(['serve'], { MONGODB_URI: 'mongodb://some:hid@den@127.0.0.1/x?nonsense=hidden' });
    expect([code, err.split('\n').length]).toEqual([1, 2]);
    expect(err).toMatch(/^MONGODB_URI cannot be used \(MongoParseError\): check the address/);
  });
});

describe('a command that cannot run says so in one line', () => {
  it.each([
    [['serv'], "error: unknown command 'serv' (Did you mean serve?); tandem --help lists the commands"],
    [['frobnicate'], "error: unknown command 'frobnicate'; tandem --help lists the commands"],
    [['serve', '--port', '80'], "error: unknown option '--port'; tandem --help lists the commands"],
    [['admin', 'create'], "error: required option '--email <address>' not specified; tandem --help lists the commands"],
  ])('%s', async (args, line) => {
    expect(await run(args)).toEqual({ code: 1, out: '', err: `${line}\n` });
  });

  it.each(['serve', 'indexes'])('%s, where the data folder cannot be written', async (command) => {
    const DATA_DIR = path.join(dataDir, 'a file');
    await writeFile(DATA_DIR, '');
    const advice = 'make this user the owner of the folder, or set another DATA_DIR';
    expect(await run([command], { DATA_DIR })).toEqual({
      code: 1,
      out: '',
      err: `DATA_DIR ${DATA_DIR} cannot be written (EEXIST): ${advice}\n`,
    });
  });

  it('with a Node that is too old, before it loads anything', async () => {
    const old = path.join(dataDir, 'old.cjs');
    await writeFile(old, `Object.defineProperty(process.versions, 'node', { value: '20.18.9' });`);
    // neither the program nor its packages are beside it
    const alone = path.join(dataDir, 'tandem.cjs');
    await copyFile(new URL('../bin/tandem.cjs', import.meta.url), alone);
    const child = spawn(process.execPath, ['-r', old, alone]);
    let said = '';
    child.stderr.on('data', (chunk) => (said += String(chunk)));
    const [code] = (await once(child, 'close')) as [number];
    const line = 'Tandem needs Node 20.19 or later, not 20.18.9: install it from https://nodejs.org\n';
    expect({ code, said }).toEqual({ code: 1, said: line });
    const { engines } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as { engines: { node: string } }; // prettier-ignore
    expect(`>=${/Node ([\d.]+)/.exec(line)?.[1]}`).toBe(engines.node);
  });
});

describe('the password of an admin', () => {
  /** Runs \`admin create\` on a terminal, types when it is asked for the password, and returns all that is shown. */
  async function createOnTerminal(typed: string): Promise<string> {
    const command = `"${process.execPath}" "${MAIN}" admin create --email ${crypto.randomUUID()}@example.org; echo "code $?"; stty -a`;
    const env = { PATH: process.env['PATH'], SHELL: '/bin/sh', NODE_ENV: 'development', DATA_DIR: dataDir, MONGODB_URI: mongodbUri, BCRYPT_COST: '4' }; // prettier-ignore
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { env });
    let shown = '';
    terminal.stdout.on('data', (chunk) => {
      const wasAsked = shown.includes('Password: ');
      shown += String(chunk);
      if (!wasAsked && shown.includes('Password: ')) terminal.stdin.write(typed);
    });
    await once(terminal, 'close');
    return shown;
  }

  it('is asked for, and not shown while it is typed', async () => {
    const shown = await createOnTerminal('a wroong\x7f\x7f\x7fng password\r');
    expect(shown).toMatch(/created the admin [0-9a-f-]{36}\r\ncode 0\r\n/);
    expect(shown).not.toMatch(/wro|password\b/);
  });

  it.each([
    ['Ctrl+C', '\x03'],
    ['Ctrl+D', '\x04'],
  ])('may be left out by %s, and the terminal shows again what is typed', async (_, key) => {
    const shown = await createOnTerminal(`half a pass${key}`.slice(key === '\x04' ? -1 : 0));
    expect(shown).toMatch(/^Password: \r\nno password was given\r\ncode 1\r\n/);
    expect(shown).toMatch(/ icanon [\s\S]* echo /);
  });
});

describe('the environment', () => {
  it('refuses to start in production without secrets, and says how to make them', async () => {
    const { code, err } = await run(['serve'], { NODE_ENV: 'production', BCRYPT_COST: '10' });
    expect(code).toBe(1);
    expect(err).toBe(
      'AUTH_ENC_SECRET is not set: make one with  openssl rand -base64 48\n' +
        'AUTH_SIGN_SECRET is not set: make one with  openssl rand -base64 48\n',
    );
  });

  it('with wrong values prints one clear line for each', async () => {
    const { code, err } = await run(['serve'], {
      PORT: '70000',
      PUBLIC_URL: 'ftp://example.org',
      MONGODB_URI: 'postgres://x',
      AUTH_MODE: 'magic',
      AUTH_MODE_AUTH: 'none',
      AUTH_ENC_SECRET: 'short',
      ACCESS_TOKEN_EXPIRE_TIME: 'soon',
      BCRYPT_COST: '99',
      BOOTSTRAP_ADMIN_PASSWORD: 'short',
      MAIL_URL: 'imap://user:pass@example.org',
      MAIL_FROM: 'nobody',
      MAIL_LINKS_URL: 'app.example.org',
      CORS_ORIGINS: 'https://a.example.org/path',
      BODY_LIMIT: 'huge',
      METRICS_TOKEN: 'short',
      LOG_LEVEL: 'loud',
    });
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toEqual([
      'PORT must be at most 65535',
      'PUBLIC_URL must be an http or https address',
      'MONGODB_URI must be a mongodb:// or mongodb+srv:// address',
      'AUTH_MODE must be bearer or cookie',
      'AUTH_ENC_SECRET must have at least 32 bytes in each secret',
      'ACCESS_TOKEN_EXPIRE_TIME must be a duration such as 15m, 48h or 14d, not "soon"',
      'BCRYPT_COST must be at most 16',
      'BOOTSTRAP_ADMIN_PASSWORD must have at least 8 characters',
      'MAIL_URL must be outbox: or an smtp:// or smtps:// address',
      'MAIL_FROM must be an address, or Name <address>',
      'MAIL_LINKS_URL must be an http or https address',
      'CORS_ORIGINS must be origins such as https://app.example.org',
      'BODY_LIMIT must be a size such as 1mb',
      'METRICS_TOKEN must have at least 16 characters',
      'LOG_LEVEL must be trace, debug, info, warn, error, fatal or silent',
      'AUTH_MODE_AUTH must be bearer or cookie',
    ]);
  });

  it('is checked across variables too', async () => {
    const environment = { BOOTSTRAP_ADMIN_EMAIL: 'a@example.org', COOKIE_SAME_SITE: 'none', COOKIE_SECURE: 'false', IDENTITY_TYPE_ADMIN: 'regular' }; // prettier-ignore
    const { code, err } = await run(['doctor'], { ...environment, MONGODB_URI: 'mongodb://a:hidden@b/c?maxPoolSize=9&w=0' });
    const lines = err.trim().split('\n');
    expect([code, lines.length]).toEqual([1, 5]);
    expect(lines).toContain('MONGODB_URI must not have maxPoolSize: the size of the pool is set by MONGODB_POOL_SIZE');
    expect(err).toMatch(/^MONGODB_URI must not have w=0: .*$/m);
    expect(err).not.toContain('hidden');
  });
});
