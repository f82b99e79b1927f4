import {
  RETURN_URL,
  createBrowser,
  fixture,
  newAppleAccount,
  newGitHubAccount,
  newMicrosoftAccount,
  startAppleProvider,
  startGitHubServer,
  startMicrosoftProvider,
  startOf,
  startTestServer,
  type Browser,
  type ProviderVisit,
  type RestAnswer,
  type Tampering,
  type TestServer,
} from '@tandem/testing';
import type { ProviderSettings } from '@tandem/services';
import { afterEach } from 'vitest';

/** An account as its provider describes it. */
type Account = object;
type Choice = { account: Account } | { refuse: true };

/** A provider that is known by name, as it answers; accounts look different at each. */
export interface NamedProvider extends AsyncDisposable {
  settings: ProviderSettings;
  authorizations: URLSearchParams[];
  tokenRequests: Record<string, unknown>[];
  tamper: Tampering;
  visit(browser: Browser, address: string, choice: Choice): Promise<string>;
  comeBack?(browser: Browser, callback: string): Promise<string>;
  /** A new account with a verified address, or with this one. */
  newAccount(email?: string): Account;
  /** A new account with an address that the provider has not verified. */
  newUnverified(): Account;
  emailOf(account: Account): string;
  stop(): Promise<void>;
}

/** @param given whose `visit` takes its own kind of account */
function named<Own extends object>(
  given: Omit<NamedProvider, 'visit' | 'newAccount' | 'newUnverified' | 'emailOf'> & {
    visit(browser: Browser, address: string, choice: { account: Own } | { refuse: true }): Promise<string>;
  },
  accounts: { newAccount(email?: string): Own; newUnverified(): Own; emailOf(account: Own): string },
): NamedProvider {
  return { ...given, ...accounts };
}

const primaryOf = ({ emails }: ReturnType<typeof newGitHubAccount>) => emails.find(({ primary }) => primary)?.email ?? '';
const gitHubEmails = (email: string, verified: boolean) => [{ email, primary: true, verified, visibility: null }];
/** The paths of the answers on which a sign-up depends, by provider. */
export const ANSWERS: Readonly<Record<string, readonly string[]>> = {
  github: ['/login/oauth/access_token', '/user', '/user/emails'],
  apple: ['/auth/token', '/auth/keys', '/.well-known/openid-configuration'],
  microsoft: ['/common/oauth2/v2.0/token', '/common/discovery/v2.0/keys', '/common/v2.0/.well-known/openid-configuration'],
};

/** Those of F6. */
export const NAMED: Readonly<Record<string, () => Promise<NamedProvider>>> = {
  github: async () =>
    named<ReturnType<typeof newGitHubAccount>>(await startGitHubServer(), {
      newAccount: (email) => newGitHubAccount(email === undefined ? {} : { emails: gitHubEmails(email, true) }),
      newUnverified: () => newGitHubAccount({ emails: gitHubEmails(`${crypto.randomUUID()}@example.org`, false) }),
      emailOf: primaryOf,
    }),
  apple: async () =>
    named(await startAppleProvider(), {
      newAccount: (email) => newAppleAccount(email === undefined ? {} : { email, is_private_email: 'false' }),
      newUnverified: () => newAppleAccount({ email_verified: 'false' }),
      emailOf: ({ email = '' }) => email,
    }),
  microsoft: async () =>
    named(await startMicrosoftProvider(), {
      newAccount: (email) => newMicrosoftAccount(email === undefined ? {} : { email }),
      newUnverified: () => newMicrosoftAccount({ xms_edov: false }),
      emailOf: ({ email = '' }) => email,
    }),
};

/** A server with one of them. What a test tampers with is as before after it. */
export function useNamedProvider(name: string) {
  const idp = fixture(NAMED[name] as () => Promise<NamedProvider>);
  const app = fixture(() => startTestServer({ providers: { [name]: idp.settings }, redirectUrls: [RETURN_URL], logLevel: 'trace' })); // prettier-ignore
  afterEach(() => {
    delete idp.tamper.authorization;
    delete idp.tamper.tokens;
    delete idp.tamper.answer;
  });
  return { idp, app };
}

/** Sends the browser back to the server, in the provider's way. Redirects are not followed. */
export async function answerTo(name: string, browser: Browser, callback: string): Promise<RestAnswer> {
  if (name !== 'apple') return browser.send('GET', callback);
  const { origin, pathname, searchParams } = new URL(callback);
  return browser.submit(origin + pathname, searchParams, 'https://appleid.apple.com');
}

/** A visit up to the callback. */
export async function visitNamed(
  name: string,
  { app, idp }: { app: TestServer; idp: NamedProvider },
  choice: Choice,
  { browser = createBrowser(app), ...visit }: ProviderVisit & { browser?: Browser } = {},
): Promise<{ browser: Browser; callback: string; back(given?: string): Promise<RestAnswer> }> {
  const callback = await idp.visit(browser, await browser.goTo(startOf(app, { provider: name, ...visit })), choice);
  return { browser, callback, back: (given = callback) => answerTo(name, browser, given) };
}
