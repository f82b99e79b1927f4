import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Writable } from 'node:stream';
import { createServer, describeApi, createLog, type CodeConfiguration, type Config } from '@tandem/server';
import type { Tandem } from '@tandem/services';
import type { Storage } from '@tandem/storage';
import { createCaller, type Caller, type Credentials, type Face, type Outcome, type RestRequest } from './caller.js';
import { createContract, type Contract, type RestAnswer } from './contract.js';
import { databaseOfFile, noteStandard } from './databases.js';
import { startMailServer, type MailServer } from './mail-server.js';
import { TEST_SECRETS } from './test-secrets.js';
import { createTestClock, type TestClock } from './test-clock.js';

/** Long and uncommon enough to be accepted. */
export const PASSWORD = 'a password of the tests';
/** To change it to. */
export const NEW_PASSWORD = 'another password of the tests';

/** An address that nobody has. */
export const newEmail = () => `${randomUUID()}@example.org`;

/** A signed-in person with an account. */
export interface Person {
  id: string;
  email: string;
  accessToken: string;
  refreshToken: string;
  credentials: Credentials;
  rest(method: string, path: string, body?: unknown): RestRequest;
  call(face: Face, procedure: string, input?: Record<string, unknown>): Promise<Outcome>;
}

export interface TestServer extends AsyncDisposable, Caller {
  url: string;
  /** URI of its database, for another process. */
  mongodbUri: string;
  tandem: Tandem;
  storage: Storage;
  clock: TestClock;
  /** Receives its mails: one mail server for all servers of a test file on the same database. */
  mail: MailServer;
  /** The whole log so far, as text. */
  logs(): string;
  /** Registers and signs in a person over REST; with a verified email on request. */
  signUp(options?: { email?: string; fingerprint?: string; isVerified?: boolean }): Promise<Person>;
  /** Signs in an existing account; in cookie mode the credentials are cookies. */
  signIn(email: string, options?: { fingerprint?: string; password?: string }): Promise<Person>;
  /** Signs in a new admin. */
  signUpAdmin(): Promise<Person>;
  close(): Promise<void>;
}

/** The cookies that an answer sets, by name. */
export function cookiesOf({ headers }: RestAnswer): Record<string, string> {
  return Object.fromEntries(
    headers.getSetCookie().map((cookie) => (cookie.split(';', 1)[0] as string).split('=') as [string, string]),
  );
}

/** The mail servers of this test file by database, with the number of their users. */
const mailServers = new Map<string, { starting: Promise<MailServer>; users: number }>();

/** The mail server of a database: mails of every instance arrive where the tests look. */
async function shareMailServer(
  database: string,
): Promise<{ mail: MailServer; closeAfter(closeUser: () => Promise<void>): Promise<void> }> {
  const shared = mailServers.get(database) ?? { starting: startMailServer(), users: 0 };
  mailServers.set(database, shared);
  shared.users += 1;
  const mail = await shared.starting;
  return {
    mail,
    /** Closes one of its users, and with the last one the mail server. */
    async closeAfter(closeUser) {
      shared.users -= 1;
      const isLast = shared.users === 0;
      if (isLast) mailServers.delete(database);
      // a closing server waits for the mail that it is sending
      if (isLast) mail.stall(false);
      await closeUser();
      if (isLast) await mail.close();
    },
  };
}

/** The part of a configuration that matters to a test, down to single lifetimes. */
type GivenConfig = Partial<Omit<Config, 'lifetimes'>> & { lifetimes?: Partial<Config['lifetimes']> };

/** A configuration for tests. */
function testConfig({ lifetimes, ...given }: GivenConfig & Pick<Config, 'mongodbUri'>, { url: mailUrl }: MailServer): Config {
  return {
    port: 0,
    host: '127.0.0.1',
    publicUrl: undefined,
    development: false,
    dataDir: tmpdir(),
    mongodbPoolSize: undefined,
    redisUrl: undefined,
    rateLimits: false,
    authModes: { auth: 'bearer', identities: 'bearer', notifications: 'bearer' },
    authSecrets: TEST_SECRETS,
    lifetimes: {
      accessTokenExpireTime: '15m',
      refreshTokenExpireTime: '14d',
      onetimeTokenExpireTime: '48h',
      sessionMaxTime: '90d',
      invitationExpireTime: '7d',
      providerTokenExpireTime: '5m',
      ...lifetimes,
    },
    auditRetention: '365d',
    eventRetention: '30d',
    eventMessageTexts: false,
    erasure: {},
    typeIds: { admin: 'admin', guest: 'guest', regular: 'regular' },
    mfaEnabled: false,
    mfaRequired: 'none',
    passkeyRpId: undefined,
    bcryptCost: 4,
    bootstrapAdmin: undefined,
    adminPassword: undefined,
    // each instance sends only mails that it queued: one with an advanced clock would find those of others expired
    mail: { url: mailUrl, from: 'Tandem <no-reply@tandem.test>', linksUrl: undefined, pollMs: 3_600_000 },
    // likewise
    files: { url: 'disk:', pollMs: 3_600_000 },
    // asks no name server: tests stay on this machine
    webhooks: { privateAddresses: false, dnsServers: ['127.0.0.1:9'], pollMs: 3_600_000 },
    console: true,
    brand: { name: 'Tandem', logoUrl: undefined, color: undefined },
    mcp: false,
    corsOrigins: [],
    providers: {},
    redirectUrls: [],
    bodyLimit: '1mb',
    cookies: { secure: true, sameSite: 'strict' },
    metricsToken: undefined,
    trustProxy: false,
    shutdownDelayMs: 0,
    logLevel: 'info',
    ...given,
  };
}

