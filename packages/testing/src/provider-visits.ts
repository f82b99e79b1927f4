import { createBrowser, type Browser } from './browser.js';
import type { TestServer } from './test-server.js';

/** The front end's page to which a provider sends people back. */
export const RETURN_URL = 'https://app.example.org/welcome';

/** The purpose of a visit to a provider. */
export interface ProviderVisit {
  purpose?: 'oauth-login' | 'oauth-signup';
  /** The provider's name. Default `acme`. */
  provider?: string;
  redirectUrl?: string;
  /** Of the device. */
  fp?: string;
}

/** The URL at which a visit begins. */
export function startOf(app: Pick<TestServer, 'url'>, visit: ProviderVisit = {}): string {
  const { purpose = 'oauth-login', provider = 'acme', redirectUrl = RETURN_URL, fp } = visit;
  const query = new URLSearchParams({ purpose, redirectUrl, ...(fp !== undefined && { fp }) });
  return `${app.url}/auth/oauth/${provider}?${query.toString()}`;
}

/** A provider of the tests that can be visited. */
interface Visited<Choice> {
  visit(browser: Browser, address: string, choice: Choice): Promise<string>;
  /** How the browser goes back where that is no redirect. @returns where it is sent then */
  comeBack?(browser: Browser, callback: string): Promise<string>;
}

/** Begins in a browser, and chooses at the provider. @returns the callback URL, which the browser has not opened yet */
export async function visitProvider<Choice>(
  app: TestServer,
  idp: Visited<Choice>,
  choice: Choice,
  { browser = createBrowser(app), ...visit }: ProviderVisit & { browser?: Browser } = {},
): Promise<{ browser: Browser; callback: string }> {
  return { browser, callback: await idp.visit(browser, await browser.goTo(startOf(app, visit)), choice) };
}

/** The browser in which a visit ended at this URL: the one-time token is valid only there. */
const browserOf = new WeakMap<URL, Browser>();

/** A whole visit. @returns the browser's final URL, at the front end */
export async function throughProvider<Choice>(
  app: TestServer,
  idp: Visited<Choice>,
  choice: Choice,
  visit: ProviderVisit & { browser?: Browser } = {},
): Promise<URL> {
  const { browser, callback } = await visitProvider(app, idp, choice, visit);
  const back = new URL(await (idp.comeBack ? idp.comeBack(browser, callback) : browser.goTo(callback)));
  browserOf.set(back, browser);
  return back;
}

/** A session as returned by a login in bearer mode. */
export interface ProviderSession {
  id: string;
  accessToken: string;
  refreshToken: string;
}

/**
 * Exchanges the one-time token of a return URL as the page would, in the browser that came back.
 * @throws Error when it does not sign in
 */
export async function redeem(
  app: TestServer,
  back: URL,
  { browser = browserOf.get(back) ?? createBrowser(app), fingerprint }: { browser?: Browser; fingerprint?: string } = {},
): Promise<ProviderSession> {
  const input = { token: back.searchParams.get('onetimeToken'), ...(fingerprint !== undefined && { fingerprint }) };
  const { status, body } = await browser.send('POST', `${app.url}/auth/ott/login`, input);
  if (status !== 200) throw new Error(`ott/login: ${status} ${JSON.stringify(body)}`);
  return body as ProviderSession;
}
