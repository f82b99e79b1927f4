import {
  RETURN_URL,
  createBrowser,
  createPasskey,
  newOidcAccount,
  type Credentials,
  type OidcProvider,
  type Person,
  type SoftPasskey,
  type TestServer,
} from '@tandem/testing';

/** What an attacker may have got of a person, by the words of the document. */
export const HOLDINGS = ['the mailbox', 'the password', 'the phone', 'a session'] as const;
export type Holding = (typeof HOLDINGS)[number];

/** What an attacker knows, and learns on the way. */
export interface Held {
  mailbox?: boolean;
  password?: string;
  /** What the person's unlocked phone answers with: a passkey, if it has one, and codes. */
  phone?: { passkey?: SoftPasskey; code(): string };
  session?: Credentials;
}

export interface Attack extends Held {
  /** The server of the row. */
  server: TestServer;
  idp: OidcProvider;
  victim: Pick<Person, 'id' | 'email' | 'credentials'>;
}

/** The fingerprint of the person's device, where sign-ins name one. */
export const FINGERPRINT = 'the device of the person';
/** Where passkeys are used. */
export const PASSKEY_ORIGIN = 'http://localhost:5173';
const CHOSEN = 'chosen by an attacker';
export const GUESS = 'a wrong guess of it';
export const CHOSEN_AFTER = 'chosen by the person after it';

/** A link of a reset, from the mailbox. */
export async function reset({ server, victim }: Attack, password: string): Promise<void> {
  // the same mail leaves at most once a minute
  server.clock.advance(61_000);
  await server.rest('POST', '/auth/send-reset-password-link-email', { email: victim.email }).expect(204);
  const { token } = await server.mail.next(victim.email, ({ text }) => text.includes('/reset-password?'));
  await server.rest('POST', '/auth/reset-password', { token, password }).expect(204);
}

/** A sign-in by the passkey on the phone, which needs no password. */
async function enterByPasskey(server: TestServer, passkey: SoftPasskey): Promise<Credentials> {
  const options = await server.rest('POST', '/auth/passkeys/options').expect<Parameters<typeof passkey.get>[0]>(200);
  return server.rest('POST', '/auth/passkeys/verify', { response: passkey.get(options) }).expect<Credentials>(200);
}

/** Signs in with all that is held. @returns undefined where that is not enough */
export async function enter(attack: Attack): Promise<Credentials | undefined> {
  const { server, victim, phone, mailbox = false } = attack;
  if (attack.session) return attack.session;
  if (phone?.passkey) return enterByPasskey(server, phone.passkey);
  if (attack.password === undefined && mailbox) {
    await reset(attack, CHOSEN);
    attack.password = CHOSEN;
  }
  const { status, body } = await server.rest('POST', '/auth/login', { email: victim.email, password: attack.password ?? GUESS });
  if (status !== 200) return undefined;
  const { accessToken, token, factors } = body as { accessToken?: string; token?: string; factors?: string[] };
  if (accessToken !== undefined) return { accessToken };
  if (!mailbox || factors) return undefined;
  const { code } = await server.mail.next(victim.email, (mail) => mail.code !== undefined);
  return server.rest('POST', '/auth/mfa/verify', { token, code }).expect<Credentials>(200);
}

export const lives = async ({ server, victim }: Attack, by: Credentials) =>
  (await server.rest('GET', `/identities/${victim.id}`, undefined, by)).status === 200;
export const knows = async ({ server }: Attack, email: string, password: string) =>
  (await server.rest('POST', '/auth/login', { email, password })).status === 200;

export async function reads(attack: Attack): Promise<boolean> {
  const session = await enter(attack);
  return session !== undefined && lives(attack, session);
}

/** Links an account of the attacker's at a provider. @returns it, where that was possible */
export async function link({ server, idp, victim, password }: Attack, by: Credentials) {
  const browser = createBrowser(server);
  const given = { redirectUrl: RETURN_URL, ...(password !== undefined && { password }) };
  const headers = { authorization: `Bearer ${by.accessToken}` };
  const { status, body } = await browser.send('POST', `${server.url}/auth/${victim.id}/oauth/acme`, given, headers);
  if (status !== 200) return undefined;
  const account = newOidcAccount();
  await browser.goTo(await idp.visit(browser, (body as { url: string }).url, { account }));
  return account;
}

export async function addPasskey({ server, victim }: Attack, by: Credentials): Promise<SoftPasskey | undefined> {
  const passkey = createPasskey(PASSKEY_ORIGIN);
  const { status, body } = await server.rest('POST', `/auth/${victim.id}/factors/passkeys/options`, {}, by);
  if (status !== 200) return undefined;
  const response = passkey.create(body as Parameters<typeof passkey.create>[0]);
  const added = await server.rest('POST', `/auth/${victim.id}/factors/passkeys`, { response }, by);
  return added.status === 201 ? passkey : undefined;
}

export async function makeKey({ server, victim }: Attack, by: Credentials): Promise<Credentials | undefined> {
  const { status, body } = await server.rest('POST', `/auth/${victim.id}/keys`, { name: 'a', scopes: ['*:read'] }, by);
  return status === 201 ? { accessToken: (body as { key: string }).key } : undefined;
}
