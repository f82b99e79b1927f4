import {
  NEW_PASSWORD,
  RETURN_URL,
  createBrowser,
  createPasskey,
  newEmail,
  newOidcAccount,
  throughProvider,
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

interface Attack extends Held {
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
const GUESS = 'a wrong guess of it';
const CHOSEN_AFTER = 'chosen by the person after it';

/** A link of a reset, from the mailbox. */
async function reset({ server, victim }: Attack, password: string): Promise<void> {
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
async function enter(attack: Attack): Promise<Credentials | undefined> {
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

const lives = async ({ server, victim }: Attack, by: Credentials) =>
  (await server.rest('GET', `/identities/${victim.id}`, undefined, by)).status === 200;
const knows = async ({ server }: Attack, email: string, password: string) =>
  (await server.rest('POST', '/auth/login', { email, password })).status === 200;

async function reads(attack: Attack): Promise<boolean> {
  const session = await enter(attack);
  return session !== undefined && lives(attack, session);
}

/** Links an account of the attacker's at a provider. @returns it, where that was possible */
async function link({ server, idp, victim, password }: Attack, by: Credentials) {
  const browser = createBrowser(server);
  const given = { redirectUrl: RETURN_URL, ...(password !== undefined && { password }) };
  const headers = { authorization: `Bearer ${by.accessToken}` };
  const { status, body } = await browser.send('POST', `${server.url}/auth/${victim.id}/oauth/acme`, given, headers);
  if (status !== 200) return undefined;
  const account = newOidcAccount();
  await browser.goTo(await idp.visit(browser, (body as { url: string }).url, { account }));
  return account;
}

async function addPasskey({ server, victim }: Attack, by: Credentials): Promise<SoftPasskey | undefined> {
  const passkey = createPasskey(PASSKEY_ORIGIN);
  const { status, body } = await server.rest('POST', `/auth/${victim.id}/factors/passkeys/options`, {}, by);
  if (status !== 200) return undefined;
  const response = passkey.create(body as Parameters<typeof passkey.create>[0]);
  const added = await server.rest('POST', `/auth/${victim.id}/factors/passkeys`, { response }, by);
  return added.status === 201 ? passkey : undefined;
}

async function makeKey({ server, victim }: Attack, by: Credentials): Promise<Credentials | undefined> {
  const { status, body } = await server.rest('POST', `/auth/${victim.id}/keys`, { name: 'a', scopes: ['*:read'] }, by);
  return status === 201 ? { accessToken: (body as { key: string }).key } : undefined;
}

/** Whether the attacker can do it, and what to know about that. */
type Cell = ['yes' | 'no', note?: string];

interface Row {
  /** Completes “the attacker can …”. */
  tries: string;
  /** Default: nobody is asked for a second step, and sign-ins name no fingerprint. */
  on?: 'codes' | 'fingerprints' | 'app' | 'passkey';
  cells: Record<Holding, Cell>;
  run(attack: Attack): Promise<boolean>;
}

/** One table for the document, and for its test, which makes every attempt. */
export const ATTACKS: Row[] = [
  {
    tries: 'read what the person can',
    cells: {
      'the mailbox': ['yes', 'by a reset, of which the person learns at the next login'],
      'the password': ['yes'],
      'the phone': ['yes', 'a passkey needs no password'],
      'a session': ['yes', 'until it ends'],
    },
    run: reads,
  },
  {
    tries: 'the same, with `MFA_ENABLED`',
    on: 'codes',
    cells: {
      'the mailbox': ['yes', 'the code comes there, too'],
      'the password': ['no'],
      'the phone': ['yes', 'likewise'],
      'a session': ['yes', 'it has passed the second step'],
    },
    run: reads,
  },
  {
    tries: 'the same, where the person has an authenticator app alone',
    on: 'app',
    cells: {
      'the mailbox': ['no', 'a reset removes no factor, and no code is mailed'],
      'the password': ['no'],
      'the phone': ['no', 'it shows codes alone'],
      'a session': ['yes', 'it has passed the second step'],
    },
    run: reads,
  },
  {
    tries: 'the same, where the person has a passkey',
    on: 'passkey',
    cells: {
      'the mailbox': ['no', 'as above'],
      'the password': ['no'],
      'the phone': ['yes'],
      'a session': ['yes', 'as above'],
    },
    run: reads,
  },
  {
    tries: 'do so from another device, where the sign-in named a fingerprint',
    on: 'fingerprints',
    cells: {
      'the mailbox': ['yes', 'a sign-in of one’s own names another'],
      'the password': ['yes', 'likewise'],
      'the phone': ['yes', 'likewise'],
      'a session': ['no', 'without the fingerprint'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && lives(attack, { accessToken: session.accessToken });
    },
  },
  {
    tries: 'set another password',
    cells: {
      'the mailbox': ['yes'],
      'the password': ['yes', 'a mail tells the person'],
      'the phone': ['no', 'needs the present one'],
      'a session': ['no', 'needs the present one'],
    },
    async run(attack) {
      const session = await enter(attack);
      const given = { password: attack.password ?? GUESS, newPassword: NEW_PASSWORD };
      await attack.server.rest('PATCH', `/auth/${attack.victim.id}/change-password`, given, session);
      return knows(attack, attack.victim.email, NEW_PASSWORD);
    },
  },
  {
    tries: 'put another email in place',
    cells: {
      'the mailbox': ['yes', 'a mail goes to the old one'],
      'the password': ['yes', 'likewise'],
      'the phone': ['no', 'needs the password'],
      'a session': ['no', 'needs the password'],
    },
    async run(attack) {
      const session = await enter(attack);
      const email = newEmail();
      const given = { email, password: attack.password ?? GUESS };
      const { status } = await attack.server.rest('PATCH', `/auth/${attack.victim.id}/change-email`, given, session);
      if (status !== 204) return false;
      const { token } = await attack.server.mail.next(email);
      await attack.server.rest('POST', '/auth/confirm-new-email', { token }).expect(204);
      return knows(attack, email, attack.password ?? GUESS);
    },
  },
  {
    tries: 'link an account at a provider, to sign in by it',
    cells: {
      'the mailbox': ['yes', 'a mail tells the person'],
      'the password': ['yes', 'likewise'],
      'the phone': ['no', 'needs the password'],
      'a session': ['no', 'needs the password'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && (await link(attack, session)) !== undefined;
    },
  },
  {
    tries: 'make an API key',
    cells: {
      'the mailbox': ['yes'],
      'the password': ['yes'],
      'the phone': ['yes'],
      'a session': ['no', 'ten minutes after its sign-in'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && (await makeKey(attack, session)) !== undefined;
    },
  },
  {
    tries: 'add a passkey of their own',
    cells: {
      'the mailbox': ['yes', 'a mail tells the person'],
      'the password': ['yes', 'likewise'],
      'the phone': ['yes', 'likewise'],
      'a session': ['no', 'needs a proof, ten minutes after its sign-in'],
    },
    async run(attack) {
      const session = await enter(attack);
      return session !== undefined && (await addPasskey(attack, session)) !== undefined;
    },
  },
  {
    tries: 'remove the person’s factors',
    on: 'passkey',
    cells: {
      'the mailbox': ['no'],
      'the password': ['no'],
      'the phone': ['yes', 'a mail tells the person'],
      'a session': ['no', 'needs a proof'],
    },
    async run(attack) {
      const { server, victim } = attack;
      const session = await enter(attack);
      const admin = await server.signUpAdmin();
      const list = () => admin.rest('GET', `/auth/${victim.id}/factors`).expect<{ data: { id: string }[] }>(200);
      for (const { id } of (await list()).data)
        await server.rest('DELETE', `/auth/${victim.id}/factors/${id}`, undefined, session);
      return (await list()).data.length === 0;
    },
  },
  {
    tries: 'sign the person out everywhere',
    cells: { 'the mailbox': ['yes'], 'the password': ['yes'], 'the phone': ['yes'], 'a session': ['yes'] },
    async run(attack) {
      const { server, victim } = attack;
      const session = await enter(attack);
      await server.rest('DELETE', `/auth/${victim.id}/refresh-tokens`, undefined, session);
      return !(await lives(attack, victim.credentials));
    },
  },
  {
    tries: 'go on when the person signs out',
    cells: {
      'the mailbox': ['yes', 'sessions of one’s own go on'],
      'the password': ['yes', 'likewise'],
      'the phone': ['yes', 'likewise'],
      'a session': ['no', 'ends within a second'],
    },
    async run(attack) {
      const session = await enter(attack);
      // who came by a reset has signed the person out already
      await attack.server.rest('POST', '/auth/logout', {}, attack.victim.credentials);
      return session !== undefined && lives(attack, session);
    },
  },
  {
    tries: 'stay when the person resets the password',
    cells: {
      'the mailbox': ['yes', 'resets it again: the mailbox must be safe first'],
      'the password': ['yes', 'by a provider linked before: unlink it'],
      'the phone': ['yes', 'a reset removes no passkey: delete it'],
      'a session': ['no'],
    },
    async run(attack) {
      const { server, idp } = attack;
      const session = await enter(attack);
      const account = session && (await link(attack, session));
      const key = session && (await makeKey(attack, session));
      await reset(attack, CHOSEN_AFTER);
      const ways = [session, key].filter((one) => one !== undefined);
      if ((await Promise.all(ways.map((one) => lives(attack, one)))).includes(true))
        throw new Error('a session or key outlives a reset');
      if (attack.mailbox) {
        await reset(attack, NEW_PASSWORD);
        return knows(attack, attack.victim.email, NEW_PASSWORD);
      }
      if (attack.phone) return reads(attack);
      const back = account && (await throughProvider(server, idp, { account }));
      return back?.searchParams.has('onetimeToken') === true;
    },
  },
];
