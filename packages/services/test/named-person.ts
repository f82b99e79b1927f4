import { randomInt, randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import {
  PASSWORD,
  RETURN_URL,
  createBrowser,
  createPasskey,
  createTotpApp,
  newGitHubAccount,
  redeem,
  throughProvider,
  type GitHubServer,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { openChannel, say, subscribe } from './chat-world.js';
import { createOrganization } from './people.js';
import { upload } from './uploads.js';

/** Somebody whom everything names that can name anybody, by words that nobody else has. */
export interface NamedPerson {
  person: Person;
  /** What nothing may contain once the person is erased. */
  words: string[];
  /** What only a text of a message may contain. */
  said: string;
  channelId: string;
  orderId: string;
  organizationId: string;
  messageIds: string[];
  profileIds: string[];
}

const ORIGIN = 'http://localhost:5173';
/** What a server needs for somebody to have passkeys, and an account at this provider. */
export const forNamed = ({ settings }: GitHubServer) => ({
  providers: { github: settings },
  redirectUrls: [RETURN_URL],
  passkeyRpId: 'localhost',
  corsOrigins: [ORIGIN],
});

/** Links an account, signs in by it, and leaves other visits unfinished. @returns what the provider has told of it */
async function linkAccount(app: TestServer, person: Person, github: GitHubServer, name: string): Promise<string[]> {
  const emails = [{ email: `${name}@example.org`, primary: true, verified: true, visibility: null }];
  const account = newGitHubAccount({ id: randomInt(1e14, 2e14), login: name, email: null, emails });
  const browser = createBrowser(app);
  const headers = { authorization: `Bearer ${person.accessToken}` };
  const begin = async (): Promise<string> => {
    const body = { redirectUrl: RETURN_URL, password: PASSWORD };
    const answer = await browser.send('POST', `${app.url}/auth/${person.id}/oauth/github`, body, headers);
    return (answer.body as { url: string }).url;
  };
  const [unfinished, address] = [await begin(), await begin()];
  await browser.goTo(await github.visit(browser, address, { account }));
  const visit = () => throughProvider(app, github, { account }, { provider: 'github' });
  const session = await redeem(app, await visit());
  const unredeemed = (await visit()).searchParams.get('onetimeToken');
  const tokens = github.asked.slice(-1).map((one) => String(one.headers.authorization).replace('Bearer ', ''));
  const codes = github.tokenRequests.slice(-3).flatMap(({ code, code_verifier: verifier }) => [String(code), String(verifier)]);
  const states = [unfinished, address].map((url) => new URL(url).searchParams.get('state'));
  const told = [String(account.id), name, session.refreshToken, unredeemed, ...states, ...tokens, ...codes];
  return told.map((word) => word ?? 'nothing was told');
}

/** Adds an authenticator app, a passkey and recovery codes. @returns their secrets */
async function enrol(app: TestServer, person: Person, name: string): Promise<string[]> {
  const at = `/auth/${person.id}/factors`;
  const factor = await person.rest('POST', `${at}/totp`, { name }).expect<{ id: string; secret: string }>(201);
  const passkey = createPasskey(ORIGIN);
  const options = await person.rest('POST', `${at}/passkeys/options`).expect<Parameters<typeof passkey.create>[0]>(200);
  await person.rest('POST', `${at}/passkeys`, { response: passkey.create(options), name }).expect(201);
  const code = createTotpApp(factor.secret, app.clock)();
  await person.rest('POST', `${at}/${factor.id}/confirm`, { code }).expect(204);
  const { codes } = await person.rest('POST', `${at}/recovery-codes`).expect<{ codes: string[] }>(201);
  return [factor.secret, passkey.credentialId, ...codes];
}

/** @param others an admin, and somebody who stays. @param github of the server, which has the settings `forNamed` */
export async function nameSomebody(app: TestServer, admin: Person, bob: Person, github: GitHubServer): Promise<NamedPerson> {
  const mark = randomUUID().slice(0, 8);
  const word = (of: string) => `${of}-${mark}`;
  const email = `${word('zebedee')}@example.org`;
  const first = await app.signUp({ email, isVerified: true });
  const agent = word('agent');
  const signIn = await fetch(`${app.url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': agent, 'x-forwarded-for': '203.0.113.77' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const { refreshToken } = (await signIn.json()) as { refreshToken: string };
  const person = first;
  const create = async (who: Person, route: string, body: object, status = 201): Promise<string> =>
    (await who.rest('POST', route, body).expect<{ id: string }>(status)).id;
  const own = { identityId: person.id };

  await admin
    .rest('PATCH', `/identities/${person.id}`, { metadata: { note: word('meta') }, privateMetadata: { file: word('private') } })
    .expect(200);
  // an address that the person had before
  const former = `${word('former')}@example.org`;
  await admin.rest('PATCH', `/identities/${person.id}`, { email: former }).expect(200);
  await app.rest('POST', '/auth/send-reset-password-link-email', { email: former }).expect(204);
  await app.rest('POST', '/auth/login', { email: former, password: 'a wrong password' }).expect(401);
  await app.tandem.services.mails.work();
  await admin.rest('PATCH', `/identities/${person.id}`, { email, emailVerified: true }).expect(200);

  const avatar = await upload(
    person,
    `/profiles/${await create(person, '/profiles', { ...own, name: word('first') })}/avatar-upload-url`,
    'image/png',
    word('picture'),
  );
  const profileId = await create(person, '/profiles', { ...own, name: word('name'), metadata: { born: word('born') }, avatar });
  const second = await create(person, '/profiles', { ...own, name: word('nick') });
  const bobs = await create(bob, '/profiles', { identityId: bob.id, name: 'Bob' });
  await person.rest('PUT', `/profiles/${profileId}/profile-follows/${bobs}`).expect(204);
  await bob.rest('PUT', `/profiles/${bobs}/profile-follows/${profileId}`).expect(204);
  await person.rest('DELETE', `/profiles/${second}`).expect(204);

  const organizationId = await createOrganization(person, { owner: [bob] });
  await person.rest('PUT', `/profiles/${profileId}/organization-follows/${organizationId}`).expect(204);
  await create(person, '/invitations', { email: `${word('guest')}@example.org`, organizationId, role: 'member' });
  await create(admin, '/invitations', { email: `${word('zebedee')}@example.org` }).catch(() => '');
  await create(person, `/organizations/${organizationId}/change-requests`, { postalCode: '1' });
  await create(person, `/auth/${person.id}/keys`, { name: word('key'), scopes: ['*'] });
  const ofProvider = await linkAccount(app, person, github, word('octocat'));
  const secrets = await enrol(app, person, word('phone'));
  const product = await create(admin, '/products', { name: 'Tea', description: '', price: { amount: 1, currency: 'EUR' } });
  const order = { ...own, items: [{ productId: product, quantity: 1 }], metadata: { street: word('street') } };
  const headers = { 'idempotency-key': word('once') };
  const orderId = await create(person, '/orders', order);
  await fetch(`${app.url}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${person.accessToken}`, ...headers },
    body: JSON.stringify(order),
  });

  const channel = await openChannel(person, [bob]);
  const said = `said-${randomUUID()}`;
  const message = await say(person, channel.id, said, { metadata: { place: word('place') } });
  await person.rest('PATCH', `/messages/${message.id}`, { content: `${said} again` }).expect(200);
  const file = await upload(person, `/messages/${message.id}/attachment-upload-url`, 'image/png', `${said} in a file`);
  await person.rest('POST', `/messages/${message.id}/attachments`, file).expect(201);
  const bobsMessage = await say(bob, channel.id, 'Hello', { mentions: [person.id] });
  await person.rest('PUT', `/messages/${bobsMessage.id}/reactions/tea`).expect(204);
  await bob.rest('PUT', `/messages/${bobsMessage.id}/reactions/tea`).expect(204);
  await person.rest('PUT', `/messages/${bobsMessage.id}/pin`).expect(204);
  await create(person, `/messages/${bobsMessage.id}/reports`, { reason: word('reason') });
  await create(bob, `/messages/${message.id}/reports`, { reason: 'rude' });
  await say(person, channel.id, `${said} @bob`, { mentions: [bob.id] });
  await person.rest('POST', '/channels/direct', { identityId: bob.id }).expect(200);
  const other = await openChannel(bob);
  await subscribe(bob, other.id, person.id);
  const carol = await app.signUp();
  await create(person, `/channels/${channel.id}/bans`, { identityId: carol.id });
  await create(bob, `/channels/${other.id}/bans`, own);
  const subscription = await app.signUp().then((dave) => subscribe(person, channel.id, dave.id));
  await person.rest('PATCH', `/subscriptions/${subscription.id}`, { mutedUntil: '2100-01-01T00:00:00.000Z' }).expect(200);
  await app.tandem.services.notifications.notify(person.id, { text: word('notice') });
  await person.rest('POST', '/messages/listen/tickets').expect(201);
  await admin.rest('POST', '/auth/ott/generate', { identityId: person.id, data: { note: word('data') } }).expect(201);
  await app.rest('POST', '/auth/send-reset-password-link-email', { email }).expect(204);
  await app.rest('POST', '/auth/login', { email, password: 'a wrong password' });

  const words = [
    mark,
    email,
    former,
    '203.0.113.77',
    agent,
    refreshToken,
    person.accessToken,
    person.refreshToken,
    ...ofProvider,
    ...secrets,
  ];
  return {
    person,
    words,
    said,
    channelId: channel.id,
    orderId,
    organizationId,
    messageIds: [message.id, bobsMessage.id],
    profileIds: [profileId, second],
  };
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** Everything that is stored, as named texts: each document, each file below the folder, the log. */
export async function allThatIsStored(app: TestServer, folder?: string): Promise<[place: string, text: string][]> {
  const lines: [string, string][] = [];
  for await (const line of app.storage.exportLines(() => {})) lines.push(['store', line]);
  for (const file of folder === undefined ? [] : await filesBelow(folder)) lines.push([file, await readFile(file, 'latin1')]);
  return [
    ...lines,
    ...app
      .logs()
      .split('\n')
      .map((line): [string, string] => ['log', line]),
  ];
}

/** Where a word stands. */
export async function findWords(app: TestServer, words: readonly string[], folder?: string): Promise<string[]> {
  const all = await allThatIsStored(app, folder);
  return all
    .filter(([, text]) => words.some((word) => text.includes(word)))
    .map(([place, text]) => `${place}: ${text.slice(0, 1500)}`);
}

/** Lets all rounds of what is due pass. */
export async function letErasuresPass(app: TestServer): Promise<void> {
  const turns = [10_000, 30_000, 11 * 60_000];
  for (const milliseconds of turns) {
    app.clock.advance(milliseconds);
    await app.tandem.runJobs();
  }
}
