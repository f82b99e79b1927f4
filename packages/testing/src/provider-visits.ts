import { createBrowser, type Browser } from './browser.js';
import type { TestServer } from './test-server.js';

/** Where a front end of the tests waits for who comes back from a provider. */
export const RETURN_URL = 'https://app.example.org/welcome';

/** What a visit to a provider is for. */
export interface ProviderVisit {
  purpose?: 'oauth-login' | 'oauth-signup';
  /** The provider's name. Default `acme`. */
  provider?: string;
  redirectUrl?: string;
  /** Of the device. */
  fp?: string;
}

/** The address at which a visit begins. */
export function startOf(app: Pick<TestServer, 'url'>, visit: ProviderVisit = {}): string {
  const { purpose = 'oauth-login', provider = 'acme', redirectUrl = RETURN_URL, fp } = visit;
  const query = new URLSearchParams({ purpose, redirectUrl, ...(fp !== undefined && { fp }) });
  return `${app.url}/auth/oauth/${provider}?${query.toString()}`;
}

/** Whoever knows what a person does at a provider's page: a real provider of the tests. */
interface Visited<Choice> {
  visit(browser: Browser, address: string, choice: Choice): Promise<string>;
}

/** Begins in a browser, and chooses at the provider. @returns the address of the callback, to which the browser has not gone yet */
export async function visitProvider<Choice>(
  app: TestServer,
  idp: Visited<Choice>,
  choice: Choice,
  { browser = createBrowser(app), ...visit }: ProviderVisit & { browser?: Browser } = {},
): Promise<{ browser: Browser; callback: string }> {
  return { browser, callback: await idp.visit(browser, await browser.goTo(startOf(app, visit)), choice) };
}

/** In which browser a visit has ended at this address: the one-time token in it counts in no other. */
const browserOf = new WeakMap<URL, Browser>();

/** A whole visit. @returns where the browser is in the end, at the front end */
export async function throughProvider<Choice>(
  app: TestServer,
  idp: Visited<Choice>,
  choice: Choice,
  visit: ProviderVisit & { browser?: Browser } = {},
): Promise<URL> {
  const { browser, callback } = await visitProvider(app, idp, choice, visit);
  const back = new URL(await browser.goTo(callback));
  browserOf.set(back, browser);
  return back;
}

/** A session as a login answers it in bearer mode. */
export interface ProviderSession {
  id: string;
  accessToken: string;
  refreshToken: string;
}

/**
 * Exchanges the one-time token of a return address, as the page there does: in the browser that has come back.
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
