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

/** A whole visit. @returns where the browser is in the end, at the front end */
export async function throughProvider<Choice>(
  app: TestServer,
  idp: Visited<Choice>,
  choice: Choice,
  visit: ProviderVisit & { browser?: Browser } = {},
): Promise<URL> {
  const { browser, callback } = await visitProvider(app, idp, choice, visit);
  return new URL(await browser.goTo(callback));
}