/**
 * Contracts, cached by everything that a server's document depends on: making one takes longer than starting the
 * server.
 */
const contracts = new Map<string, Promise<Contract>>();

function contractOf(tandem: Tandem, settings: Config, code?: CodeConfiguration): Promise<Contract> {
  const { authModes, cookies, publicUrl } = settings;
  const fields = Object.entries(code?.fields ?? {}).map(([service, one]) => [service, Object.keys(one.shape)]);
  const hooked = Object.keys(code?.before ?? {});
  const key = JSON.stringify([Object.keys(tandem.router._def.record), authModes, cookies.prefix, publicUrl, fields, hooked]);
  const contract = contracts.get(key) ?? describeApi(tandem, settings).then(createContract);
  contracts.set(key, contract);
  return contract;
}

/** A real server on a free port, on the run's engine. Closes with `await using`. */
export async function startTestServer(
  given: GivenConfig & { clock?: TestClock; code?: CodeConfiguration; arrivalMs?: number } = {},
): Promise<TestServer> {
  const { clock = createTestClock(), code, arrivalMs, ...config } = given;
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const isInFilesDatabase = !('mongodbUri' in config);
  const mongodbUri = isInFilesDatabase ? await databaseOfFile() : config.mongodbUri;
  const { mail, closeAfter } = await shareMailServer(mongodbUri ?? config.dataDir ?? '');
  const settings = testConfig({ ...config, mongodbUri }, mail);
  const log = createLog({ level: settings.logLevel, readable: false, destination });
  const server = createServer(settings, { log, clock, ...(code && { code }), ...(arrivalMs !== undefined && { arrivalMs }) });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeAfter(() => server.close()));
  const { url, tandem, storage } = await server.start().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (isInFilesDatabase && !code) await noteStandard(storage);
  const caller = createCaller(url, await contractOf(tandem, settings, code));

  async function signIn(
    email: string,
    { fingerprint, password = PASSWORD }: { fingerprint?: string; password?: string } = {},
  ): Promise<Person> {
    const body = { email, password, ...(fingerprint !== undefined && { fingerprint }) };
    const answer = await caller.rest('POST', '/auth/login', body);
    if (answer.status !== 200) throw new Error(`login: ${answer.status} ${JSON.stringify(answer.body)}`);
    const inCookies = cookiesOf(answer);
    const prefix = settings.cookies.prefix ?? '';
    const [accessCookie, refreshCookie] = [`${prefix}accessToken`, `${prefix}refreshToken`];
    const isCookies = inCookies[accessCookie] !== undefined;
    const ofCookies = isCookies && { accessToken: inCookies[accessCookie], refreshToken: inCookies[refreshCookie] };
    const tokens = { ...(answer.body as { id: string }), ...ofCookies } as Pick<Person, 'id' | 'accessToken' | 'refreshToken'>;
    const cookie = `${accessCookie}=${tokens.accessToken}; ${refreshCookie}=${tokens.refreshToken}`;
    const credentials: Credentials = isCookies
      ? { fingerprint, headers: { cookie } }
      : { fingerprint, accessToken: tokens.accessToken };
    return {
      ...tokens,
      email,
      credentials,
      rest: (method, path, content) => caller.rest(method, path, content, credentials),
      call: (face, procedure, input) => caller.call(face, procedure, input, credentials),
    };
  }

  return {
    ...caller,
    url,
    mongodbUri: settings.mongodbUri ?? '',
    tandem,
    storage,
    clock,
    mail,
    logs: () => lines.join(''),
    signIn,
    async signUp({ email = newEmail(), isVerified = false, ...options } = {}) {
      const { id } = await caller.rest('POST', '/auth/register', { email, password: PASSWORD }).expect<{ id: string }>(201);
      if (isVerified) await tandem.services.identities.verifyEmail(id, email.trim().toLowerCase());
      return signIn(email, options);
    },
    async signUpAdmin() {
      const email = `admin-${randomUUID()}@example.org`;
      await tandem.services.authentication.createAdmin({ email, password: PASSWORD });
      return signIn(email);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
